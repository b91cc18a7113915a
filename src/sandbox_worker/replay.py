"""Replays: whether the tests of a suite depend on what the tool did.

A run records the outcome of every call. Then each test runs again and again without the tool: once
with the recorded outcomes, as a control, and then with one of them altered. A test that passes
whatever a call returned has not looked at it. An outcome that is empty, None or not a number is
evidence only if nothing else in its place passes; any other one has to be noticed when it changes.
"""

import ast
import json
import os
import random
import signal
import stat
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from . import altering, codec
from .altering import Alternatives, is_degenerate
from .frames import Message
from .tool_proxy import ToolLink

_CONTROL = 2.0
"""Seconds of processor time of a replay with nothing altered."""
_SECONDS, _SLOWER = 0.1, 10
"""Of one with something altered: so much more, and so many times; one that takes longer has failed.
"""
_MOST = 1000
"""Replays of a suite."""
_LEAST = 100
"""Replays that each test may have, as long as any are left."""
_CALLS = 12
"""Calls of a test that are looked at: those with degenerate outcomes first."""
_PARTS = 6
"""Degenerate parts of an outcome that are looked at."""
_FILES = 200
"""Files of which the content is recorded."""
_LARGEST = 2**20
_NEAR = 1e-6
_ASKED = 30
"""Other arguments for a method."""
_SHOWN = 60
_DIRECTORY = ["directory", None]
_COLLECTING = {"append", "add", "extend", "update"}
_READING = {"capsys", "capfd"}
"""Fixtures with which a test reads what is printed."""
_MUTABLE = {"list", "dict", "set", "bytearray", "deque", "OrderedDict", "defaultdict", "Counter"}
_WATCHED = {"list", "tuple", "set", "frozenset", "dict", "float", "NoneType"}


class NoRecord(BaseException):
    """A test calls the tool as the recorded run did not."""


class Overdue(BaseException):
    """A replay takes too long."""


class Tests(Protocol):
    """The suite, as far as replays need it."""

    source: str
    function: str

    def tests(self) -> dict[str, frozenset[str]]:
        """The fixtures of each of its tests."""
        ...

    def reload(self) -> None:
        """Load it again, without anything that an earlier run left in it."""
        ...

    def run(self, test: str, traced: bool = False) -> "Ended": ...


@dataclass
class Ended:
    """How a test ended."""

    passed: bool
    line: int = 0
    """The line of the test that failed; 0 if none did."""
    lines: set[int] = field(default_factory=set)
    """The lines of the suite that were run, where they were traced."""


@dataclass(frozen=True)
class RecordedCall:
    """A call of the tool in a test."""

    key: str
    number: int
    """Of the calls with that key in the test, counted from 0; -1: all of them, as they ended
    alike.
    """
    request: Message
    outcome: Message


@dataclass
class _Record:
    """One test of the recorded run."""

    calls: dict[str, list[Message]] = field(default_factory=dict)
    places: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    """The keys and numbers of the calls of each function, in order."""
    chance: Any = None
    lent: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    """The texts and copies of the objects that were there at its start."""


class Recording:
    """Passes requests on to the tool, and keeps what came of them."""

    def __init__(self, link: ToolLink) -> None:
        self._link = link
        self.there = _files()
        """The files that were there before."""
        self.tests: dict[str, _Record] = {}
        self.begin("")

    def begin(self, test: str) -> None:
        """Start a test, "" the loading of the suite."""
        self._now = self.tests[test] = _Record(chance=_chance(), lent=self._link.objects.copies())
        _name_folders(test)

    def answer(self, request: Message) -> Message | None:
        before = _files()
        reply = self._link.ask(request)
        if reply is not None:
            outcome = {k: v for k, v in reply.items() if v is not None or k == "value"}
            if changes := _file_changes(before, _files()):
                outcome["files"] = changes
                outcome["there"] = [path for path in changes if path in before]
            key = _key(request)
            outcomes = self._now.calls.setdefault(key, [])
            places = self._now.places.setdefault(_place(request), [])
            places.append((key, len(outcomes)))
            outcomes.append(outcome)
        return reply


