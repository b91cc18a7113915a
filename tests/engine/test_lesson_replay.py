"""The replay of a lesson: recorded builds again, with it and without it."""

import pytest

from selfeng.core.prompt import ChatMessage, Prompt
from selfeng.core.provenance import AskedPrompt, LessonReplay, Provenance, ToolVersion
from selfeng.core.turn import Budget
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis_engine import SynthesisEngine
from tests.doubles import ListedLibrary, ScriptedModel
from tests.engine.test_first_runs import sandbox
from tests.engine.test_library_health import DOUBLE, NOW

__all__ = ["sandbox"]

LINE = "- the number is doubled: multiply by two"
OTHER = "- a name is short: keep it"
PROMPT = Prompt(
    name="implementation",
    messages=(
        ChatMessage(role="system", content="Write Python."),
        ChatMessage(role="user", content=f"double\n\n<lessons>\n{LINE}\n{OTHER}\n</lessons>"),
    ),
    streamed=True,
)


def built(*prompts: Prompt) -> ToolVersion:
    provenance = Provenance(prompts=tuple(map(AskedPrompt.of, prompts)))
    identity = {"version": 2, "digest": "", "created_at": NOW}
    return ToolVersion(**dict(DOUBLE.draft()), **identity, provenance=provenance)


@pytest.mark.bubblewrap
@pytest.mark.asyncio(loop_scope="session")
async def test_a_replay_shows_what_a_lesson_changed(sandbox: SecureSandbox) -> None:
    wrong = DOUBLE.code.replace("2 * n", "3 * n")
    model = ScriptedModel(f"```python\n{DOUBLE.code}```", f"```python\n{wrong}```")
    synthesis = SynthesisEngine(model, sandbox, ListedLibrary(DOUBLE), "scripted")
    replay = await synthesis.replay(built(PROMPT), LINE, Budget())
    assert replay == LessonReplay(tool="double", version=2, passed_with=True, passed_without=False)
    shown = f"double\n\n<lessons>\n{OTHER}\n</lessons>"
    rules, request = PROMPT.messages
    without = request.model_copy(update={"content": shown})
    assert model.prompts == [PROMPT, PROMPT.model_copy(update={"messages": (rules, without)})]


@pytest.mark.parametrize(
    "prompts", [(), (PROMPT.model_copy(update={"name": "repair"}),), (PROMPT,)]
)
def test_only_a_prompt_that_had_the_lesson_is_replayed(prompts: tuple[Prompt, ...]) -> None:
    asked = built(*prompts).provenance.prompt_with(LINE)
    assert (asked and asked.without()) == (PROMPT if prompts == (PROMPT,) else None)
    assert built(*prompts).provenance.prompt_with("- never: shown") is None
