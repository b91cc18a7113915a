"""The build of a distribution: puts the page's bundle in, so that whoever installs one needs
neither Node nor this repository.
"""

import shutil
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

PLACES = {"sdist": "page", "wheel": "selfeng/files/page"}
"""Where `web.bundle` looks for it, in an unpacked source distribution and in an installation."""


class PageBuildHook(BuildHookInterface):
    """Adds the bundle, made by esbuild; a source distribution has it already."""

    _made: Path | None = None

    def dependencies(self) -> list[str]:
        """Node, where the machine has none that could install the page's libraries."""
        from selfeng.provision.front_end import own

        if (ROOT / PLACES["sdist"]).is_dir() or own("npm"):
            return []
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
        return list(project["dependency-groups"]["node"])

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        page = ROOT / PLACES["sdist"]
        if not page.is_dir():
            page = self._made = Path(tempfile.mkdtemp()) / "page"
            _build(page)
        build_data["force_include"][str(page)] = PLACES[self.target_name]

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self._made:
            shutil.rmtree(self._made.parent)


def _build(folder: Path) -> None:
    from selfeng.provision.front_end import prepare_front_end
    from web.bundle import build, esbuild_of
    from web.vendor import NODE_MODULES

    prepare_front_end(lambda line: sys.stderr.write(f"{line}\n"))
    esbuild = esbuild_of(NODE_MODULES)
    if esbuild is None:
        sys.exit("esbuild has no program for this machine; build the wheel on another one")
    build(esbuild, NODE_MODULES, folder)
