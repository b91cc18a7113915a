"""Candidates that pass the same tests run on the person's own call before one is chosen."""

from typing import Any

import pytest

from selfeng.core.events import Event, ExecutionFinished, QuestionsAsked
from selfeng.core.files import File
from selfeng.core.spec import SpecificationReply
from selfeng.sandbox import SecureSandbox
from tests.doubles import ListedLibrary, ScriptedModel, fenced, handled
from tests.engine.test_first_runs import SPEC, STRICT, SUITE, orchestrator, sandbox

__all__ = ["sandbox"]
pytestmark = [pytest.mark.bubblewrap, pytest.mark.asyncio(loop_scope="session")]

PIECES = File(name="stueck.csv", content=b"n;x\n1.250;a\n2.300;b\n4.175;c\n")
GROUPED = STRICT.replace("float(row[column])", "float(row[column].replace('.', ''))")
OTHERWISE = GROUPED.replace("return sum(", "return 0.0 + sum(")
WHOLE = STRICT.replace("float(row[column])", "float(int(row[column]))")
"""Raises on a point."""
DECIDING = """\
from sum_column import sum_column


def test_points_separate_thousands(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("n;x\\n1.250;a\\n2.000;b\\n")
    assert sum_column(path=str(path), column="n") == 3250.0
"""
BUILT = SpecificationReply(
    outcome="tool",
    message="",
    specification=SPEC,
    call="sum_column(path='stueck.csv', column='n')",
)


class OwnCall:
    """A turn that builds a tool by two candidates, with a scripted model in a real sandbox."""

    def __init__(self, sandbox: SecureSandbox, *replies: Any) -> None:
        self.model, self.library = ScriptedModel(BUILT, fenced(SUITE), *replies), ListedLibrary()
        self.orchestrator = orchestrator(sandbox, self.model, self.library, candidates=2)
        self.events: list[Event] = []
        self.file = PIECES

    async def run(self) -> Event:
        return await handled(
            self.orchestrator, "Sum column n of stueck.csv", self.events.append, files=[self.file]
        )

    @property
    def returned(self) -> list[str]:
        return [e.execution.text for e in self.events if isinstance(e, ExecutionFinished)]


async def test_one_more_test_decides_where_candidates_differ(sandbox: SecureSandbox) -> None:
    turn = OwnCall(sandbox, fenced(STRICT), fenced(GROUPED), fenced(DECIDING), "It is 7725.")
    assert (await turn.run()).answer == "It is 7725."
    assert turn.returned == ["7725.0"]
    tool = await turn.library.get("sum_column")
    assert "test_points_separate_thousands" in tool.tests
    prompt = turn.model.prompts[4]
    assert prompt.name == "deciding_test"
    assert all(value in prompt.messages[-1].content for value in ("7725.0", "7.725"))


async def test_the_person_is_asked_where_no_test_decides(sandbox: SecureSandbox) -> None:
    turn = OwnCall(sandbox, fenced(STRICT), fenced(GROUPED), fenced(SUITE))
    assert (await turn.run()).type == "turn_finished"
    (asked,) = [e for e in turn.events if isinstance(e, QuestionsAsked)]
    assert asked.questions[0].options == ("7.725", "7725.0")
    assert turn.returned == []


async def test_a_candidate_that_raises_there_is_not_chosen(sandbox: SecureSandbox) -> None:
    turn = OwnCall(sandbox, fenced(WHOLE), fenced(GROUPED), "It is 7725.")
    await turn.run()
    assert turn.returned == ["7725.0"]


async def test_candidates_that_agree_cost_nothing(sandbox: SecureSandbox) -> None:
    turn = OwnCall(sandbox, fenced(GROUPED), fenced(OTHERWISE), "It is 7725.")
    await turn.run()
    assert turn.model.asked() == [
        "specification",
        "tests",
        *["implementation"] * 2,
        "answer",
    ]
    first, second = turn.model.prompts[2:4]
    assert "another algorithm" not in first.messages[-1].content
    assert "another algorithm" in second.messages[-1].content


READINGS = {
    "thousands": ("1.250;a\n2.300;b", "float({})", "float({}.replace('.', ''))", "3550.0"),
    "decimal comma": (
        "2,5;a\n3,25;b",
        "float({}.replace(',', ''))",
        "float({}.replace(',', '.'))",
        "5.75",
    ),
    "parentheses": ("12.50;a\n(2.50);b", "float({}.strip('()'))", "_signed({})", "10.0"),
    "credit": ("7.50;a\n2.50 CR;b", "float({}.split()[0])", "_signed({})", "5.0"),
    "other digits": (
        "１２;a\n٣;b",
        "float(''.join(c for c in {} if c in '0123456789') or 0)",
        "float({})",
        "15.0",
    ),
    "apostrophe": (
        "1'250;a\n250;b",
        'float({}.split("\'")[-1])',
        "float({}.replace(\"'\", ''))",
        "1500.0",
    ),
}
SECOND = {"thousands", "decimal comma", "parentheses", "credit"}
"""Readings that another test decides too: the first here, the others in `test_cases.py`; `make
test-all` runs them.
"""


@pytest.mark.parametrize(
    ("rows", "usual", "fitting", "value"),
    [
        pytest.param(*case, id=name, marks=pytest.mark.extended if name in SECOND else ())
        for name, case in READINGS.items()
    ],
)
async def test_the_first_candidate_reads_cells_wrongly(
    sandbox: SecureSandbox, rows: str, usual: str, fitting: str, value: str
) -> None:
    signed = """

def _signed(text: str) -> float:
    minus = text.startswith("(") or text.endswith("CR")
    number = float(text.strip("()").removesuffix("CR"))
    return -number if minus else number
"""
    wrong, right = (
        STRICT.replace("float(row[column])", parse.format("row[column]")) + signed
        for parse in (usual, fitting)
    )
    deciding = DECIDING.replace(
        "n;x\\n1.250;a\\n2.000;b\\n", f"n;x\\n{rows}\\n".replace("\n", "\\n")
    )
    turn = OwnCall(
        sandbox,
        fenced(wrong),
        fenced(right),
        fenced(deciding.replace("3250.0", value)),
        f"It is {value}.",
    )
    turn.file = File(name="stueck.csv", content=f"n;x\n{rows}\n".encode())
    await turn.run()
    assert turn.returned == [value]
