"""The checks: each shows a part of the engine at work, on a temporary library."""

import tempfile
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import typer

from selfeng.bootstrap import build_engine
from selfeng.cli.terminal import Terminal
from selfeng.core.errors import ConfigurationError
from selfeng.core.events import Outcome, TurnFinished
from selfeng.core.owner import LOCAL
from selfeng.core.prompt import ChatMessage, Prompt
from selfeng.core.settings import Settings
from selfeng.core.turn import Request, Turn
from selfeng.core.verdict import Returned, SandboxJob
from selfeng.engine import Engine
from selfeng.provision.parts import provision
from selfeng.seeds import load_seeds
from selfeng.stages.response_synthesizer import ResponseSynthesizer

Say = Callable[[str], None]
Check = Callable[[Engine, Say], Awaitable[int]]

_CODE = "def double(number: int) -> int:\n    return 2 * number\n"
_TESTS = "from double import double\n\n\ndef test_doubles():\n    assert double(number=4) == 8\n"
_REQUEST = "Reverse the string 'hello world'"
_QUESTION = "What is 15 percent of 300?"
_CALLED, _ARGUMENTS = "calculate_percentage", {"percentage": 15, "number": 300}
_NEEDS: dict[str, tuple[str, ...]] = {
    "model": (),
    "llm_client": (),
    "response_synthesizer": (),
    "capability_registry": ("embedder",),
}
"""The parts of the machine that a check needs, if not all."""


async def check_model(engine: Engine, say: Say) -> int:
    """Print the abilities of the model's server, and their consequences for a turn."""
    from selfeng.models.abilities import suitability  # imports the SDK

    if engine.configuration.settings.offline:
        await engine.configuration.look()
    model = (await engine.setup.status()).model
    say(str(model))
    if model.offline:
        return 0
    abilities = []
    async with engine.spending.outside_turns(LOCAL) as budget:
        async for ability in engine.configuration.client.abilities(budget):
            abilities.append(ability)
            say(str(ability))
    means = suitability(abilities)
    say(f"\n{means}")
    return 0 if means.usable else 1


async def check_llm_client(engine: Engine, say: Say) -> int:
    """The model answers, piece by piece."""
    say(str((await engine.setup.status()).model))
    messages = (
        ChatMessage(role="system", content="Answer in one short sentence."),
        ChatMessage(role="user", content="Who are you?"),
    )
    prompt = Prompt(name="check", messages=messages)
    async with engine.spending.outside_turns(LOCAL) as budget:
        async for piece in engine.configuration.client.stream(prompt, budget):
            typer.echo(piece, nl=False)
    say(f"\n{budget.usage.input_tokens} tokens in, {budget.usage.output_tokens} out")
    return 0


async def check_capability_registry(engine: Engine, say: Say) -> int:
    """Seeds are registered in a temporary library, without the sandbox, and found again."""
    for seed in load_seeds():
        await engine.library.add(seed)
        say(f"{seed.name}: {seed.description}")
    say(f"\n{_QUESTION}")
    for candidate in await engine.library.search(_QUESTION, 3):
        say(
            f"  {candidate.confidence:.0%} {candidate.tool.name} (similarity "
            f"{candidate.similarity:.2f})"
        )
    return 0


async def check_sandbox(engine: Engine, say: Say) -> int:
    """A right tool passes its test, a wrong one fails it, and one runs."""
    say((await engine.setup.status()).sandbox.detail)
    right = await engine.sandbox.verify(
        SandboxJob("double", _CODE, _TESTS),
        lambda test: say(f"right tool: {test.test} {test.outcome}"),
    )
    wrong = await engine.sandbox.verify(
        SandboxJob("double", _CODE.replace("2", "3"), _TESTS),
        lambda test: say(f"wrong tool: {test.test} {test.outcome}: {test.message}"),
    )
    execution = await engine.sandbox.execute(SandboxJob("double", _CODE), {"number": 21})
    say(f"double(number=21) {execution.outcome}: {getattr(execution, 'text', execution)}")
    return 0 if right.passed and not wrong.passed and execution.outcome == "returned" else 1


async def check_executor(engine: Engine, say: Say) -> int:
    """A seed is registered in a temporary library and called."""
    await engine.library.add(next(seed for seed in load_seeds() if seed.name == _CALLED))
    execution = await engine.call(LOCAL, _CALLED, _ARGUMENTS)
    say(f"{_CALLED} {execution.outcome}: {getattr(execution, 'text', execution)}")
    return 0 if execution.outcome == "returned" else 1


async def check_response_synthesizer(engine: Engine, say: Say) -> int:
    """The model puts the result of a call into words, piece by piece."""
    turn = Turn(Request(_QUESTION), Terminal().show)
    call = f"{_CALLED}({', '.join(f'{name}={value}' for name, value in _ARGUMENTS.items())})"
    result = Returned(type_name="int", text="45", data="45")
    async for piece in ResponseSynthesizer(engine.configuration.client).answer(turn, call, result):
        typer.echo(piece, nl=False)
    say("")
    return 0


async def check_synthesis_engine(engine: Engine, say: Say) -> int:
    """A tool is built for a request, and registered in a temporary library."""
    built = await engine.model_parts.current.synthesis.synthesize(
        Turn(Request(_REQUEST), Terminal().show)
    )  # noqa: F821, RUF100
    say(f"\n{getattr(built, 'code', built)}")
    return 0


async def check_orchestrator(engine: Engine, say: Say) -> int:
    """A whole turn, on a temporary library."""
    terminal, last = Terminal(), None
    async for record in engine.turn(LOCAL, engine.ask(LOCAL, None, _REQUEST)):
        terminal.show(last := record.event)
    return 0 if isinstance(last, TurnFinished) and last.outcome is Outcome.ANSWERED else 1


CHECKS: dict[str, Check] = {
    "model": check_model,
    "llm_client": check_llm_client,
    "capability_registry": check_capability_registry,
    "sandbox": check_sandbox,
    "executor": check_executor,
    "response_synthesizer": check_response_synthesizer,
    "synthesis_engine": check_synthesis_engine,
    "orchestrator": check_orchestrator,
}


async def run_check(settings: Settings, part: str, say: Say) -> int:
    """Run one check; returns its exit code.

    Raises:
        ConfigurationError: the part is unknown.
        AgentError: the part does not work.
    """
    if part not in CHECKS:
        raise ConfigurationError(f"unknown part {part!r}", f"choose among {', '.join(CHECKS)}")
    if provision(settings, say, _NEEDS.get(part, ("embedder", "sandbox"))):
        return 1
    with tempfile.TemporaryDirectory() as folder:
        apart = {
            "tools_dir": Path(folder, "tools"),
            "chroma_persist_dir": Path(folder, "chroma_db"),
            "chroma_url": None,
            "database_url": f"sqlite:///{folder}/agent.db",
        }
        async with aclosing(await build_engine(settings.model_copy(update=apart))) as engine:
            return await CHECKS[part](engine, say)
