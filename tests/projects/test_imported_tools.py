"""The tools of the library that a project imports, of which it gets copies."""

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from selfeng.core.http import NetworkAccess
from selfeng.core.tool import Requirement, Tool
from selfeng.projects.state import ProjectStore, packed
from tests.doubles import ListedLibrary, tool
from tests.projects.conftest import DONE, Bench, call
from tests.projects.still_sandbox import StillSandbox

HALF = tool("half", "def half(n: int) -> int:\n    return n // 2\n")
QUARTER = tool(
    "quarter_test",
    "from half import half\n\n\ndef quarter_test(n: int) -> int:\n    return half(half(n))\n",
).model_copy(update={"requires": (Requirement(name="half", version=1),)})
ASKS = tool("asks", "def asks(n: int) -> int:\n    return n\n").model_copy(
    update={"network": (NetworkAccess(host="api.example.org"),)}
)
HEAD = "# A copy of half, version 1, from the library of tools.\n"
MAIN = call("create_file", name="main.py", body="from half import half\n\nprint(half(84))\n")


def other_version(text: str) -> Tool:
    return HALF.model_copy(update={"version": 2, "code": f"{HALF.code}# {text}\n"})


def run_elsewhere(archive: bytes, folder: Path) -> str:
    """The output of main.py of an exported project, run without this program."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        files.extractall(folder / "elsewhere")
    command = [sys.executable, "-S", "main.py"]
    return subprocess.run(
        command, cwd=folder / "elsewhere", check=True, stdout=subprocess.PIPE, text=True
    ).stdout


@pytest.fixture
def bench(tmp_path) -> Bench:
    return Bench(tmp_path, StillSandbox(), library=ListedLibrary(HALF, QUARTER, ASKS))


async def test_a_project_runs_by_itself_with_the_tools_that_it_imports(tmp_path, sandbox):
    bench = Bench(tmp_path, sandbox, library=ListedLibrary(HALF, QUARTER))
    test = "from quarter_test import quarter_test\n\n\ndef test_42():\n    assert quarter_test(168) == 42\n"
    main = "from quarter_test import quarter_test\n\nprint(quarter_test(168))\n"
    last = await bench.build(
        call("create_file", name="test_main.py", body=test),
        call("create_file", name="main.py", body=main),
        call("run_tests"),
        DONE,
    )
    assert (last.type, sorted(bench.files)) == (
        "project_finished",
        ["half.py", "main.py", "quarter_test.py", "test_main.py"],
    )
    assert bench.files["half.py"] == HEAD + HALF.code
    changed = [(e.path, e.change) for e in bench.events if e.type == "project_changed"]
    assert changed == [
        ("test_main.py", "created"),
        ("half.py", "created"),
        ("quarter_test.py", "created"),
        ("main.py", "created"),
    ]
    tests = [event for event in bench.events if event.type == "project_tested"]
    assert {(event.path, event.success) for event in tests} == {("test_main.py", True)}
    assert run_elsewhere(packed(ProjectStore(tmp_path).workspace("demo")), tmp_path) == "42\n"


async def test_the_model_sees_the_tools_near_the_goal_and_copies_in_a_line(bench: Bench):
    await bench.build(MAIN, DONE)
    begun, done = bench.prompts()
    assert "<tools>\nfrom half import half  # half(n: int) -> int: " in begun
    assert "asks" not in begun
    assert f'=== "half.py"\n{HEAD}' in done
    assert HALF.code not in done


async def test_a_tool_that_needs_consent_is_refused_with_what_to_do(bench: Bench):
    main = call("create_file", name="main.py", body="from asks import asks\n")
    await bench.build(main, call("delete_file", name="main.py"), MAIN, DONE)
    assert (
        "main.py is invalid: the tool asks can't be imported here, as only its own calls may have "
        "what it needs (GET https://api.example.org/); do without it, or read from a file what it "
        "returned" in bench.prompts()[1]
    )
    assert sorted(bench.files) == ["half.py", "main.py"]


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        (
            {"main.py": "from half import half as h\n"},
            "main.py is invalid: the code must import the tool half as `from half import half`",
        ),
        (
            {"main.py": "from quarter_test import quarter_test\n", "pkg/half.py": ""},
            "main.py is invalid: the tool quarter_test imports the tool half, but the project has "
            "another module of this name; rename that module, or do without quarter_test",
        ),
        (
            {"a.py": "import half\n", "b.py": "import quarter_test\n"},
            "b.py is invalid: half comes with version 2 of half, and quarter_test with version 1, "
            "but only one can be there; import only one of half and quarter_test",
        ),
        ({"main.py": "import gone\n"}, "main.py is invalid: line 1 imports gone, which is not a"),
        ({"main.py": "import half\n(\n"}, "main.py is invalid: SyntaxError"),
    ],
)
async def test_imports_that_can_not_be_copied_are_named(bench: Bench, files, problem):
    bench.library.replace(other_version("newer"))
    bench.lay_out(files)
    await bench.build(call("give_up", reason="no"))
    assert problem in bench.prompts()[0]
    assert bench.files == files


async def test_the_projects_own_modules_are_no_tools(bench: Bench):
    bench.lay_out({"main.py": "import half\n", "half.py": "own = 1\n"})
    await bench.build(DONE)
    assert bench.files["half.py"] == "own = 1\n"


async def test_a_copy_keeps_its_version_and_goes_with_its_last_import(bench: Bench):
    await bench.build(MAIN, DONE)
    bench.library.replace(other_version("newer"))
    bench.lay_out({"half.py": HEAD + "def half(n):\n    return 0\n"})
    plain = call("write_file", name="main.py", body="print(42)\n")
    edit = call("replace_lines", name="half.py", first=2, last=2, text="")
    await bench.build(edit, plain, DONE)
    before, after = bench.prompts()[1:]
    assert "half.py is a copy of a verified tool, which does not change" in before
    assert ('=== "half.py"' in before, '=== "half.py"' in after) == (True, False)
    changed = [(e.path, e.change, e.diff) for e in bench.events if e.type == "project_changed"]
    assert [path for path, *_ in changed] == ["half.py", "half.py", "main.py", "half.py"]
    assert HALF.code.splitlines()[1] in changed[1][2]
    assert list(bench.files) == ["main.py"]


async def test_the_copy_of_another_librarys_tool_stays(bench: Bench):
    files = {"main.py": "import theirs\n", "theirs.py": HEAD.replace("half", "theirs")}
    bench.lay_out(files)
    last = await bench.build(DONE)
    assert (last.type, bench.files) == ("project_finished", files)


async def test_a_tool_that_reads_cells_brings_the_reader(tmp_path, sandbox):
    reads = tool(
        "reads", "import readcells\n\n\ndef reads() -> str:\n    return readcells.text_key(' A ')\n"
    )
    bench = Bench(tmp_path, sandbox, library=ListedLibrary(reads))
    main = call("create_file", name="main.py", body="from reads import reads\n\nprint(reads())\n")
    last = await bench.build(main, DONE)
    assert (last.type, list(bench.files)) == (
        "project_finished",
        ["main.py", "readcells.py", "reads.py"],
    )
    edit = call("remove_lines", name="readcells.py", first=1, last=1)
    await bench.build(edit, DONE)
    assert "readcells.py is a copy of a verified tool" in bench.prompts()[1]