class Replays:
    def __init__(self, suite: Tests, link: ToolLink, recording: Recording, thorough: bool) -> None:
        """`thorough`: try every alteration, not only until one is noticed."""
        self._suite, self._link, self._recorded = suite, link, recording.tests
        self._there = recording.there
        self._thorough, self._pool = thorough, Alternatives(suite.source)
        self._runs_left, self._within = _MOST, _LEAST
        self._always = self._settled_outcomes()
        self._blind = self._blind_methods()
        self._deaf = {json.loads(key)["handle"] for key in self._blind}
        self._reload = any('"call"' in key[:16] for key in self._recorded[""].calls)
        self._emptied: dict[str, bool] = {}
        """Whether a test notices that a call comes back empty, by the call's name."""
        self._kinds: dict[str, bool] = {}
        """Whether a kind of alteration is noticed by some test."""
        self.refused: dict[str, str] = {}
        """Why tests prove nothing, a sentence for each."""
        self._circular: dict[str, str] = {}
        """The tests whose expectation comes from a changed argument, with the reason."""
        self._by_design = False
        """Whether a test looks at a changed argument alone, so that the tool should change it."""
        self._blocks = _blocks(suite.source)
        alone = {
            node.lineno
            for node in ast.walk(ast.parse(suite.source))
            if isinstance(node, ast.If) and not node.orelse and _looks(node.body)
        }
        self._alone = [block for block in self._blocks[False] if block[0] in alone]
        """The conditions without an alternative."""
        self._lines: dict[str, set[int]] = {}
        """The lines that the cases of a test function run."""
        self._evidence: dict[str, bool] = {}
        """Whether a test function looks at something, in one of its cases; only those that could be
        run again.
        """

    def report(self) -> Message:
        signals = signal.SIGPROF, signal.SIGALRM
        before = [signal.signal(number, _ring) for number in signals]
        self._link.answer = self._serve
        _remove_new(self._there)
        try:
            self._tests = self._suite.tests()
            tests = list(self._tests)
            for number, test in enumerate(tests):
                share = self._runs_left // (len(tests) - number)
                self._within = min(self._runs_left, max(_LEAST, share))
                self._look_at(test)
            if not self._by_design:
                self.refused = {**self._circular, **self.refused}
            blocks = [("loop", *block) for block in self._blocks[True]]
            blocks += [("condition", *block) for block in self._alone]
            shared = set[int]().union(*self._lines.values())
            test_lines = _lines_of_tests(self._suite.source)
            for function, lines in self._lines.items():
                for what, header, body in blocks:
                    run = (
                        lines if header in test_lines else shared
                    )  # another test may run a helper's
                    if header in lines and body not in run:
                        self.refused.setdefault(
                            function,
                            f"the body of the {what} in line {header} never runs in {function}, so "
                            "what it looks at is not tested; compare the whole result with a "
                            "literal",
                        )
            for function, looks in self._evidence.items():
                if not looks:
                    self.refused.setdefault(
                        function,
                        f"{function} passes whatever {self._suite.function} does; compare what it "
                        "returns with a literal",
                    )
            if not self._evidence and tests:
                self.refused[tests[0]] = (
                    "no test passes again with the recorded outcomes; write out what the tests "
                    "use, so that each run makes the same calls"
                )
        finally:
            for number, handler in zip(signals, before, strict=True):
                signal.signal(number, handler)
        gaps = [
            f"no test notices when what {name} returns comes back empty"
            for name, noticed in self._emptied.items()
            if not noticed
        ]
        return {
            "tried": len(self._kinds),
            "noticed": sum(self._kinds.values()),
            "refused": [list(pair) for pair in self.refused.items()],
            "gaps": gaps,
        }

    def _look_at(self, test: str) -> None:
        """Whether a test looks at what the tool did."""
        passed, calls = self._control(test)
        if not passed:
            return
        function = test.partition("[")[0]
        self._evidence.setdefault(function, False)
        for call in self._select_calls(calls):
            for problem in self._look_at_call(test, call):
                if problem:
                    self.refused[test] = problem
                    return
                self._evidence[function] |= call.key not in self._blind
        self._compare(test, calls)

    def _control(self, test: str) -> tuple[bool, list[RecordedCall]]:
        """Whether a test passes with the recorded outcomes, and its calls."""
        self._seconds = _CONTROL
        self._branches = set[int]()
        result = self._run(test, traced=True)
        if not result and not self._reload:
            self._reload = True
            result = self._run(test, traced=True)
        if not (result and result.passed):
            return False, []
        lines = result.lines
        self._lines.setdefault(test.partition("[")[0], set()).update(lines)
        self._branches = {b for h, b in self._blocks[False] if h in lines and b not in lines}
        calls = [self._call(key, number) for key, number in self._served]
        return True, list({(c.key, c.number): c for c in calls}.values())

    def _call(self, key: str, number: int) -> RecordedCall:
        outcome = self._outcome(self._test, key, number)
        assert outcome is not None
        request = json.loads(key)
        if self._tests[self._test] & _READING and "args" in request:
            outcome = {"out": ["", ""], **outcome}
        return RecordedCall(key, -1 if key in self._always else number, request, outcome)

    def _select_calls(self, calls: list[RecordedCall]) -> list[RecordedCall]:
        calls = [c for c in calls if c.request["op"] != "get"]
        odd = [c for c in calls if _degenerate(c)]
        plain = [c for c in calls if c not in odd]
        return [*altering.spread(odd, _CALLS), *altering.spread(plain, _CALLS)]

    def _look_at_call(self, test: str, call: RecordedCall) -> Iterator[str]:
        """For each look of the test at the call "", or the reason why the test is refused."""
        elements = self._pool.elements(call.request)
        excused = _is_excused(call)
        if call.request["op"] == "next" and "error" in call.outcome and call.number <= 0:
            first = replace(call, number=0)
            passes = [self._passes(test, first, {"value": e}) for e in elements[:_CALLS]]
            if any(passes) and not all(passes):
                yield _unseen(test, "what is iterated over", "")
            elif not any(passes):
                yield ""
        for root in _roots(call):
            node = altering.at(call.outcome, root)
            subject = self._subject(call, root)
            if is_degenerate(node):
                looked = self._settled(test, call, root, elements)
                if looked is False and not excused:
                    yield _unseen(test, subject, node)
                if looked:
                    yield ""
                continue
            inner = list(altering.parts(call.outcome, root))
            odd = [p for p in inner if is_degenerate(altering.at(call.outcome, p))]
            for path in altering.spread(odd, _PARTS):
                looked = self._settled(test, call, path, elements)
                if looked is False and not excused:
                    part = altering.at(call.outcome, path)
                    yield _unseen(test, f"a part of {subject}", part)
                if looked:
                    yield ""
            spots = [(p, s) for p in inner for s in altering.spots(altering.at(call.outcome, p))]
            for path, spot in altering.spread(spots, _PARTS):
                if self._settled_text(test, call, path, spot, elements) is False:
                    yield _unseen(test, f"a part of {subject}", None)
            if self._notices(test, call, root, elements):
                yield ""
                row = altering.first_row(node)
                rows = [altering.replaced(call.outcome, root, row(e)) for e in elements if row]
                if any(self._passes(test, call, altered) for altered in rows if self._within > 0):
                    yield _unseen(test, subject, "")
        for altered in _changed_arguments(call):
            if not self._passes(test, call, altered):
                yield ""
                return

    def _notices(
        self, test: str, call: RecordedCall, root: altering.Path, elements: list[Any]
    ) -> bool:
        """Whether some alteration of a part fails the test."""
        name, noticed_one = self._name(call), False
        for what, altered in self._alterations(call, root, elements):
            emptied = what == altering.EMPTIED and root == ("value",)
            kind = f"{name} {root[0]} {what}"
            if self._thorough and self._kinds.get(kind) and noticed_one:
                continue
            noticed = not self._passes(test, call, altered)
            self._kinds[kind] = self._kinds.get(kind, False) or noticed
            if emptied:
                self._emptied[name] = self._emptied.get(name, False) or noticed
            noticed_one = noticed_one or noticed
            if (noticed_one and not self._thorough and not emptied) or self._within <= 0:
                break
        return noticed_one

    def _alterations(
        self, call: RecordedCall, root: altering.Path, elements: list[Any]
    ) -> Iterator[altering.Alteration]:
        outcome = call.outcome
        if root == ("error",):
            yield "is returned instead", {**_without(outcome, "error"), "value": None}
            error_class = {"module": "builtins", "kind": "exception", "bases": []}
            error_class |= dict.fromkeys(("qualname", "name"), "BufferError")
            yield (
                "is of another class",
                altering.replaced(outcome, ("error", 1, "class"), error_class),
            )
        if root == ("value",) and not self._emptied.get(self._name(call), False):
            for emptied in altering.without_content(outcome["value"]):
                yield altering.EMPTIED, {**outcome, "value": emptied}
        if root[0] == "args":
            yield "is left as it was", _without(outcome, "args")
        if root[0] == "files":
            yield "is not written", altering.replaced(outcome, root, None)
        yield from (
            (what, altered)
            for what, altered in altering.alterations(outcome, root, elements)
            if what != altering.EMPTIED or root != ("value",)
            if altered.get("value", 0) is not None or not self._is_asked(outcome)
        )

    def _is_asked(self, outcome: Message) -> bool:
        """Whether an object has been asked by methods that compare nothing."""
        value = outcome.get("value")
        return isinstance(value, list) and _is_object(value) and value[1]["handle"] in self._deaf

    def _settled(
        self, test: str, call: RecordedCall, path: altering.Path, elements: list[Any]
    ) -> bool | None:
        """Whether a test looks at a degenerate part: False if it passes with something else there
        that it uses, None if it does not use it.
        """
        node = altering.at(call.outcome, path)
        odd = altering.odd(node)
        watched = odd[1] in _WATCHED and path[0] != "args"
        if watched:
            if self._passes(test, call, altering.replaced(call.outcome, path, odd)):
                return None
            if not self._link.objects.touched and node is not None:
                return True
        results = list[bool]()
        substitutes = list(altering.alternatives(node, elements))
        if not watched:
            substitutes = altering.spread(substitutes, 4 * _CALLS if path[0] == "files" else _CALLS)
        for substitute in filter(self._can_pass, substitutes):
            if self._within <= 0:
                return None
            results.append(
                self._passes(test, call, altering.replaced(call.outcome, path, substitute))
            )
            if self._entered:
                return False
            if results[-1] and watched:
                return False
        if not results:
            return None
        return (None if all(results) else False) if any(results) else True

    def _settled_text(
        self,
        test: str,
        call: RecordedCall,
        path: altering.Path,
        spot: Callable[[Any], Any],
        elements: list[Any],
    ) -> bool | None:
        """The same for a degenerate place within a text."""

        def passes(new: Any) -> bool:
            return self._passes(test, call, altering.replaced(call.outcome, path, new))

        if passes(spot(altering.ODD)):
            return None
        substitutes = (e for e in elements if not altering.is_odd_text(e))
        return not any(passes(spot(element)) for element in substitutes if self._within > 0)

    def _compare(self, test: str, calls: list[RecordedCall]) -> None:
        """Note whether what a test expects comes from what the tool did to its arguments."""
        changing = [
            c for c in calls if c.outcome.get("value") is not None and _withheld(c) != c.outcome
        ]
        if not changing:
            return
        result = self._run(test, {(c.key, c.number): _withheld(c) for c in changing})
        if result is None or result.passed:
            return
        if _uses(self._suite, result.line):
            self._circular[test] = (
                f"{test} computes what it expects from what {self._suite.function} left in its "
                "argument; compute it before the call, or write it out"
            )
        else:
            self._by_design = True

    def _can_pass(self, node: Any) -> bool:
        try:
            self._link.objects.decode(node)
        except codec.NotPlain:  # such as a list within a set
            return False
        return True

    def _passes(self, test: str, call: RecordedCall, outcome: Message) -> bool:
        result = self._run(test, {(call.key, call.number): outcome}, traced=bool(self._branches))
        self._entered = bool(result and result.lines & self._branches)
        return bool(result and result.passed)

    def _run(
        self,
        test: str,
        altered: dict[tuple[str, int], Message] | None = None,
        traced: bool = False,
    ) -> Ended | None:
        """Run a test with recorded outcomes, some of them altered; None if it made a call that was
        not recorded.
        """
        self._runs_left -= 1
        self._within -= 1
        self._test, self._altered, self._unknown = test, altered or {}, False
        self._call_counts: Counter[str] = Counter()
        self._served: list[tuple[str, int]] = []
        there = _files()
        record = self._recorded[test]
        self._link.doubt = ""
        objects = self._link.objects
        objects.touched = False
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, self._seconds)
        signal.setitimer(signal.ITIMER_REAL, 10 * self._seconds)
        try:
            if self._reload:
                objects.restore({})
                _name_folders("")
                _restore_chance(self._recorded[""].chance)
                self._test = ""
                self._suite.reload()
                self._test = test
            else:
                objects.restore(record.lent)
            _name_folders(test)
            _restore_chance(record.chance)
            result = self._suite.run(test, traced)
        except (Exception, NoRecord, Overdue):  # noqa: BLE001 - loading it with another outcome may fail in any way
            result = Ended(False)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            _remove_new(there)
        if not altered:
            self._seconds = _SECONDS + _SLOWER * (time.process_time() - began)
        return None if self._unknown and (result.passed or not altered) else result

    def _serve(self, request: Message) -> Message:
        key, number = self._recorded_call(request)
        self._served.append((key, number))
        altered = self._altered.get((key, number)) or self._altered.get((key, -1))
        outcome = altered or self._outcome(self._test, key, number)
        if outcome is None:
            self._unknown = True
            raise NoRecord(key)
        for path, content in outcome.get("files", {}).items():
            _write(Path(path), content)
        return outcome

    def _recorded_call(self, request: Message) -> tuple[str, int]:
        """The recorded call that a request repeats, by key and number: the same one, or, where an
        argument is another one each time, the call of the same function at the same place.
        """
        key, place = _key(request), _place(request)
        number, nth = self._call_counts[key], self._call_counts[place]
        self._call_counts.update((key, place))
        if self._outcome(self._test, key, number) is None:
            there = self._recorded[self._test].places.get(place, ())
            if nth < len(there):
                return there[nth]
        return key, number

    def _outcome(self, test: str, key: str, number: int) -> Message | None:
        if key in self._always:
            return self._always[key]
        for where in (test, ""):
            outcomes = self._recorded[where].calls.get(key, ())
            if number < len(outcomes):
                return outcomes[number]
        return None

    def _settled_outcomes(self) -> dict[str, Message]:
        """The outcomes of calls that ended alike whenever they were made."""
        outcomes_by_key: dict[str, list[Message]] = {}
        for record in self._recorded.values():
            for key, outcomes in record.calls.items():
                outcomes_by_key.setdefault(key, []).extend(outcomes)
        return {
            k: o[0] for k, o in outcomes_by_key.items() if all(outcome == o[0] for outcome in o)
        }

    def _blind_methods(self) -> set[str]:
        """The calls of methods, and of functions that the tool returned, that say the same of
        whatever they get, and those of what they return: they compare nothing.
        """
        blind, handles = set[str](), set[int]()
        calls = {k: o for record in self._recorded.values() for k, o in record.calls.items()}
        requests = {key: json.loads(key) for key in calls}
        function_handles = {
            calls[key][0]["value"][1].get("handle")
            for key, request in requests.items()
            if request["op"] == "get" and isinstance(calls[key][0].get("value"), list)
        }
        for key, request in requests.items():
            value = calls[key][0].get("value")
            if request.get("handle") in handles:
                blind.add(key)
                continue
            is_method_call = request["op"] == "call" and request["handle"] not in function_handles
            if is_method_call and value is not None and self._is_blind(request, value):
                blind.add(key)
                handles |= {value[1]["handle"]} if _is_object(value) else set()
        return blind

    def _is_blind(self, request: Message, value: Any) -> bool:
        """Whether a method agrees to other arguments of the same form, or answers the same to
        others of the same types.
        """
        elements = self._pool.elements({})
        group = "args" if request["args"] else "kwargs"
        roots = [(group, place) for place in altering.places(request[group])]
        numbers, variants = list[Message](), list[list[Message]]()
        for root in roots:
            node = altering.at(request, root)
            if _agrees(value):
                new = altering.alike(node, elements)
                changed = [altering.replaced(request, root, n) for n in new]
            else:
                alterations = altering.alterations(request, root)
                changed = [a for what, a in alterations if what != altering.OTHER_TYPE]
                changed += [
                    altering.replaced(request, root, e)
                    for e in elements
                    if type(e) is type(node) is not list
                ]
            if _agrees(value) and type(node) not in (int, float):
                variants += [changed[:_ASKED]] * bool(changed)
            else:
                numbers += changed[:_ASKED]
        groups = variants or [numbers]
        compares = _agrees(value) or value is False or _is_object(value)
        return (
            compares
            and any(groups)
            and self._answers(request, value)
            and any(g and all(self._answers(variant, value) for variant in g) for g in groups)
        )

    def _answers(self, request: Message, value: Any) -> bool:
        reply = self._link.ask(request)
        return (
            reply is not None and "value" in reply and _content(reply["value"]) == _content(value)
        )

    def _name(self, call: RecordedCall) -> str:
        if "method" in call.request:
            return f"`.{call.request['method']}`"
        return self._suite.function

    def _subject(self, call: RecordedCall, root: altering.Path) -> str:
        arguments = ", ".join(map(_short_repr, call.request.get("args", ())))
        name = (
            f"{self._name(call).strip('`')}({arguments})" if "args" in call.request else "a value"
        )
        match root:
            case ("value",):
                return f"what {name} returns"
            case ("args", int(number)):
                return f"argument {number + 1} after {name}"
            case ("out", _):
                return f"what {name} prints"
            case ("files", str(path)):
                return f"the file {Path(path).name} after {name}"
        return f"the exception of {name}"


