"""Process 1 of the container: it alone speaks to the host, and it runs nothing that it was sent.

It forks the tool's process and the tests' process, says `ready`, reads the one job frame, hands each process its part, and
passes on what they report under the nonce of the job, which no other process has seen.
"""

import functools
import os
import select
import socket
import sys
import time
import traceback
from typing import Any

from . import confinement
from .child import Child, fork
from .frames import BrokenStream, Channel, FrameReader, Message, pack

OUTPUT = 64 * 1024
"""Bytes of output that are kept."""

_READ = 64 * 1024


def main(mode: str) -> None:
    """Judge one job; `mode` is `verify` or `execute`."""
    confinement.hide()
    confinement.ignore_signals()
    judge = _Judge(*_fork(mode))
    try:
        judge.run()
    except BaseException:  # noqa: BLE001 - the host must learn that the judge broke, or it would blame the code
        judge.say({"kind": "broken", "detail": traceback.format_exc()[-2000:]})
    os._exit(0)


def _fork(mode: str) -> tuple[Child, Child | None]:
    if mode == "execute":
        return fork(functools.partial(_run_tool, None), (), 1000), None
    for_tool, for_tests = socket.socketpair()
    tool = fork(functools.partial(_run_tool, for_tool), (for_tests,), 1000)
    tests = fork(functools.partial(_run_tests, for_tests), (for_tool, tool.control, tool.output), 500)
    for_tool.close()
    for_tests.close()
    return tool, tests


def _run_tool(calls: socket.socket | None, control: Channel) -> None:
    from . import tool_process

    tool_process.run(control, Channel(calls) if calls else None)


def _run_tests(calls: socket.socket, control: Channel) -> None:
    from . import test_process  # pytest is loaded in this process only

    test_process.run(control, Channel(calls))


class _Judge:
    def __init__(self, tool: Child, tests: Child | None) -> None:
        self._tool = tool
        self._tests = tests
        self._children = [c for c in (tool, tests) if c]
        self._output = bytearray()
        self._nonce = ""
        self._job: Message = {}
        self._started = 0.0
        self._loaded = False
        self._running = ""
        self._problem: str | None = None
        self._lost: str | None = None
        """How the tool's process ended, if it did."""

    def run(self) -> None:
        """Do one job and report its end."""
        self.say({"kind": "ready", "python": sys.version.split()[0]})
        self._job = _read_job()
        self._nonce = self._job["nonce"]
        self._started = time.monotonic()
        self._tool.send({k: self._job[k] for k in ("name", "code", "arguments") if k in self._job})
        end = self._watch()
        self._drain()
        for child in self._children:
            child.kill()
        output = self._output[:OUTPUT].decode("utf-8", "replace")
        if len(self._output) > OUTPUT:
            output += f"\n... (cut at {OUTPUT // 1024} KB)"
        self.say({"kind": "end", "output": output, "seconds": round(time.monotonic() - self._started, 6), **end})

    def say(self, message: Message) -> None:
        data = pack({"nonce": self._nonce, **message})
        while data:
            data = data[os.write(1, data) :]

    def _watch(self) -> Message:
        """Pass on what the processes report until one of them, or the clock, ends the job."""
        deadline = self._started + float(self._job["timeout"])
        inputs: dict[int, Child | None] = {0: None}
        inputs.update({c.control.fileno(): c for c in self._children} | {c.output: c for c in self._children})
        while (left := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select(list(inputs), [], [], left)
            for number in ready:
                child = inputs[number]
                if child is None:
                    os._exit(0)  # the host hung up, or sent more than it should: nobody waits for a report
                if number == child.output:
                    if not self._read_output(child):
                        del inputs[number]
                    continue
                messages = _messages(child)
                if messages is None:
                    del inputs[number]
                    end = self._gone(child)
                else:
                    end = next((e for m in messages if (e := self._hear(child, m)) is not None), None)
                if end is not None:
                    return end
        return self._ended(f"It ran longer than {self._job['timeout']:g} seconds{self._where()}.")

    def _hear(self, child: Child, message: Message) -> Message | None:
        """Take in a message; the end of the job if it is one."""
        if child is self._tool:
            return self._hear_tool(message)
        for kind in ("collected", "result"):
            if kind in message:
                self.say({"kind": kind, kind: message[kind]})
        self._running = str(message.get("started", self._running))
        if "problem" in message and self._problem is None:
            self._problem = str(message["problem"])
        if "finished" in message:
            self._notice_loss()
            return {"problem": self._lost or self._problem}
        return None

    def _hear_tool(self, message: Message) -> Message | None:
        if self._tests is None:
            return {"execution": message.get("execution") or message.get("raised")}
        if "load_failed" in message:
            return {"problem": str(message["load_failed"])}
        if "loaded" in message and not self._loaded:
            self._loaded = True
            self._tests.send({"name": self._job["name"], "tests": self._job["tests"]})
        return None

    def _notice_loss(self) -> None:
        """A tool that ended during the suite spoils it, whatever the tests made of that."""
        if self._lost is None and self._tool.ended():
            self._lost = self._loss(self._tool)

    def _gone(self, child: Child) -> Message | None:
        """A process closed its channel."""
        child.settle()
        loss = self._loss(child)
        if self._tests is None or child is self._tests or not self._loaded:
            return self._ended(self._lost or loss)
        self._lost = loss  # the tests go on, and fail: what they report until then is worth having
        return None

    def _loss(self, child: Child) -> str:
        if confinement.memory_kills():
            return f"It needed more memory than the {self._job['memory']} MB that the sandbox gives{self._where()}."
        whose = "The tests' process" if child is self._tests else "The tool's process"
        return f"{whose} {child.reason()}{self._where()}."

    def _ended(self, reason: str) -> Message:
        return {"problem": reason} if self._tests else {"killed": reason}

    def _where(self) -> str:
        return f", in {self._running}" if self._running else ""

    def _read_output(self, child: Child) -> bool:
        try:
            data = os.read(child.output, _READ)
        except BlockingIOError:
            return True
        self._output += data[: max(0, OUTPUT + 1 - len(self._output))]
        return bool(data)

    def _drain(self) -> None:
        """Take what is in the pipes now, but no more than what is kept."""
        for child in self._children:
            for _ in range(2 + OUTPUT // _READ):
                before = len(self._output)
                if not self._read_output(child) or len(self._output) == before:
                    break


def _messages(child: Child) -> list[Message] | None:
    """What a process has said since; None when it has closed its channel, or speaks nonsense."""
    try:
        data = child.control.recv(_READ)
        return child.reader.feed(data) if data else None
    except (OSError, BrokenStream):
        return None


def _read_job() -> dict[str, Any]:
    reader = FrameReader()
    while True:
        data = os.read(0, _READ)
        if not data:
            os._exit(0)
        messages = reader.feed(data)
        if messages:
            return messages[0]
