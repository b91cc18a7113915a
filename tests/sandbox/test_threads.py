"""A tool reaches no thread of the tests' process, one that starts after it included: such threads
have higher numbers than the tool.
"""

import ctypes
import os
from typing import TYPE_CHECKING

import pytest

from sandbox_worker.bpf import NUMBERS

if TYPE_CHECKING:
    from tests.sandbox.backends import Behind
    from tests.sandbox.conftest import Verify

_SCOPED_SIGNALS = 6
"""The version of Landlock that brought them."""

CALLS = {
    "kill": "call('kill', tid, number)",
    "tkill": "call('tkill', tid, number)",
    "tgkill": "call('tgkill', tid, tid, number)",
    "tgkill of its group": "call('tgkill', tid - 1, tid, number)",
    "a queued signal": "call('rt_sigqueueinfo', tid, number, info(number))",
    "a queued signal to a thread": "call('rt_tgsigqueueinfo', tid, tid, number, info(number))",
    "a child's": "child(tid, number)",
}
CODE = """
import ctypes, errno, os, struct
NUMBERS = {numbers}
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    ctypes.set_errno(0)
    return errno.errorcode[ctypes.get_errno()] if libc.syscall(NUMBERS[name], *arguments) else "done"
def info(number):
    return ctypes.create_string_buffer(struct.pack("iii", number, 0, -1), 128)
def child(tid, number):
    if (pid := os.fork()) == 0:
        os._exit(0 if call("kill", tid, number) == "done" else 1)
    return "done" if os.waitpid(pid, 0)[1] == 0 else "EPERM"
def solution(tid, number): return {call}
"""
SUITE = """
import threading
import pytest
from solution import solution

@pytest.mark.parametrize("number", [0, 10, 19, 9])
def test_a(number):
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert solution(thread.native_id, number) in ("EPERM", "ESRCH")
        assert thread.is_alive()
    finally:
        done.set()
        thread.join()
"""


def landlock() -> int:
    number = NUMBERS[os.uname().machine]["landlock_create_ruleset"]
    return int(ctypes.CDLL(None).syscall(number, 0, 0, 1))


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.skipif(
    landlock() < _SCOPED_SIGNALS, reason="this kernel can't tell a thread from a process"
)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
async def test_a_tool_cannot_signal_threads_that_start_later(
    verify: "Verify", backend: "Behind", call: str
) -> None:
    """On gVisor, which can't tell a thread from a process, such a tool ends its tests at most."""
    wanted = {
        name: NUMBERS[os.uname().machine][name]
        for name in ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
    }
    verdict = await verify(CODE.format(numbers=wanted, call=call), SUITE)  # type: ignore[misc]
    if backend.name == "runsc" and not verdict.passed:
        assert verdict.problem
        assert verdict.problem.startswith("The tests' process was ended by ")
        return
    assert (verdict.passed, verdict.problem) == (True, None), verdict