def _short_repr(node: Any) -> str:
    with suppress(codec.NotPlain):
        text = repr(codec.decode(node))
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return "..."


def _unseen(test: str, subject: str, node: Any) -> str:
    how = (
        "None"
        if node is None
        else "not a finite number"
        if isinstance(node, list) and node[0] in ("float", "complex", "Decimal")
        else "empty"
    )
    return f"{test} passes whether {subject} is {how} or not; compare it with a literal"


def _roots(call: RecordedCall) -> list[altering.Path]:
    """The parts of an outcome that count by themselves."""
    outcome, roots = call.outcome, list[altering.Path]()
    compared = zip(altering.arguments(call.request), outcome.get("args", ()), strict=False)
    for n, (before, after) in enumerate(compared):
        if before != after:
            roots.append(("args", n))
    if printed := outcome.get("out"):
        roots += [("out", n) for n in (0, 1) if printed[n]] or [("out", 0)]
    roots += [
        ("files", path)
        for path, content in outcome.get("files", {}).items()
        if content != _DIRECTORY
    ]
    if "owner" in outcome:
        roots.append(("owner",))
    if "error" in outcome:
        if call.request["op"] == "next":
            return []
        return [("error",), *roots]
    if outcome.get("value") is None and (roots or call.request.get("method")):
        return roots
    return [("value",), *roots]


