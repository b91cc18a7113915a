"""The health of the library: twins by behaviour, weak suites, and tools that nobody uses."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from selfeng.core.events import ExecutionFinished
from selfeng.core.files import File
from selfeng.core.provenance import Provenance
from selfeng.core.signature import parse_signature
from selfeng.core.tool import Tool
from selfeng.core.verdict import Alterations
from selfeng.sandbox import SecureSandbox
from selfeng.stages.library_health import HealthFinding, LibraryHealth, _of_accounts, _of_uses
from selfeng.store.habits import ToolUses
from selfeng.store.journal import Journal, JournalEntry
from selfeng.store.spending import Costs, ToolAccount
from selfeng.synthesis.before import KnownCall
from selfeng.synthesis.relatives import Compared, Twins, twins
from selfeng.synthesis_engine import SynthesisEngine
from tests.doubles import ListedLibrary, ScriptedModel, kept, passing, tool
from tests.engine.test_first_runs import sandbox
from tests.registry.conftest import Place
from tests.registry.drafts import REVERSE

__all__ = ["sandbox"]

REAL = pytest.mark.asyncio(loop_scope="session")
NOW = datetime.now(UTC)


def made(source: str, *cases: tuple[str, str]) -> Tool:
    """A tool with a test for each pair of arguments and value, as Python source."""
    name = source.removeprefix("def ").partition("(")[0]
    lines = [f"    assert {name}({arguments}) == {value}" for arguments, value in cases]
    tests = "\n".join([f"from {name} import {name}\n\n\ndef test_it():", *lines, ""])
    signature = parse_signature(source, name)
    return tool(name, source).model_copy(update={"tests": tests, "signature": signature})


DOUBLE = made("def double(n: int) -> int:\n    return 2 * n\n", ("2", "4"), ("5", "10"))
TWICE = made("def twice(number: int) -> int:\n    return number + number\n", ("7", "14"))
SQUARE = made("def square(n: int) -> int:\n    return n * n\n", ("2", "4"), ("0", "0"))
FILE_TOOLS = (("lines", "splitlines()"), ("rows", 'replace("\\n", "\\n ").split("\\n")[:-1]'))
TRIPLE_LATE = made(
    "def late(n: int) -> int:\n    return 2 * n if n < 5_000 else 3 * n\n", ("1", "2")
)


def compared(sandbox: SecureSandbox, tool: Tool, *calls: KnownCall) -> Compared:
    return Compared(sandbox, tool, tool.job(), calls)


async def pairs_of(*tools: Compared) -> list[Twins]:
    return (await twins(tools))[0]


@pytest.mark.bubblewrap
@REAL
async def test_tools_that_agree_on_all_calls_of_both_are_twins(sandbox: SecureSandbox) -> None:
    recorded = [KnownCall(arguments={"n": 11}), KnownCall(arguments={"gone": 1})]
    double = compared(sandbox, DOUBLE, *recorded)
    pairs, number = await twins([double, compared(sandbox, SQUARE), compared(sandbox, TWICE)])
    assert (pairs, number) == ([Twins("double", "twice", calls=4, recorded=1)], 3)


@pytest.mark.bubblewrap
@REAL
async def test_one_recorded_call_tells_tools_apart(sandbox: SecureSandbox) -> None:
    late = compared(sandbox, TRIPLE_LATE)
    pair = Twins("double", "late", calls=3, recorded=0)
    assert await pairs_of(compared(sandbox, DOUBLE), late) == [pair]
    seen = compared(sandbox, DOUBLE, KnownCall(arguments={"n": 6_000}))
    assert await pairs_of(seen, late) == []


@pytest.mark.bubblewrap
@REAL
async def test_too_few_calls_show_nothing(sandbox: SecureSandbox) -> None:
    one, other = made(DOUBLE.code, ("2", "4")), made(TWICE.code, ("2", "4"))
    assert await pairs_of(compared(sandbox, one), compared(sandbox, other)) == []


@pytest.mark.bubblewrap
@REAL
async def test_tools_are_compared_on_files_of_recorded_calls(sandbox: SecureSandbox) -> None:
    source = "def {0}(path: str) -> int:\n    return len(open(path).read().{1})\n"
    lines, rows = (made(source.format(n, m)) for n, m in FILE_TOOLS)
    calls = [
        KnownCall(arguments={"path": "a.txt"}, files=(File(name="a.txt", content=content),))
        for content in (b"", b"1\n2\n", b"1\n2\n3\n")
    ]
    pair = Twins("lines", "rows", calls=3, recorded=3)
    assert await pairs_of(compared(sandbox, lines, *calls), compared(sandbox, rows)) == [pair]
    last = KnownCall(arguments={"path": "a.txt"}, files=(File(name="a.txt", content=b"1\x0c2"),))
    seen = compared(sandbox, lines, *calls, last)
    assert await pairs_of(seen, compared(sandbox, rows)) == []


@pytest.mark.bubblewrap
@REAL
async def test_what_a_suite_notices_is_measured(sandbox: SecureSandbox) -> None:
    source = "def area(a: int, b: int) -> int:\n    return a * b + 2 * (a + b) - 3 * a\n"
    weak = made(source, ("0", "0")).model_copy(update={"tests": _LOOSE})
    synthesis = SynthesisEngine(ScriptedModel(), sandbox, ListedLibrary(weak), "scripted")
    measured = await synthesis.alterations(weak)
    assert measured.tried >= 5
    assert measured.score < 0.5


_LOOSE = (
    "from area import area\n\n\ndef test_is_a_number():\n    assert isinstance(area(1, 1), int)\n"
)


def test_uses_show_what_is_slow_unused_and_of_one_person() -> None:
    old = NOW - timedelta(days=100)
    names = ("fresh", "never", "stale", "slow", "usual", "drifted")
    tools = [tool().model_copy(update={"name": n, "created_at": old}) for n in names]
    tools[2] = tools[2].model_copy(update={"uses": 3})
    tools[5] = tools[5].model_copy(update={"standing": "suspect"})
    uses = {
        "fresh": ToolUses(made_at=NOW),
        "never": ToolUses(made_at=old),
        "stale": ToolUses(made_at=old, used_at=NOW - timedelta(days=95)),
        "slow": ToolUses(
            made_at=NOW, used_at=NOW, calls=3, persons=1, all_persons=2, seconds=(2.0, 4.0, 3.0)
        ),
        "usual": ToolUses(made_at=NOW, used_at=NOW, calls=3, persons=2, all_persons=2,
                          seconds=(0.1,) * 3),
        "drifted": ToolUses(made_at=NOW, used_at=NOW, seconds=(0.1,) * 3),
    }  # fmt: skip
    slow = {"seconds": 3.0, "usual": 0.1, "calls": 3}
    findings = tuple(_of_uses(tools, uses, 90))
    assert findings == (
        HealthFinding(kind="never_used", tools=("never",), proposal="retire",
                evidence={"days": 100, "version_days": 100}),
        HealthFinding(kind="stale", tools=("stale",), proposal="retire",
                evidence={"days": 95, "version_days": 100}),
        HealthFinding(kind="slow", tools=("slow",), proposal="refactor", evidence=slow),
        HealthFinding(kind="one_person", tools=("slow",), evidence={"calls": 3}),
        HealthFinding(kind="suspect", tools=("drifted",)),
    )  # fmt: skip
    report = LibraryHealth(tools=6, compared=0, unmeasured=0, findings=findings)
    assert report.troubled
    assert not report.model_copy(update={"findings": findings[3:4]}).troubled
    assert [finding.words for finding in findings[:3]] == [
        "nobody has used it in 100 days",
        "unused for 95 days, at a version of 100 days",
        "a call takes 3.0 s, that of the usual tool 0.10 s",
    ]


def test_tools_that_saved_less_than_they_took_are_proposed_for_retirement() -> None:
    built = Costs(tokens=900, cost=0.5, seconds=20.0)
    accounts = {
        name: ToolAccount(
            tool=name, since=NOW, built=built, reuses=1, spent=Costs(), saved=saved, pays=pays
        )
        for name, saved, pays in (
            ("dear", Costs(tokens=700), False),
            ("cheap", Costs(tokens=901), True),
            ("young", Costs(), None),
        )
    }
    names = ("dear", "cheap", "young", "new")
    tools = [tool().model_copy(update={"name": name}) for name in names]
    (finding,) = _of_accounts(tools, accounts)
    assert finding == HealthFinding(
        kind="unpaid",
        tools=("dear",),
        proposal="retire",
        evidence={"reuses": 1, "built": 900, "saved": 700},
    )
    assert finding.words == "it took 900 tokens to build and saved 700; reuses: 1"


async def test_uses_of_all_persons_are_counted(database: sa.Engine, tmp_path: Path) -> None:
    journal = Journal(database)
    event = ExecutionFinished(tool="reverse_text", execution=kept("3"), seconds=0.5)
    for owner in ("me", "me", "you"):
        conversation = journal.create_conversation(owner, "sales")
        turn_id = journal.begin_turn(conversation, "Reverse it")
        journal.append([JournalEntry(conversation, turn_id, NOW, event)])
    async with Place(tmp_path, database).open() as library:
        verdict = passing("test_it").model_copy(
            update={"strength": Alterations(noticed=1, tried=4)}
        )
        await library.add(REVERSE, Provenance(verdict=verdict))
        (unused,) = journal.tool_uses().values()
        await library.record_use("reverse_text", 1, "a")
        (uses,) = journal.tool_uses().values()
    assert (unused.used_at, uses.calls, uses.persons, uses.all_persons) == (None, 3, 2, 2)
    assert (uses.seconds, uses.strength) == ((0.5, 0.5, 0.5), Alterations(noticed=1, tried=4))
    assert unused.made_at <= uses.used_at <= datetime.now(UTC)
