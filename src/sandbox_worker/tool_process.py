"""The process of the tool: it has the tool's source, those of the tools that it imports, and
nothing else of the job.

It loads the module, then calls the function once (`execute`) or answers the tests' requests
(`verify`). Frames, streams and descriptors are the same in both, so that a tool can't tell them
apart.
"""

import contextlib
import inspect
import io
import linecache
import os
import signal
import sys
import types
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import report
from .codec import NotPlain
from .frames import BrokenStream, Channel, Message, pack
from .http_clients import ClientFinder
from .http_transport import TRANSPORT
from .library import LIBRARY, compiled
from .shared_objects import SharedObjects
from .zygote import ForkServer

_PRINTED = 64 * 1024


def run(fork_server: ForkServer) -> None:
    """Do the job that arrives for a process of this zygote, then any further versions of the
    tool.
    """
    report.allow_long_numbers()
    rehearse()
    sys.meta_path.insert(0, ClientFinder())
    control, calls = fork_server.wait(bare=True)
    while (job := control.receive()) is not None:
        if limit := job.get("limit"):
            signal.signal(signal.SIGPROF, _overdue)
            signal.setitimer(signal.ITIMER_PROF, limit, limit)
        control = TRANSPORT.begin(job, control)
        _do(job, control, calls)
        signal.setitimer(signal.ITIMER_PROF, 0)


def _overdue(number: int, frame: types.FrameType | None) -> None:
    raise TimeoutError("it takes too long")


def _do(job: Message, control: Channel, calls: Channel) -> None:
    LIBRARY.provide(job.get("library", {}))
    try:
        module = load(job["name"], job["code"])
    except BaseException as error:  # noqa: BLE001 - whatever the tool's source does while it is loaded is an answer
        control.send(
            {
                "load_failed": report.load_problem("code", error, f"{job['name']}.py"),
                "raised": report.raised(error, job["name"]),
                **_unmatched(),
            }
        )
        return
    receive, send = calls.receive, calls.send
    if "arguments" in job:
        only = iter([{"op": "execute", "name": job["name"], "kwargs": job["arguments"]}])
        receive, send = lambda: next(only, None), control.send
    else:
        control.send({"loaded": True})
    _serve(module, receive, send)


def rehearse() -> list[Message]:
    """Load and call a small tool, so that whatever is loaded or prepared on first use is ready
    before the job; returns the answers.
    """
    module = load("rehearsal", _REHEARSAL)
    shared = SharedObjects(module)
    answers = [_answer(module, shared, {"op": "get", "name": "tool"})]
    call = {"op": "call", "handle": answers[0]["value"][1]["handle"], "kwargs": {}}
    answers += [
        _answer(module, shared, {**call, "args": [["list", items]]})
        for items in ([1], [2], [], [3])
    ]
    for items in ([1], []):
        pack(_answer(module, shared, {"op": "execute", "name": "tool", "kwargs": {"x": items}}))
    del sys.modules["rehearsal"], linecache.cache["rehearsal.py"]
    return answers


_REHEARSAL = """
def tool(x: list[int]) -> dict[str, float]:
    print(x[0])
    return {"a": 1.0}
"""


def load(name: str, source: str) -> ModuleType:
    """Load a module from its source and register it as an ordinary import would."""
    module = types.ModuleType(name)
    module.__file__ = f"{name}.py"
    code = compiled(source, module.__file__)
    sys.modules[name] = module
    exec(code, module.__dict__)  # noqa: S102 - this process exists to run it
    return module


def _serve(
    module: ModuleType, receive: Callable[[], Message | None], send: Callable[[Message], None]
) -> None:
    """Answer the tests' requests until they end, or the judge's one request."""
    shared = SharedObjects(module)
    while (request := receive()) is not None and request["op"] != "leave":
        if request["op"] in ("call", "execute"):
            TRANSPORT.rewind()
        reply = _answer(module, shared, request) | _unmatched()
        try:
            send(reply)
        except BrokenStream as error:
            send(
                {
                    "error": shared.exception(
                        ValueError(f"the tool's value is too large to pass: {error}")
                    )
                }
            )


def _unmatched() -> Message:
    """That a request since the last reply matched no recorded exchange; the tool may have caught
    the error.
    """
    problem, TRANSPORT.unmatched = TRANSPORT.unmatched, ""
    return {"no_exchange": problem} if problem else {}