def _degenerate(call: RecordedCall) -> bool:
    return any(
        is_degenerate(altering.at(call.outcome, path))
        for root in _roots(call)
        for path in altering.parts(call.outcome, root)
    )


def _is_excused(call: RecordedCall) -> bool:
    """Whether an empty outcome is likely, as all its arguments are empty."""
    arguments = altering.arguments(call.request)
    return bool(arguments) and all(map(is_degenerate, arguments))


def _changed_arguments(call: RecordedCall) -> Iterator[Message]:
    """The outcome, with an argument changed that the call left as it was."""
    arguments = altering.arguments(call.request)
    after = call.outcome.get("args") or arguments
    for number, node in enumerate(arguments):
        if isinstance(node, list) and node[0] in _MUTABLE and after[number] == node:
            emptied = [node[0], []] if node[1] else ["list", [1]] if node[0] == "list" else None
            if emptied:
                yield {**call.outcome, "args": altering.replaced(list(after), (number,), emptied)}


def _withheld(call: RecordedCall) -> Message:
    """The outcome without changes of the arguments, and of files that were there before."""
    outcome, there = call.outcome, call.outcome.get("there", ())
    files = {p: c for p, c in outcome.get("files", {}).items() if p not in there}
    return _without(outcome, "args", "files") | ({"files": files} if files else {})


