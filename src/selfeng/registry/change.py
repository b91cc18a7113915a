"""A change of the library that nobody in this process may have asked for, told to whoever listens."""

from typing import Literal

from selfeng.core.value import Value


class LibraryChange(Value):
    name: str
    change: Literal["added", "removed", "modified", "revised", "trusted", "retired", "restored", "kept_back"]
    """modified: the files differ from what was verified, the tool is not offered; revised: it has a new version;
    retired: search does not offer it any more; restored: it is offered again; kept_back: it goes on with an old version of a tool
    that it imports, since it does not work with the new one."""
    reason: str
    """One sentence for people."""
