"""Process 1 of the container: it alone talks to the host, and it runs nothing that it was sent.

It has the processes of a job forked, sends `ready`, reads the job's frame and gives each process
its part. It forwards their reports with the nonce of the job, which no other process has seen.
"""

import math
import os
import select
import socket
import time
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from . import confinement, seccomp
from .frames import BrokenStream, FrameReader, Message, pack
from .http_transport import LARGEST_REQUEST, MOST_REQUESTS
from .job_clock import JobClock
from .job_folder import JobFolder, Tell
from .zygote import Child, Forked, ForkServer, Zygote, end

OUTPUT = 64 * 1024
"""Bytes of output that are kept."""

_LONGEST = 32 * 1024
"""Characters of a problem."""
_READ = 64 * 1024
_LINE = 200
"""Characters of a printed line that the host gets while the job runs."""
_LINES = 1.0, 60
"""The least seconds between two such lines, and the share of the job's time so far: long jobs
report fewer.
"""
_HEAD = 64 * 1024
"""Characters of the address and the headers of a request."""
_GATHER = 0.01
"""Seconds for which results are collected before they are sent to the host: each send wakes every
process on the way.
"""


def main() -> None:
    """Serve the host until it hangs up, or a process has done something that would affect later
    ones.
    """
    confinement.hide()
    confinement.ignore_signals()
    confinement.forget_environment()
    try:
        seccomp.restrict()
        _judge(_Host())
    except Forked as forked:
        main, fork_server = forked.main, forked.fork_server
    except BaseException:  # noqa: BLE001 - the host must learn that the judge broke, or it would blame the code
        _say("", {"kind": "broken", "detail": traceback.format_exc()[-2000:]})
        os._exit(0)
    else:
        os._exit(0)
    try:
        main(fork_server)
    except BaseException:  # noqa: BLE001 - this is where the process of a job ends, whatever happens in it
        traceback.print_exc()
        end(70)
    end(0)


def _judge(host: "_Host") -> None:
    {"verify": _verify, "compare": _compare, "execute": _execute}[host.hear()["mode"]](host)


def _verify(host: "_Host") -> None:
    """Verify one suite, in processes that nothing ran in before."""
    tool, tests = _zygotes()
    accused, witness = _pair(tool.become, tests.become)
    _say("", {"kind": "ready"})
    _JobRun(host.hear(), accused, witness).run()
    host.hear()  # a container that ends at once would take time from other jobs


def _compare(host: "_Host") -> None:
    """Run a suite against versions of a tool until the host says `leave`, then the next suite in
    new processes, while nothing of the last is left.
    """
    tool, tests = _zygotes()
    condition, kills = confinement.condition(), confinement.memory_kills()
    nonce = ""
    more = True
    while more:
        accused, witness = _pair(tool.fork, tests.fork)
        if accused.pid < witness.pid:  # the numbers began again: see `seccomp.Fence`
            return
        _say(nonce, {"kind": "ready"})
        job = host.hear()
        while more and "leave" not in job:
            nonce = job["nonce"]
            more = _JobRun(job, accused, witness).run()
            job = host.hear() if more else job
        accused.close()
        witness.close()
        more = more and tests.clean(tool) and _undisturbed(condition, kills)


def _zygotes() -> tuple[Zygote, Zygote]:
    """Of the tool and of the tests, ready. The tool's is the younger one, which can't signal the
    other: see `seccomp.Fence`.
    """
    tests = Zygote(_run_tests, 500)
    tool = Zygote(_run_tool, 1000, tests)
    tool.await_ready()
    tests.await_ready()
    return tool, tests


def _pair(
    tool: Callable[[socket.socket], Child], tests: Callable[[socket.socket], Child]
) -> tuple[Child, Child]:
    """The processes of a tool and of its tests, with a channel between them and an empty folder;
    the arguments make them. The tool's comes last, see `_zygotes`.
    """
    JobFolder().lay_out()
    for_tool, for_tests = socket.socketpair()
    with for_tool, for_tests:
        witness = tests(for_tests)
        return tool(for_tool), witness


