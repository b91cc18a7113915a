"""docs/sandbox.md lists every shortfall of the backends."""

from pathlib import Path

from selfeng.sandboxes.backend import SHARED_KERNEL
from selfeng.sandboxes.bubblewrap import BubblewrapBackend
from selfeng.sandboxes.control_groups import ControlGroups
from selfeng.sandboxes.limits import ContainerLimits

DOCUMENT = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text()


def test_every_shortfall_is_listed(tmp_path: Path) -> None:
    lacking = BubblewrapBackend(
        tmp_path, ContainerLimits(), ControlGroups(process=tmp_path)
    ).not_guaranteed()
    assert lacking["kernel"] == SHARED_KERNEL
    assert [sentence for sentence in lacking.values() if sentence not in DOCUMENT] == []
