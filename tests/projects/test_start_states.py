"""The states that a project can be in when a build begins, and how each ends: scripted model over
HTTP, real sandbox.
"""

import pytest

from selfeng.core.errors import WorkspaceError
from selfeng.projects.builder import ProjectBuilder
from selfeng.projects.state import ProjectStore
from tests.doubles import ScriptedModel
from tests.projects.conftest import DONE, Bench, call

pytestmark = [pytest.mark.bubblewrap, pytest.mark.asyncio(loop_scope="session")]

MAIN = "# prints the answer\nprint(6 * 7)  # the answer\n"
TEST = """from pathlib import Path


def test_answer(capsys):
    exec(Path("main.py").read_text())
    assert capsys.readouterr().out == "42\\n"
"""


async def test_an_empty_folder_becomes_a_project(bench: Bench):
    last = await bench.build(
        call("create_file", name="main.py", body=MAIN, reasoning="begin with the code"),
        call("create_file", name="test_main.py", body=TEST),
        DONE,
    )
    assert (last.type, last.steps, last.usage.calls, last.summary) == (
        "project_finished",
        2,
        3,
        "It is done.",
    )
    assert bench.files == {"main.py": MAIN, "test_main.py": TEST}
    assert bench.types() == [
        *("reasoned", "act_chosen", "changed"),
        *("ran", "reasoned", "act_chosen", "changed"),
        *("tested", "ran", "reasoned", "act_chosen", "finished"),
    ]
    changed = next(event for event in bench.events if event.type == "project_changed")
    assert (changed.path, changed.change, changed.diff.splitlines()[3]) == (
        "main.py",
        "created",
        "+# prints the answer",
    )


async def test_broken_indentation_is_found_and_mended_by_its_line(bench: Bench):
    broken = "# a comment\nif True:\n    a = 1\n  print(a)\n"
    bench.lay_out({"main.py": broken})
    last = await bench.build(
        call("replace_lines", name="main.py", first=4, last=4, text="    print(6 * 7)"), DONE
    )
    assert last.type == "project_finished"
    assert "main.py is invalid: IndentationError in line 4" in bench.prompts()[0]
    assert bench.files["main.py"] == "# a comment\nif True:\n    a = 1\n    print(6 * 7)\n"


async def test_wrong_output_is_found_by_the_tests(bench: Bench):
    bench.lay_out({"main.py": MAIN.replace("6", "5"), "test_main.py": TEST})
    last = await bench.build(
        call("replace_lines", name="main.py", first=2, last=2, text="print(6 * 7)  # the answer"),
        DONE,
    )
    assert (last.type, bench.files["main.py"]) == ("project_finished", MAIN)
    assert "test_main.py: fails" in bench.prompts()[0]
    assert "AssertionError: assert '35" in bench.prompts()[0]


async def test_a_wrong_test_is_mended_and_the_code_stays(bench: Bench):
    bench.lay_out({"main.py": MAIN, "test_main.py": TEST.replace("42", "43")})
    last = await bench.build(call("write_file", name="test_main.py", body=TEST), DONE)
    assert (last.type, bench.files) == ("project_finished", {"main.py": MAIN, "test_main.py": TEST})


async def test_a_finished_project_costs_one_model_call_and_changes_no_file(bench: Bench):
    bench.lay_out(
        {
            "main.py": MAIN
            + "import warnings\nwarnings.warn('old')\nopen('new.txt', 'w').write('x')\n",
            "test_main.py": TEST,
        }
    )
    before = bench.files
    last = await bench.build(DONE)
    assert (last.type, last.steps, last.usage.calls) == ("project_finished", 0, 1)
    assert bench.files == before
    ran = next(event for event in bench.events if event.type == "project_ran")
    assert (ran.success, "UserWarning: old" in ran.stderr) == (True, True)


async def test_a_model_that_never_says_done_ends_at_the_limit_of_steps(bench: Bench):
    bench.lay_out({"main.py": MAIN})
    last = await bench.build(*[call("read_run", what="activity")] * 3, max_steps=3)
    assert (last.type, last.kind, last.steps) == ("project_failed", "budget", 3)
    assert last.message == "the build did not finish within 3 steps"
    assert last.reached == "1 Python file, 0 of them invalid; main.py works."
    assert bench.files == {"main.py": MAIN}


async def test_a_budget_that_is_used_up_ends_the_build_with_what_was_reached(bench: Bench):
    bench.lay_out({"main.py": MAIN})
    last = await bench.build(*[call("read_run", what="log")] * 2, max_calls=2)
    assert (last.type, last.kind, last.message) == (
        "project_failed",
        "budget",
        "the build has used up its budget of 2 model calls",
    )
    assert "max_calls" in last.remedy


async def test_a_file_of_a_project_runs_by_itself_and_what_it_makes_is_kept(bench: Bench):
    bench.lay_out({"main.py": "import sys\nopen('out.txt', 'w').write(sys.argv[1])\n"})
    builder = ProjectBuilder(ScriptedModel(), bench.sandbox, seconds=20.0)
    workspace = ProjectStore(bench.folder).workspace("demo")
    outcome = await builder.run_file(workspace, "main.py", ("given",))
    assert (outcome.runs[0].succeeded, bench.files["out.txt"]) == (True, "given")
    with pytest.raises(WorkspaceError, match=r"there is no file other\.py"):
        await builder.run_file(workspace, "other.py")