def _without(outcome: Message, *names: str) -> Message:
    return {k: v for k, v in outcome.items() if k not in names}


def _is_object(value: Any) -> bool:
    return isinstance(value, list) and value[0] == "object"


def _agrees(value: Any) -> bool:
    """Whether an answer reports equality."""
    number = type(value) in (int, float) and abs(value) < _NEAR
    return value is True or number or is_degenerate(value)


def _content(value: Any) -> Any:
    """An object without what is another one each time."""
    return _without(value[1], "handle", "class", "text") if _is_object(value) else value


def _uses(suite: Tests, line: int) -> bool:
    """Whether the statement in a line uses what the tool returned, as far as names show."""
    module = ast.parse(suite.source)
    functions = [
        n for n in ast.walk(module) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    around = [f for f in functions if f.lineno <= line <= (f.end_lineno or line)]
    if not around:
        return True
    statements = [
        n for n in ast.walk(around[-1]) if isinstance(n, ast.stmt) and n is not around[-1]
    ]
    derived = {suite.function}
    for _ in statements:
        before = len(derived)
        for statement in statements:
            match statement:
                case ast.Assign(targets=targets, value=value):
                    pass
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    targets = [target]
                case ast.For(target=target, iter=value):
                    targets = [target]
                case _:
                    continue
            if _names(value) & derived:
                derived |= {name for target in targets for name in _names(target)}
        if len(derived) == before:
            break
    inner = [s for s in statements if s.lineno <= line <= (s.end_lineno or line)]
    return bool(_names(inner[-1]) & derived) if inner else True


def _looks(body: list[ast.stmt]) -> bool:
    """Whether statements assert something, or collect what is asserted later."""
    calls = [
        s.value.func for s in body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)
    ]
    collects = {f.attr for f in calls if isinstance(f, ast.Attribute)} & _COLLECTING
    return bool(collects) or any(isinstance(n, ast.Assert) for s in body for n in ast.walk(s))


