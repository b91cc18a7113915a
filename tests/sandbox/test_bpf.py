"""Filters of system calls, run on a BPF machine of a few lines."""

import os
import struct
import subprocess
import sys

import pytest

from sandbox_worker.bpf import (
    ALLOW,
    EPERM,
    KILL,
    NUMBERS,
    Argument,
    Rule,
    program,
    refuse,
)

ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ENOSYS = refuse(38)
REFUSED = refuse(EPERM)


def verdict(
    filter_: bytes,
    call: str | int,
    *arguments: int,
    machine: str = "x86_64",
    arch: int | None = None,
) -> int:
    """The filter's verdict on a call, by an interpreter of the instructions that filters use, as
    `linux/filter.h` describes them.
    """
    number = NUMBERS[machine][call] if isinstance(call, str) else call
    data = struct.pack(
        "=IIQ6Q", number, arch or ARCH[machine], 0, *(a % 2**64 for a in (*arguments, *[0] * 6)[:6])
    )
    instructions = list(struct.iter_unpack("=HBBI", filter_))
    accumulator = place = 0
    while True:
        code, true, false, operand = instructions[place]
        place += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", data, operand)
            case 0x54:
                accumulator &= operand
            case 0x06:
                return operand
            case 0x15:
                place += true if accumulator == operand else false
            case 0x25:
                place += true if accumulator > operand else false
            case 0x35:
                place += true if accumulator >= operand else false


@pytest.mark.parametrize("machine", NUMBERS)
def test_the_first_rule_that_fits_decides(machine: str) -> None:
    rules = [
        Rule("socket", ALLOW, (Argument(0, (1,)),)),
        Rule("socket", REFUSED),
        Rule("ptrace", KILL),
    ]
    made = program(rules, machine)
    assert [verdict(made, "socket", domain, machine=machine) for domain in (1, 2)] == [
        ALLOW,
        REFUSED,
    ]
    assert [verdict(made, call, machine=machine) for call in ("ptrace", "read")] == [KILL, ALLOW]


def test_conditions_compare_what_the_mask_shows() -> None:
    made = program(
        [
            Rule("clone", REFUSED, (Argument(0, (0,), mask=0xF0, unless=True),)),
            Rule("socket", REFUSED, (Argument(0, (1, 2, 10), unless=True),)),
            Rule("ioctl", REFUSED, (Argument(1, (5, 6, 7)), Argument(0, (3,)))),
            Rule("read", KILL),
        ],
        "x86_64",
    )
    assert [verdict(made, "clone", flags) for flags in (0x0F, 0x10, 0xFF, 2**32 + 0x0F)] == [
        ALLOW,
        REFUSED,
        REFUSED,
        ALLOW,
    ]
    assert [verdict(made, "socket", n) for n in (1, 2, 10, 3, 0)] == [
        ALLOW,
        ALLOW,
        ALLOW,
        REFUSED,
        REFUSED,
    ]
    assert [verdict(made, "ioctl", 3, n) for n in (4, 5, 6, 7, 8, 2**40 + 5)] == [
        ALLOW,
        REFUSED,
        REFUSED,
        REFUSED,
        ALLOW,
        REFUSED,
    ]
    assert verdict(made, "ioctl", 4, 5) == ALLOW
    assert verdict(made, "read") == KILL


def test_what_is_no_call_of_this_machine_is_refused_whatever_the_rules() -> None:
    made = program([Rule("no_such_call", KILL)], "x86_64")
    assert verdict(made, "read", arch=0x40000003) == KILL
    assert [verdict(made, n) for n in (0x40000000, 0x7FFFFFFF, 10_000, 0xFFFFFFFF)] == [ENOSYS] * 4
    assert verdict(program([], "x86_64", otherwise=REFUSED), "read") == REFUSED


def test_numbers_are_those_of_the_kernel() -> None:
    x86, arm = NUMBERS["x86_64"], NUMBERS["aarch64"]
    assert [
        x86[n] for n in ("read", "clone", "bpf", "statx", "io_uring_setup", "clone3", "futex_waitv")
    ] == [
        0,
        56,
        321,
        332,
        425,
        435,
        449,
    ]
    assert [
        arm[n]
        for n in ("io_setup", "clone", "bpf", "statx", "io_uring_setup", "clone3", "futex_waitv")
    ] == [
        0,
        220,
        280,
        291,
        425,
        435,
        449,
    ]
    assert (max(x86.values()), max(arm.values()), "fork" in arm) == (469, 469, False)


@pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine not in NUMBERS, reason="filters are for Linux"
)
def test_the_kernel_takes_a_filter_and_keeps_to_it() -> None:
    """In a process of its own, since nothing takes a filter away again."""
    code = """
import ctypes, os, sys
from sandbox_worker.bpf import Argument, Rule, program, refuse
made = program([Rule("getpgid", refuse(7)), Rule("kill", refuse(8), (Argument(1, (0,), unless=True),))], os.uname().machine)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(Program(len(made) // 8, made)), 0, 0) == 0
def call(function, *arguments):
    return ctypes.get_errno() if function(*arguments) == -1 else 0
print(call(libc.getpgid, 0), call(libc.kill, os.getpid(), 0), call(libc.kill, os.getpid(), 9))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("7 0 8\n", "")
