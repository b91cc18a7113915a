"""The report of a run as the host reads it: it comes from where the project's code ran, so nothing
of it is believed unseen.
"""

import base64
import json

import pytest

from selfeng.core.files import File, FileLimits
from selfeng.core.verdict import Killed, Raised, Returned
from selfeng.projects.running import PythonRun, run
from selfeng.projects.workspace import WorkspaceFile
from tests.doubles import ScriptedSandbox

RAN = {"exit_code": 0, "ended": "", "stdout": "", "stderr": "", "seconds": 0.1}


def reported(report: object) -> Returned:
    content = report if isinstance(report, bytes) else json.dumps(report).encode()
    return Returned(
        type_name="NoneType", text="None", files=(File(name="run.json", content=content),)
    )


def packed(*contents: bytes) -> list[str]:
    return [base64.b64encode(content).decode() for content in contents]


async def test_files_travel_as_one_archive():
    sandbox = ScriptedSandbox(
        reported(
            {
                "runs": [RAN],
                "files": {"out/a.bin": packed(b"\xff\xfb")[0]},
                "refused": [["x", "no"]],
            }
        )
    )
    outcome = await run(
        sandbox, [WorkspaceFile(path="main.py", content=b"1")], [("main.py", "-v")], seconds=10
    )
    assert outcome.runs == (PythonRun(arguments=("main.py", "-v"), exit_code=0, seconds=0.1),)
    assert outcome.made == (WorkspaceFile(path="out/a.bin", content=b"\xff\xfb"),)
    assert outcome.refused == ("'x': no",)
    ((given,),) = sandbox.files
    assert (given.name, json.loads(given.content)) == (
        "workspace.json",
        {"files": {"main.py": packed(b"1")[0]}},
    )
    assert sandbox.executed[0][1] == {
        "commands": [["main.py", "-v"]],
        "seconds": 8.0,
        "wall": 22.4,
        "output": 49152,
        "count": 200,
        "size": 5 * 2**20,
    }


async def test_paths_that_lead_out_and_files_that_are_too_much_are_refused():
    names = ["../up", "/etc/passwd", "a/../../b", ".hidden", "a\nb", "large", "small", "one more"]
    contents = packed(*[b"x"] * 5, b"x" * 20, b"12345", b"x")
    report = {"runs": [RAN], "files": dict(zip(names, contents, strict=True)), "refused": []}
    limits = FileLimits(count=1, size=10)
    outcome = await run(ScriptedSandbox(reported(report)), [], [("main.py",)], limits=limits)
    assert outcome.made == (WorkspaceFile(path="small", content=b"12345"),)
    assert len(outcome.refused) == 1  # no more are named than files are allowed


@pytest.mark.parametrize(
    "report",
    [
        b"",
        b"[" * 100_000,
        {"runs": [], "files": {}, "refused": []},
        {"runs": [RAN, RAN], "files": {}, "refused": []},
        {"runs": [{**RAN, "exit_code": "zero"}], "files": {}, "refused": []},
        {"runs": [{**RAN, "arguments": ["other.py"]}], "files": {}, "refused": [], "more": 1},
        {"runs": [RAN], "files": {"a": "no base64!"}, "refused": []},
    ],
)
async def test_a_damaged_report_is_the_projects_failure(report):
    outcome = await run(ScriptedSandbox(reported(report)), [], [("main.py",)])
    assert [ran.ended for ran in outcome.runs] == [
        "The report of the run is damaged, by the project's own processes."
    ]
    assert outcome.made == ()


@pytest.mark.parametrize(
    ("execution", "ended"),
    [
        (
            Killed(reason="It needed more memory than the 256 MB that the sandbox gives."),
            "It needed more memory",
        ),
        (
            Raised(type_name="OSError", message="No space left on device"),
            "The sandbox could not hold the run: OSError: No space left",
        ),
        (
            Returned(
                type_name="NoneType", text="None", refused_files=("run.json: it is a folder.",)
            ),
            "The report of the run is missing. run.json",
        ),
    ],
)
async def test_a_run_that_was_ended_says_why(execution, ended):
    outcome = await run(ScriptedSandbox(execution), [], [("a.py",), ("b.py",)])
    assert [ran.arguments for ran in outcome.runs] == [("a.py",), ("b.py",)]
    assert all(ran.ended.startswith(ended) and not ran.succeeded for ran in outcome.runs)


async def test_credentials_are_taken_out_of_what_a_run_prints():
    key = "sk-" + "a1" * 20
    outcome = await run(
        ScriptedSandbox(
            reported({"runs": [{**RAN, "stdout": f"key {key}"}], "files": {}, "refused": []})
        ),
        [],
        [("a.py",)],
    )
    assert outcome.runs[0].stdout == "key [secret removed]"


def test_a_failure_is_told_with_its_error():
    assert PythonRun(arguments=("a.py",), exit_code=0, stderr="a warning").error == ""
    assert (
        PythonRun(arguments=("a.py",), exit_code=1, stderr="Boom\n").error == "Exit code 1.\nBoom"
    )
    assert PythonRun(arguments=("a.py",), exit_code=-9).error == "It was ended by signal 9."
    assert (
        PythonRun(arguments=("a.py",), ended="It used 2 s of processor time.").error
        == "It used 2 s of processor time."
    )