def _execute(host: "_Host") -> None:
    """Do one job after the other, each in its own process, while nothing of the last is left; a
    job that follows another without `leave` runs in the same process and folder.
    """
    zygote = Zygote(_run_tool, 1000)
    zygote.await_ready()
    condition, kills = confinement.condition(), confinement.memory_kills()
    nonce = ""
    more = True
    while more:
        folder = JobFolder()
        folder.lay_out()
        for_call, nobody = socket.socketpair()
        call = zygote.fork(for_call)
        for_call.close()
        _say(
            nonce, {"kind": "ready"}
        )  # with the last job's nonce, which a process that outlived its job does not know
        while "put" in (job := host.hear()):
            if "sha256" in job:
                folder.link(job["put"], job["sha256"])
            else:
                folder.put(job["put"], job["data"])
        while more and "leave" not in job:
            nonce = job["nonce"]
            requests = Requests(nonce, host, call) if "network" in job else None
            give_out = partial(_give_out, job, zygote, folder)
            more = _JobRun(job, call, None, give_out, requests).run()
            job = _next(host) if more else job
        call.close()
        nobody.close()
        more = more and zygote.clean() and _undisturbed(condition, kills)


def _next(host: "_Host") -> Message:
    """The message that follows a job. Answers that came too late for it are dropped."""
    while "number" in (message := host.hear()):
        pass
    return message


def _give_out(job: Message, zygote: Zygote, folder: JobFolder, tell: Tell) -> Message:
    """Send the files that the call has left, while no process can change them; returns what the
    job's end says of them.
    """
    if not folder.touched():
        return {}
    if not zygote.stop():
        return {"refused": [["", "the tool's processes could not be ended"]], "unnamed": 0}
    return folder.give_out(job["files"]["count"], job["files"]["size"], tell)


def _undisturbed(condition: tuple[object, ...], kills: int) -> bool:
    return (confinement.condition(), confinement.memory_kills()) == (condition, kills)


def _run_tool(fork_server: ForkServer) -> None:
    from . import tool_process

    tool_process.run(fork_server)


def _run_tests(fork_server: ForkServer) -> None:
    from . import test_process  # pytest is loaded in this process only

    test_process.run(fork_server)


