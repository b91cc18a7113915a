"""The Python API of builds, under the name `autocoder`, for programs that were written for it.

There `project_dir` is the project's own folder, and the result has the keys of the context.
"""

from collections.abc import Mapping
from typing import Any

from selfeng.autocoder import (
    Context,
    ProgramFunction,
    ProjectOptions,
    RunningBuild,
    compose_prompt,
    restore,
    start_autocoder,
)

__all__ = [
    "Context",
    "Ended",
    "ProgramFunction",
    "ProjectOptions",
    "RunningBuild",
    "autocoder",
    "compose_prompt",
    "restore",
    "start_autocoder",
]


class Ended(dict[str, Any]):
    """The last context of a build, with its `thread`, which has ended, and its `last` event, whose
    fields are attributes too.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(self["last"], name)


def autocoder(options: Mapping[str, Any], **arguments: Any) -> Ended:
    """Build a project to the end, as `selfeng.autocoder.autocoder`."""
    build_options = dict(options)
    if "project_dir" in build_options:
        build_options["project_path"] = build_options.pop("project_dir")
    build = start_autocoder(build_options, **arguments)
    last, context = build.wait(), build.context
    reached = {**dict(context), "project_dir": context.project_path} if context else {}
    return Ended(reached, thread=build.thread, last=last)
