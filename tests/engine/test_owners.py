"""The person who asks owns the runs of their turn, through all agents and tasks that it starts."""

from contextlib import aclosing
from dataclasses import replace

import pytest

from selfeng.bootstrap import build_engine
from selfeng.core.owner import current_owner, owned_by
from selfeng.core.settings import Settings
from selfeng.core.turn import Request
from selfeng.orchestrator import Orchestrator
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.synthesis_engine import SynthesisEngine
from selfeng_agents import MiniAgents
from tests.doubles import ListedLibrary, ScriptedModel, ScriptedSandbox, returned, tool
from tests.engine.test_orchestrator import ADD
from tests.home import Home


@pytest.mark.parametrize("owners", [("one", "other"), ("one", "", "one"), ("",)])
async def test_an_execution_belongs_to_who_asked(owners):
    model = ScriptedModel(*[ADD, "3"] * len(owners))
    sandbox, library = ScriptedSandbox(*[returned("3")] * len(owners)), ListedLibrary(tool())
    async with MiniAgents() as runtime:
        executor = Executor(model, sandbox, library)
        synthesis = SynthesisEngine(model, sandbox, library, model_name="scripted")
        orchestrator = Orchestrator(
            library, executor, synthesis, ResponseSynthesizer(model), runtime=runtime
        )
        for owner in owners:
            with owned_by(owner):
                turn = orchestrator.begin(Request("2 plus 1"))
            assert [event async for event in turn]
    assert sandbox.owners == list(owners)


async def test_the_engine_begins_turns_for_their_owner(tmp_path, monkeypatch):
    class Noting:
        def begin(self, *args, **options):
            seen.append(current_owner())
            return real.begin(*args, **options)

    seen: list[str] = []
    for name, value in Home(tmp_path / "home").environment().items():
        monkeypatch.setenv(name, value)
    async with aclosing(await build_engine(Settings(_env_file=None))) as engine:
        parts = engine.model_parts
        real = parts.current.orchestrator
        parts.current = replace(parts.current, orchestrator=Noting())
        for owner in ("me", "somebody"):
            await engine.ask(owner, None, "Hello!")
    assert seen == ["me", "somebody"]
    assert current_owner() == ""
