"""A pattern: the wording of a request with slots for its literals.

`reverse (the|this)? word <text>` is a regular expression in which a space stands for any white space, brackets don't capture,
and `<parameter>` or `<parameter:kind>` is a slot. A slot after a space may be announced by a colon, too.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from selfeng.offline.cookbook.kinds import KINDS, OF_ANNOTATION, Kind
from selfeng.offline.cookbook.literals import Place, Unreadable

_SLOT = re.compile(r"( ?)<(\w+)(?::(\w+))?>")


@dataclass(frozen=True)
class Slot:
    """Where a pattern takes an argument; several slots may take the same one."""

    parameter: str
    kind: Kind
    group: str
    """Name of its group in the regular expression."""

    @property
    def announced(self) -> str:
        """Name of its group after a colon."""
        return self.group + "_after_colon"


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern."""

    regex: re.Pattern[str]
    slots: tuple[Slot, ...]
    constants: Mapping[str, Any]
    """Arguments that the wording itself implies."""

    def match(self, text: str, place: Place) -> dict[str, Any] | None:
        """The arguments by name, or None if the text as a whole has not this wording."""
        found = self.regex.fullmatch(text)
        if found is None:
            return None
        groups, arguments = found.groupdict(), dict(self.constants)
        try:
            for slot in self.slots:
                if groups.get(slot.announced) is not None:
                    arguments[slot.parameter] = slot.kind.read(groups[slot.announced], "verbatim")
                elif groups[slot.group] is not None:
                    arguments[slot.parameter] = slot.kind.read(groups[slot.group], place)
        except Unreadable:
            return None
        return arguments


def compile_pattern(template: str, annotations: Mapping[str, str], constants: Mapping[str, Any]) -> Pattern:
    """Compile a template whose slots are parameters with these annotations.

    Raises:
        KeyError: a slot is no parameter, or its kind is unknown.
    """
    slots: list[Slot] = []
    parts, end = [], 0
    for found in _SLOT.finditer(template):
        space, name, kind = found.groups()
        slot = Slot(name, KINDS[kind or OF_ANNOTATION[annotations[name]]], f"slot{len(slots)}")
        slots.append(slot)
        parts += [_literal(template[end : found.start()]), _group(slot, after_space=bool(space))]
        end = found.end()
    parts.append(_literal(template[end:]))
    return Pattern(re.compile("".join(parts), re.IGNORECASE), tuple(slots), constants)


def _group(slot: Slot, after_space: bool) -> str:
    plain = f"(?P<{slot.group}>{slot.kind.written})"
    if not after_space:
        return plain
    return rf"(?:\s*:\s*(?P<{slot.announced}>{slot.kind.after_colon or slot.kind.written})|\s+{plain})"


def _literal(wording: str) -> str:
    return re.sub(r"(?<!\\)\((?!\?)", "(?:", wording).replace(" ", r"\s+")
