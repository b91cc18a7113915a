"""Threads of ours: calls get through in order, and one that never returns keeps nobody, nor the
process from ending.
"""

import asyncio
import subprocess
import sys
import threading

import pytest

from selfeng.core.daemon_threads import DaemonThreads


async def test_who_calls_gets_what_the_function_returns_or_raises() -> None:
    threads = DaemonThreads(2, "test")
    assert await threads.run(lambda: 1 + 1) == 2
    with pytest.raises(ZeroDivisionError):
        await threads.run(lambda: 1 // 0)
    assert threads.close(10)


async def test_calls_wait_for_a_thread_in_their_order() -> None:
    threads, seen, free = DaemonThreads(1, "test"), list[int](), threading.Event()
    calls = [threads.run(free.wait), *(threads.run(lambda n=n: seen.append(n)) for n in range(5))]  # type: ignore[misc]
    waiting = [asyncio.ensure_future(call) for call in calls]
    await asyncio.sleep(0)
    waiting[3].cancel()
    await asyncio.wait([waiting[3]])
    free.set()
    await asyncio.wait(waiting)
    assert seen == [0, 1, 3, 4]
    assert threads.close(10)


def test_as_many_calls_as_there_are_threads_run_at_once() -> None:
    threads, meeting = DaemonThreads(3, "test"), threading.Barrier(3, timeout=10)
    assert sorted(call.result(10) for call in [threads.submit(meeting.wait) for _ in range(3)]) == [
        0,
        1,
        2,
    ]
    assert threads.close(10)


def test_closing_does_not_wait_for_a_call_that_never_returns() -> None:
    threads, end = DaemonThreads(1, "test"), threading.Event()
    stuck = threads.submit(end.wait)
    assert not threads.close(0)
    assert threads.submit(lambda: "later").result(10) == "later"
    end.set()
    assert stuck.result(10)
    assert threads.close(10)


def test_a_process_ends_although_a_call_never_returns() -> None:
    program = (
        "import threading; from selfeng.core.daemon_threads import DaemonThreads; "
        "DaemonThreads(1, 'test').submit(threading.Event().wait)"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == 0