class _JobRun:
    """One job."""

    def __init__(
        self,
        job: Message,
        tool: Child,
        tests: Child | None,
        give_out: Callable[[Tell], Message] | None = None,
        requests: "Requests | None" = None,
    ) -> None:
        self._job = job
        self._requests = requests
        self._nonce = job["nonce"]
        self._tool = tool
        self._tests = tests
        self._give_out = give_out
        self._children = [c for c in (tool, tests) if c]
        self._output = bytearray()
        self._newest = b""
        """The end of what was printed, of a job whose lines the host wants."""
        self._line = ""
        self._kills = confinement.memory_kills()
        self._clock = JobClock(job["timeout"], job["wall"])
        self._line_due = self._clock.started + _LINES[0]
        self._loaded = False
        self._disturbed = False
        self._to_come: list[Any] = []
        """The tests that have no result yet, in the order in which they run; the last one stays."""
        self._problem: str | None = None
        self._no_exchange = ""
        self._load_failed: str | None = None
        self._lost: str | None = None
        """How the tool's process ended, if it did."""
        self._unsaid = b""
        """Frames for the host that are not sent yet."""
        self._due = math.inf

    def run(self) -> bool:
        """Do the job and report its end; whether every process is fit for another job."""
        try:
            self._tool.send(
                {
                    k: self._job[k]
                    for k in (
                        "name",
                        "code",
                        "library",
                        "arguments",
                        "limit",
                        "exchanges",
                        "network",
                    )
                    if k in self._job
                }
            )
            if self._tests:
                self._tests.send(
                    {
                        k: self._job[k]
                        for k in (
                            "name",
                            "tests",
                            "names",
                            "public",
                            "order",
                            "stop_early",
                            "replay",
                        )
                        if k in self._job
                    }
                )
            end = self._watch()
            seconds = time.monotonic() - self._clock.started
            self._drain()
            if self._give_out and "execution" in end:
                end |= self._give_out(self._say)
        except BaseException:  # noqa: BLE001 - see `main`; from here on the host wants a nonce
            self._say({"kind": "broken", "detail": traceback.format_exc()[-2000:]})
            return False
        output = self._output[:OUTPUT].decode("utf-8", "replace")
        if len(self._output) > OUTPUT:
            output += f"\n... (cut at {OUTPUT // 1024} KB)"
        loaded = self._tests is None or self._loaded or self._load_failed is not None
        orderly = loaded and not self._disturbed and self._lost is None
        self._say(
            {
                "kind": "end",
                "output": output,
                "seconds": round(seconds, 6),
                "orderly": orderly,
                "loaded": self._loaded,
                **({"no_exchange": self._no_exchange} if self._no_exchange else {}),
                **end,
            }
        )
        return orderly

    def _say(self, message: Message) -> None:
        self._say_soon(message)
        self._speak()

    def _say_soon(self, message: Message) -> None:
        self._unsaid += _framed(self._nonce, message)
        self._due = min(self._due, time.monotonic() + _GATHER)

    def _speak(self) -> None:
        unsaid, self._unsaid, self._due = self._unsaid, b"", math.inf
        _write(unsaid)

    def _watch(self) -> Message:
        """Pass on the processes' reports until one of them, or a time limit, ends the job."""
        inputs: dict[int, Child | None] = {0: None}
        inputs.update(
            {c.control.fileno(): c for c in self._children} | {c.output: c for c in self._children}
        )
        while remaining := self._clock.seconds_left():
            self._say_line()
            # The tests first: they report which test it is before its call can end the tool.
            for number in sorted(
                self._readable(inputs, remaining), key=lambda n: inputs[n] is self._tool
            ):
                child = inputs[number]
                if child is None:
                    self._hear_host()
                    continue
                if number == child.output:
                    if not self._read_output(child):
                        del inputs[number]
                    continue
                messages = _messages(child)
                if messages is None:
                    del inputs[number]
                    end = self._handle_closed_channel(child)
                else:
                    end = next(
                        (e for m in messages if (e := self._hear(child, m)) is not None), None
                    )
                if end is not None:
                    return end
        end = self._end_report(self._clock.reason(self._where()))
        return end | {"overdue": not self._clock.spent, "starved": self._clock.starved}

    def _readable(self, inputs: Iterable[int], seconds: float) -> list[int]:
        """Wait for so long until one of the descriptors can be read; send what is due meanwhile."""
        if (due := self._due - time.monotonic()) <= 0:
            self._speak()
        outputs = self._requests.outputs() if self._requests else []
        # The host waits while the tool does not take an answer: the judge keeps one at most.
        sources = [number for number in inputs if number or not outputs]
        ready, writable, _ = select.select(
            sources, outputs, [], min(seconds, due) if due > 0 else seconds
        )
        if writable and self._requests:
            self._requests.pass_on()
            self._clock.wait_for_host(self._requests.waits)
        return ready

    def _hear(self, child: Child, message: Message) -> Message | None:
        """Process a message; returns the end of the job if it is one."""
        if isinstance(message.get("no_exchange"), str):
            self._no_exchange = self._no_exchange or message["no_exchange"][:_LONGEST]
        if child is self._tool:
            return self._hear_tool(message)
        if "collected" in message:
            collected = _texts(message["collected"])
            self._say_soon({"kind": "collected", "collected": collected})
            self._to_come = collected or []
        elif "result" in message:
            self._say_soon({"kind": "result", "result": _flat(message["result"])})
            self._to_come = self._to_come[1:] or self._to_come
        elif "replayed" in message:
            self._say_soon({"kind": "replayed", **_replayed(message["replayed"])})
        if "problem" in message and self._problem is None:
            self._problem = _text(message["problem"])
        if "finished" in message:
            self._notice_loss(bool(message.get("tool_gone")))
            self._disturbed = bool(message.get("last"))
            return {"problem": self._lost or self._load_failed or self._problem}
        return None

    def _hear_host(self) -> None:
        if self._requests is None:
            os._exit(0)  # the host hung up, or sent more than it should: no report is needed
        self._requests.answer()
        self._clock.wait_for_host(self._requests.waits)

    def _hear_tool(self, message: Message) -> Message | None:
        if self._requests and "request" in message:
            if (request := self._requests.accept(message)) is None:
                return self._end_report("The tool's process sent a malformed request.")
            self._say({"kind": "request", **request})
            self._clock.wait_for_host(self._requests.waits)
            return None
        if self._tests is None:
            return {"execution": _flat(message.get("execution") or message.get("raised"))}
        if "load_failed" in message and not self._loaded:
            self._load_failed = _text(message["load_failed"])
            self._tests.send({"go": False})
        elif "loaded" in message and not self._loaded:
            self._loaded = True
            self._tests.send({"go": True})
        else:
            self._problem = self._problem or "The tool's process sent a report of its own."
        return None

    def _notice_loss(self, is_reported: bool) -> None:
        """Record that the tool ended during the suite, which spoils the run whatever the tests make
        of it. They may notice before its parent.
        """
        if self._lost is None and (is_reported or self._tool.has_ended()):
            self._tool.settle()
            self._lost = self._loss(self._tool)

    def _handle_closed_channel(self, child: Child) -> Message | None:
        """A process closed its channel."""
        child.settle()
        loss = self._loss(child)
        if self._tests is None or child is self._tests or not self._loaded:
            return self._end_report(self._lost or loss)
        self._lost = loss  # the tests continue and fail: their reports until then are useful
        return None

    def _loss(self, child: Child) -> str:
        if confinement.memory_kills() > self._kills:
            return (
                f"It needed more memory than the {self._job['memory']} MB that the sandbox "
                f"gives{self._where()}."
            )
        whose = "The tests' process" if child is self._tests else "The tool's process"
        return f"{whose} {child.reason()}{self._where()}."

    def _end_report(self, reason: str) -> Message:
        self._disturbed = True
        return {"problem": reason} if self._tests else {"killed": reason}

    def _where(self) -> str:
        return f", in {self._to_come[0][:_LONGEST]}" if self._to_come else ""

    def _read_output(self, child: Child) -> bool:
        try:
            data = os.read(child.output, _READ)
        except BlockingIOError:
            return True
        self._output += data[: max(0, OUTPUT + 1 - len(self._output))]
        if "lines" in self._job:
            self._newest = (self._newest + data)[-_READ // 8 :]
        return bool(data)

    def _say_line(self) -> None:
        """Report the line that was printed last, unless one was reported a moment ago."""
        if not self._newest or (now := time.monotonic()) < self._line_due:
            return
        lines = self._newest.decode("utf-8", "replace").replace("\r", "\n").split("\n")
        line = next((text[:_LINE] for line in reversed(lines) if (text := line.strip())), "")
        if line and line != self._line:
            self._line = line
            self._say_soon({"kind": "line", "line": line})
            least, share = _LINES
            self._line_due = now + max(least, (now - self._clock.started) / share)

    def _drain(self) -> None:
        """Read what is in the pipes now, but no more than is kept."""
        for child in self._children:
            for _ in range(2 + OUTPUT // _READ):
                before = len(self._output)
                if not self._read_output(child) or len(self._output) == before:
                    break


class Requests:
    """The HTTP requests of a call to the host, and the answers to them."""

    def __init__(self, nonce: str, host: "_Host", tool: Child) -> None:
        self._nonce, self._host, self._tool = nonce, host, tool
        self._count = 0
        self._open: set[int] = set()
        self._unsent = bytearray()
        """Answers that the tool's process has not taken yet, which it may never do."""

    def accept(self, message: Message) -> Message | None:
        """The request in a message of the tool's process, for the host; None if it is malformed."""
        match message:
            case {
                "number": int(number),
                "request": {
                    "method": str(method),
                    "url": str(url),
                    "headers": list(headers),
                    "body": str(body),
                },
            } if (
                number == self._count + 1 <= MOST_REQUESTS
                and len(body) <= LARGEST_REQUEST * 4 // 3 + 4
                and all(isinstance(h, list) and len(h) == 2 and _texts(h) for h in headers)
                and len(method + url) + sum(len(n) + len(v) for n, v in headers) <= _HEAD
            ):
                self._count += 1
                self._open.add(self._count)
                request = {"method": method, "url": url, "headers": headers, "body": body}
                return {"number": self._count, "request": request}
        return None

    def answer(self) -> None:
        """Take the answers that the host has sent. The judge ends when the host has hung up, or
        sent something else.
        """
        for message in self._host.hear_some():
            if message.pop("nonce", "") != self._nonce or message["number"] not in self._open:
                os._exit(0)
            self._open.remove(message["number"])
            self._unsent += pack(message)
        self.pass_on()

    @property
    def waits(self) -> bool:
        """Whether the tool waits for the host, and not the host for the tool."""
        return bool(self._open) and not self._unsent

    def outputs(self) -> list[socket.socket]:
        """Where answers wait to be written."""
        return [self._tool.control] if self._unsent else []

    def pass_on(self) -> None:
        """Write as much as the tool's process takes."""
        try:
            while self._unsent:
                del self._unsent[: self._tool.control.send(self._unsent, socket.MSG_DONTWAIT)]
        except BlockingIOError:
            return
        except OSError:
            self._unsent.clear()  # the process is gone


def _messages(child: Child) -> list[Message] | None:
    """The messages of a process since the last read; None if it has closed its channel, or sent
    invalid data.
    """
    try:
        data = child.control.recv(_READ)
        return child.reader.feed(data) if data else None
    except (OSError, BrokenStream):
        return None


def _flat(fields: Any) -> Message | None:
    """The fields that are not containers: a forged frame could be nested too deeply to be read."""
    return (
        {name: value for name, value in fields.items() if not isinstance(value, dict | list)}
        if isinstance(fields, dict)
        else None
    )


def _replayed(report: Any) -> Message:
    """A report of replays, with what is not as it should be left out."""
    report = report if isinstance(report, dict) else {}
    counts = {n: report.get(n) for n in ("tried", "noticed") if isinstance(report.get(n), int)}
    refused = report.get("refused")
    pairs = refused if isinstance(refused, list) and all(map(_texts, refused)) else None
    return {**counts, "refused": pairs, "gaps": _texts(report.get("gaps"))}


def _texts(values: Any) -> list[str] | None:
    return (
        values
        if isinstance(values, list) and all(isinstance(value, str) for value in values)
        else None
    )


def _text(value: Any) -> str:
    return value[:_LONGEST] if isinstance(value, str) and value else "It gave no reason."


def _say(nonce: str, message: Message) -> None:
    _write(_framed(nonce, message))


def _framed(nonce: str, message: Message) -> bytes:
    return pack({"nonce": nonce, **message})


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


class _Host:
    """Reads the host's frames."""

    def __init__(self) -> None:
        self._reader = FrameReader()
        self._heard: list[Message] = []

    def hear(self) -> Message:
        """The next frame; the judge ends when the host has hung up."""
        while not self._heard:
            self._heard = self.hear_some()
        return self._heard.pop(0)

    def hear_some(self) -> list[Message]:
        """The frames that come with the next bytes."""
        data = os.read(0, _READ)
        if not data:
            os._exit(0)
        return self._reader.feed(data)
