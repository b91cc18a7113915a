"""Files of a workspace on every backend: trees run, what they make comes out, and hostile ones are
contained.
"""

import pytest

from selfeng.projects.running import PYTEST, run
from selfeng.projects.workspace import WorkspaceFile
from selfeng.sandbox import SecureSandbox

pytestmark = pytest.mark.asyncio(loop_scope="session")

TREE = {
    "main.py": "import os, sys, warnings\nfrom pkg.a import x\nprint(x, "
    "sys.argv[1:])\nwarnings.warn('hm')\n"
    "os.makedirs('out/deep')\nopen('out/deep/made.bin', 'wb').write(bytes(256))\nopen('data.txt', "
    "'a').write('more')\n"
    "os.symlink('/etc/passwd', 'link')\nos.mkfifo('pipe')\nsys.exit(3)\n",
    "pkg/__init__.py": "",
    "pkg/a.py": "x = 1\n",
    "data.txt": "given, ",
    "tests/test_a.py": "from pkg.a import x\n\n\ndef test_x():\n    assert x == 2\n",
}
_BOMB = """
import os
while True:
    try:
        if os.fork() == 0:
            os.setsid()
        print("x" * 100_000)
    except OSError:
        pass
"""
HOSTILE = {
    "a fork bomb that prints": _BOMB,
    "a large file": "open('large', 'wb').write(bytes(200 * 2**20))\n",
    "many files": "for n in range(10**6):\n    open(str(n), 'w')\n",
    "an end to everything": "import os\nos.kill(-1, 9)\n",
    "another report": "import os\nos.mkdir('/tmp/files/run.json')\nos.chdir('/')\nos.rename('/tmp/project', '/tmp/elsewhere')\n",
}


def files(tree: dict[str, str]) -> list[WorkspaceFile]:
    return [WorkspaceFile(path=path, content=text.encode()) for path, text in tree.items()]


async def test_a_tree_runs_with_its_folders_and_what_it_makes_comes_out(sandbox: SecureSandbox):
    outcome = await run(
        sandbox, files(TREE), [("main.py", "a b", "-c"), (*PYTEST, "tests/test_a.py")]
    )
    main, tests = outcome.runs
    assert (main.exit_code, main.ended, main.stdout) == (3, "", "1 ['a b', '-c']\n")
    assert "UserWarning: hm" in main.stderr
    assert (tests.exit_code, "assert 1 == 2" in tests.stdout) == (1, True)
    assert {file.path: file.content for file in outcome.made} == {
        "data.txt": b"given, more",
        "out/deep/made.bin": bytes(256),
    }
    assert outcome.refused == (
        "'link': it is not a regular file",
        "'pipe': it is not a regular file",
    )


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_projects_are_contained(sandbox: SecureSandbox, source: str):
    outcome = await run(sandbox, files({"main.py": source}), [("main.py",)], seconds=1)
    (ran,) = outcome.runs
    assert not ran.succeeded
    assert ran.error
    assert len(ran.stdout) < 50_000
    assert all(file.content == b"" for file in outcome.made)
    again = await run(sandbox, files({"main.py": "print(1)"}), [("main.py",)])
    assert (again.runs[0].stdout, again.made) == ("1\n", ())


@pytest.mark.parametrize(
    ("source", "ended"),
    [
        # a machine that is too busy, or a kernel that limits no processor time, ends it later
        ("while True: pass", ("It used 1 s of processor time.", "It did not end within 2.8 s.")),
        ("import time\ntime.sleep(1000)", ("It did not end within 2.8 s.",)),
        ("import time\ntime.sleep(1.2)", ("",)),
    ],
    ids=["works too long", "waits too long", "waits for a while"],
)
async def test_a_run_may_wait_longer_than_it_may_work(
    sandbox: SecureSandbox, source: str, ended: tuple[str, ...]
):
    outcome = await run(sandbox, files({"main.py": source}), [("main.py",)], seconds=2)
    (ran,) = outcome.runs
    assert ran.ended in ended
    assert ran.succeeded == (not ran.ended)