def _blocks(source: str) -> dict[bool, list[tuple[int, int]]]:
    """The loops of a suite (True) and its conditions (False) that check something: the line of
    each, and that of the first statement in it.
    """
    blocks: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.For | ast.While | ast.If):
            inner = [n for statement in node.body for n in ast.walk(statement)]
            checks = any(isinstance(n, ast.Assert) for n in inner) or any(
                isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) for s in node.body
            )
            if checks:
                blocks[not isinstance(node, ast.If)].append((node.lineno, node.body[0].lineno))
    return blocks


def _lines_of_tests(source: str) -> set[int]:
    """The lines of a suite that belong to its tests, not to what they share."""
    return {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _key(request: Message) -> str:
    return json.dumps(_without(request, "folder"))


def _place(request: Message) -> str:
    names = ("op", "handle", "method", "name")
    return json.dumps(["", *(request.get(name) for name in names)])


def _ring(number: int, frame: FrameType | None) -> None:
    raise Overdue


def _chance() -> Any:
    numpy = sys.modules.get("numpy")
    return random.getstate(), numpy.random.get_state() if numpy else None


def _restore_chance(state: Any) -> None:
    random.setstate(state[0])
    if state[1] is not None:
        sys.modules["numpy"].random.set_state(state[1])


def _name_folders(test: str) -> None:
    """Let `tempfile` use the same names in each run of a test."""
    tempfile._name_sequence = _Names(test)  # type: ignore[attr-defined]


class _Names:
    def __init__(self, test: str) -> None:
        self._chance = random.Random(test)

    def __iter__(self) -> "_Names":
        return self

    def __next__(self) -> str:
        return "".join(self._chance.choices("abcdefghijklmnopqrstuvwxyz", k=8))


def _files() -> dict[str, tuple[float, int]]:
    """The files and folders that a test and the tool share: in the temporary folder, and in the
    current one.
    """
    states: dict[str, tuple[float, int]] = {}
    waiting = list({tempfile.gettempdir(), os.getcwd()})
    while waiting and len(states) < 10 * _FILES:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                folder = stat.S_ISDIR(status.st_mode)
                states[entry.path] = (0.0, -1) if folder else (status.st_mtime_ns, status.st_size)
                if folder:
                    waiting.append(entry.path)
    return states


def _file_changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The files that a call changed, by path: a text, bytes, a directory; None for removed ones."""
    changes: dict[str, Any] = {path: None for path in before if path not in after}
    for path, state in after.items():
        if before.get(path) == state or len(changes) >= _FILES:
            continue
        if state[1] == -1:
            changes[path] = _DIRECTORY
        elif state[1] <= _LARGEST:
            with suppress(OSError):
                changes[path] = _content_of(Path(path).read_bytes())
    return changes


def _content_of(data: bytes) -> Any:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ["bytes", data.hex()]
    return text if "\0" not in text else ["bytes", data.hex()]


def _write(path: Path, content: Any) -> None:
    with suppress(OSError):
        if content is None:
            path.rmdir() if path.is_dir() else path.unlink()
        elif content == _DIRECTORY:
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(
                content.encode() if isinstance(content, str) else bytes.fromhex(content[1])
            )


def _remove_new(there: dict[str, Any]) -> None:
    """Remove what a replay has made."""
    for path in sorted(_files().keys() - there.keys(), reverse=True):
        with suppress(OSError):
            os.rmdir(path) if os.path.isdir(path) else os.unlink(path)
