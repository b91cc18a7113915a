"""Time limits that hold to the end of a run, and say where it stood still.

Both pytest's limit by faulthandler and that of pytest-timeout end at a test's first failure, for
the sake of those who look at it in a debugger; its teardown could then wait for ever. So each
teardown gets both anew. The end of the run, which is the teardown of an interrupted test and the
threads that the process waits for, gets the former alone.
"""

import asyncio
import contextlib
import faulthandler
import gc
import os
import signal
import sys
import traceback
from types import AsyncGeneratorType

import pytest
from pytest_timeout import _get_item_settings

_STDERR = pytest.StashKey[int]()
_AWAITED = ("cr_await", "ag_await", "gi_yieldfrom")
_FRAMES = ("cr_frame", "ag_frame", "gi_frame")


def pytest_configure(config):
    config.stash[_STDERR] = os.dup(2)  # what nobody captures


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item):
    hooks, settings = item.config.pluginmanager.hook, _get_item_settings(item)
    hooks.pytest_timeout_cancel_timer(item=item)
    if settings.timeout:
        hooks.pytest_timeout_set_timer(item=item, settings=settings)
    _end_after_a_while(item.config)
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    _end_after_a_while(session.config)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer():
    """Have the tasks told of before the test ends: the traceback shows no more than that their
    event loop waits.
    """
    found = yield
    end = signal.getsignal(signal.SIGALRM)

    def tell_and_end(number, frame):
        _tell_of_tasks()
        end(number, frame)

    if callable(end):
        signal.signal(signal.SIGALRM, tell_and_end)
    return found


def _end_after_a_while(config):
    if seconds := float(config.getini("faulthandler_timeout")):
        faulthandler.dump_traceback_later(
            seconds, exit=config.getini("faulthandler_exit_on_timeout"), file=config.stash[_STDERR]
        )


def _tell_of_tasks():
    for task in [
        thing for thing in gc.get_objects() if isinstance(thing, asyncio.Task) and not thing.done()
    ]:
        print(f"{task.get_name()} waits here:", file=sys.stderr)
        awaited = task.get_coro()
        while awaited is not None:
            if frame := _first(awaited, _FRAMES):
                traceback.print_stack(frame, limit=1, file=sys.stderr)
            awaited = _first(awaited, _AWAITED) or _generator(awaited)


def _first(thing, names):
    return next(
        (value for name in names if (value := getattr(thing, name, None)) is not None), None
    )


def _generator(step):
    """The asynchronous generator behind a step of it, which Python does not tell."""
    with contextlib.suppress(StopIteration):
        if type(step).__name__.startswith("async_generator_"):
            return next(
                thing for thing in gc.get_referents(step) if isinstance(thing, AsyncGeneratorType)
            )
    return None
