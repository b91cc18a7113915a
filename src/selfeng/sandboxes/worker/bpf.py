"""A seccomp filter: rules about system calls, and the program for the kernel's BPF machine that they become. Pure.

The machine and what it is shown are described in Linux's `linux/filter.h` and `linux/seccomp.h`.
"""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .system_calls import NUMBERS

ALLOW = 0x7FFF0000
KILL = 0x80000000
"""End the whole process, as by SIGSYS."""

EPERM = 1
ENOSYS = 38

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16
"""Offsets in `struct seccomp_data`."""

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_IF_EQUAL, _IF_GREATER, _IF_AT_LEAST = 0x15, 0x25, 0x35

Instruction = tuple[int, int, int, int]
"""Code, jump if true, jump if false, operand; jumps count the instructions that are passed over."""


def refuse(errno: int) -> int:
    """The verdict that lets the call fail with this error."""
    return 0x00050000 | errno


@dataclass(frozen=True)
class Argument:
    """A condition on the lower 32 bits of one argument."""

    position: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF
    """What is compared of them."""
    unless: bool = False
    """Whether the condition holds for all other values."""


@dataclass(frozen=True)
class AtLeast:
    """A condition on the lower 32 bits of one argument, taken as a number without a sign."""

    position: int
    value: int


@dataclass(frozen=True)
class Rule:
    """What becomes of a call, if all conditions hold."""

    calls: str
    """One call's name, or those of several that are treated alike, with spaces between them."""
    verdict: int
    conditions: tuple[Argument | AtLeast, ...] = ()


def program(rules: Iterable[Rule], machine: str, otherwise: int = ALLOW) -> bytes:
    """The filter for a machine, as `struct sock_filter[]`: the first rule that fits decides, `otherwise` where none does.

    Calls that the machine has not, or that are newer than `system_calls`, fail with ENOSYS; calls of another machine end the process.

    Raises:
        KeyError: filters can't be made for this machine.
    """
    numbers = NUMBERS[machine]
    written: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_IF_EQUAL, 1, 0, _AUDIT[machine]),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_IF_AT_LEAST, 1, 0, _X32),
        (_IF_GREATER, 0, 1, max(numbers.values())),
        (_RETURN, 0, 0, refuse(ENOSYS)),
    ]
    for rule in rules:
        if known := [numbers[call] for call in rule.calls.split() if call in numbers]:
            written += _of(rule, known)
    written.append((_RETURN, 0, 0, otherwise))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in written)


def _of(rule: Rule, numbers: list[int]) -> Iterator[Instruction]:
    """One rule for calls of these numbers. The number is loaded before it and after it."""
    body: list[Instruction] = [(_RETURN, 0, 0, rule.verdict)]
    if rule.conditions:
        body.append((_LOAD, 0, 0, _NUMBER))
    for condition in reversed(rule.conditions):
        body = [*_test(condition, len(body) - 1), *body]
    for left, number in zip(reversed(range(len(numbers))), numbers, strict=True):
        yield (_IF_EQUAL, left, 0 if left else len(body), number)
    yield from body


def _test(condition: Argument | AtLeast, beyond: int) -> Iterator[Instruction]:
    """Go on behind the test if the condition holds, else pass over `beyond` instructions."""
    yield (_LOAD, 0, 0, _ARGUMENTS + 8 * condition.position)
    if isinstance(condition, AtLeast):
        yield (_IF_AT_LEAST, 0, beyond, condition.value)
        return
    yield (_AND, 0, 0, condition.mask)
    for left, value in zip(reversed(range(len(condition.values))), condition.values, strict=True):
        if condition.unless:
            yield (_IF_EQUAL, left + beyond, 0, value)
        else:
            yield (_IF_EQUAL, left, 0 if left else beyond, value)
