"""What docs/sandbox.md says of the backends is what they do."""

import re
import shlex
from pathlib import Path

from selfeng.sandboxes.backend import SHARED_KERNEL
from selfeng.sandboxes.bubblewrap import BubblewrapBackend
from selfeng.sandboxes.bwrap_command import Descriptors, Files, Start, Tools, command
from selfeng.sandboxes.control_groups import ControlGroups
from selfeng.sandboxes.limits import ContainerLimits
from selfeng.sandboxes.python_environment import Parts

DOCUMENT = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text()
TOOLS = Tools(**{name: name for name in ("bwrap", "unshare", "mount", "setpriv", "prlimit", "sh")})


def test_the_command_has_the_options_that_are_shown(tmp_path: Path) -> None:
    start = Start(TOOLS, Files(Parts(tmp_path, tmp_path)), ContainerLimits(), (), "a sandbox")
    *_, script = command(start, Descriptors(5, 6, 7), ("python",))
    words = shlex.split(script.splitlines()[-1])
    words = words[words.index("bwrap") :]
    (shown,) = re.findall(r"```sh\n(bwrap .*?)```", DOCUMENT, re.DOTALL)
    assert {word for word in words[: words.index("--")] if word.startswith("--")} == set(
        re.findall(r"--[a-z][a-z0-9-]*", shown)
    )


def test_every_shortfall_is_listed(tmp_path: Path) -> None:
    lacking = BubblewrapBackend(
        tmp_path, ContainerLimits(), ControlGroups(process=tmp_path)
    ).not_guaranteed()
    assert lacking[0] == SHARED_KERNEL
    assert [sentence for sentence in lacking if sentence not in DOCUMENT] == []