def _answer(module: ModuleType, shared: SharedObjects, request: Message) -> Message:
    only = request["op"] == "execute"
    printed = _Printed()
    reply: Message = {}
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    function: Any = None
    try:
        with printed:
            if request["op"] in ("call", "execute"):
                function, args, kwargs = _meant(module, shared, request)
                value = function(*args, **kwargs)
            else:
                value = _look_up(module, shared, request)
            if only:
                return {"execution": report.returned(value)}
            reply["value"] = shared.encode(value, lazy=_is_lazy(function))
    except NotPlain as problem:
        reply["refused"] = f"the tool's value can't be handed to the tests: {problem}"
    except BaseException as error:  # noqa: BLE001 - every exception of the tool goes to the test that called it, or to the person
        if only:
            return {"execution": report.raised(error, request["name"])}
        reply["error"] = shared.exception(error)
    if changed := _changed(shared, request, args, kwargs):
        reply["args"] = changed
    if "method" in request:
        with contextlib.suppress(NotPlain):
            reply["owner"] = shared.encode(shared.lent(request["handle"]))
    reply["out"] = printed.texts()
    return reply


def _is_lazy(function: Any) -> bool:
    """Whether a function is annotated as one that returns an iterator."""
    annotations = getattr(function, "__annotations__", None)
    returns = annotations.get("return", "") if isinstance(annotations, dict) else ""
    return any(name in str(returns) for name in ("Iterator", "Iterable", "Generator"))


def _meant(
    module: ModuleType, shared: SharedObjects, request: Message
) -> tuple[Any, list[Any], dict[str, Any]]:
    """The function to call, and its arguments."""
    if request["op"] == "execute":
        function = getattr(module, request["name"], None)
        if not callable(function):
            raise NameError(f"the code defines no function {request['name']}")
        return function, [], request["kwargs"]
    if folder := request.get("folder"):
        os.chdir(folder)
    args = [shared.decode(a) for a in request["args"]]
    kwargs = {k: shared.decode(v) for k, v in request["kwargs"].items()}
    owner = shared.lent(request["handle"])
    if "method" in request:
        return getattr(owner, request["method"]), args, kwargs
    if owner is getattr(module, module.__name__, None) and args:
        args, kwargs = _by_name(owner, args, kwargs)
    return owner, args, kwargs


def _by_name(
    function: Any, args: list[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call by name, as a person's are given, if they fit the signature."""
    with contextlib.suppress(TypeError, ValueError):
        signature = inspect.signature(function)
        by_name = [p for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        if len(args) <= len(by_name) == len(signature.parameters):
            signature.bind(*args, **kwargs)
            return [], dict(zip([p.name for p in by_name], args, strict=False)) | kwargs
    return args, kwargs


def _look_up(module: ModuleType, shared: SharedObjects, request: Message) -> Any:
    match request["op"]:
        case "get":
            return getattr(module, request["name"])
        case "attribute":
            return getattr(shared.lent(request["handle"]), request["name"])
        case _:
            return next(shared.lent(request["handle"]))


def _changed(
    shared: SharedObjects, request: Message, args: list[Any], kwargs: dict[str, Any]
) -> list[Any] | None:
    """The arguments of a call as they are now; None if the call left them unchanged."""
    if request["op"] != "call":
        return None
    before = [*request["args"], *request["kwargs"].values()]
    if all(not isinstance(b, list) for b in before):
        return None
    try:
        after = [shared.encode(a) for a in [*args, *kwargs.values()]]
    except NotPlain:
        return None
    return after if after != before and len(after) == len(before) else None


class _Printed:
    """Passes on what is printed during a call, and keeps it up to a limit."""

    def __init__(self) -> None:
        self._buffers = tuple(map(_Capped, (1, 2)))

    def __enter__(self) -> None:
        self._before = sys.stdout, sys.stderr
        self._streams = [
            io.TextIOWrapper(buffer, "utf-8", "backslashreplace", line_buffering=True)
            for buffer in self._buffers
        ]
        sys.stdout, sys.stderr = self._streams

    def __exit__(self, *_: object) -> None:
        sys.stdout, sys.stderr = self._before
        for stream in self._streams:
            with contextlib.suppress(OSError, ValueError):  # the tool has closed it
                stream.flush()

    def texts(self) -> list[str] | None:
        texts = [buffer.getvalue().decode("utf-8", "replace") for buffer in self._buffers]
        return texts if any(texts) else None


class _Capped(io.BytesIO):
    """Passes all on at once, and keeps the first bytes."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number

    def fileno(self) -> int:
        """Where the output of programs that the tool starts goes."""
        return self._number

    def write(self, data: Any) -> int:
        remaining = content = bytes(data)
        while remaining:
            remaining = remaining[os.write(self._number, remaining) :]
        super().write(content[: max(0, _PRINTED - self.tell())])
        return len(content)

    def close(self) -> None:
        """Stay readable: the text layer closes what it wraps when it is garbage-collected."""
