"""Programs that are forked are like those that are started."""

import os
import signal
from pathlib import Path
from subprocess import PIPE

from tests.fork_server import ROOT, Program

SAYS = """
import os, sys
print(__name__, sys.argv[1:], dict(os.environ), os.getcwd(), sys.stdin.read(), len(os.listdir("/proc/self/fd")))
sys.exit("not so")
"""
KILLED = "import os, sys; print('soon', flush=True); sys.stdin.read()"
SIZES = """
from pathlib import Path
from selfeng.sandboxes.sandbox_options import SandboxOptions
options = SandboxOptions(image="", timeout=1, folder=Path())
sizes = options.verifiers, options.comparers, options.executors
print([(size.least, size.ready, size.reserve) for size in sizes])
"""


def test_they_have_arguments_environment_folder_streams_and_code(tmp_path: Path) -> None:
    (tmp_path / "says.py").write_text(SAYS)
    streams = {"stdin": PIPE, "stdout": PIPE, "stderr": PIPE}
    with Program(str(tmp_path / "says.py"), "a b", env={"A": "1"}, **streams) as says:
        printed = says.communicate("heard")
    assert printed == (f"__main__ ['a b'] {{'A': '1'}} {ROOT} heard 4\n", "not so\n")
    assert says.returncode == 1


def test_they_are_killed_and_waited_for_as_children_of_this_process(tmp_path: Path) -> None:
    (tmp_path / "killed.py").write_text(KILLED)
    with Program(str(tmp_path / "killed.py"), env={}, stdin=PIPE, stdout=PIPE) as killed:
        assert killed.stdout
        assert killed.stdout.readline() == "soon\n"
        parent = Path(f"/proc/{killed.pid}/stat").read_text().rpartition(")")[2].split()[1]
        assert int(parent) == os.getpid()
        killed.kill()
    assert killed.returncode == -signal.SIGKILL


def test_their_sandboxes_start_no_container_ahead(tmp_path: Path) -> None:
    (tmp_path / "sizes.py").write_text(SIZES)
    with Program(str(tmp_path / "sizes.py"), env={"HOME": str(tmp_path)}, stdout=PIPE) as program:
        assert program.communicate()[0] == "[(0, 0, 0), (0, 0, 0), (0, 0, 0)]\n"
