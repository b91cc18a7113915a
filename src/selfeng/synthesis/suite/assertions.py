"""The assertions of a suite, and which of them can fail because of the tool.

An assertion does not count if it is always true, is never reached, has its failure swallowed, or is
unrelated to the tool. Every test needs one that counts, in itself or in a function of the suite
that it uses.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from selfeng.synthesis.suite.flow import Flow, Kind
from selfeng.synthesis.suite.source import FUNCTIONS, Function, Suite, Test, called, shown
from selfeng.synthesis.suite.truth import Truth

_BROAD = {"Exception", "BaseException", "AssertionError"}
_RAISING = {"pytest.raises", "pytest.warns", "pytest.deprecated_call", "pytest.RaisesGroup"}
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass
class Findings:
    """What was found in one function."""

    counting: bool = False
    comparing: bool = False
    """Whether a value is checked, beyond its type and existence."""
    idle: list[str] = field(default_factory=list)
    """Why assertions don't count, as ends of sentences that begin with the test."""
    uses: set[str] = field(default_factory=set)
    """Names of functions that are used where their failures are not swallowed."""


class Assertions:
    def __init__(self, suite: Suite, flow: Flow) -> None:
        self._suite, self._flow = suite, flow
        self._truth = Truth(suite, flow)
        self._named: dict[str, list[Function]] = {}
        for function in suite.functions:
            self._named.setdefault(function.name, []).append(function)
        self._findings: dict[ast.AST, Findings] = {}

    def problems(self) -> Iterator[str]:
        comparing = False
        for test in self._suite.tests:
            reached = self._reached(test.node)
            yield from self._problems(test, reached)
            comparing |= any(self.of(f).comparing for f in reached)
        if not comparing:
            tool = self._suite.tool
            yield (
                f"the suite never looks at the value of {tool}, only at types and errors; "
                "compare what it returns with literals"
            )

    def _problems(self, test: Test, reached: list[Function]) -> Iterator[str]:
        tool = self._suite.tool
        if any(self.of(f).counting for f in reached):
            return
        idle = [reason for f in reached for reason in self.of(f).idle]
        if idle:
            yield f"{test.name} {idle[0]}"
        elif any(self._flow.touches(*f.body) for f in reached):
            yield f"{test.name} asserts nothing; write `assert` or `pytest.raises` in it"
        else:
            yield (
                f"{test.name} asserts nothing about {tool}; call it, and compare what it "
                "returns with a literal"
            )

    def _reached(self, test: Function) -> list[Function]:
        """The test, and the functions of the suite that it uses."""
        found, waiting = {test: None}, [test]
        while waiting:
            new = [
                f
                for name in sorted(self.of(waiting.pop()).uses)
                for f in self._named.get(name, ())
                if f not in found
            ]
            found |= dict.fromkeys(new)
            waiting += new
        return list(found)

    def of(self, function: Function) -> Findings:
        if function not in self._findings:
            self._findings[function] = Findings()
            _Reader(self, function).read()
        return self._findings[function]


class _Reader:
    """Walks the statements of one function and tracks which are reached and which failures are not
    swallowed.
    """

    def __init__(self, assertions: Assertions, function: Function) -> None:
        self._suite, self._flow, self._truth = (
            assertions._suite,
            assertions._flow,
            assertions._truth,
        )
        self._named = assertions._named
        self._function = function
        self._found = assertions._findings[function]
        self._touches = self._flow.touches(*function.body)

    def read(self) -> None:
        self._block(self._function.body, "")

    def _block(self, body: list[ast.stmt], lost: str) -> None:
        """`lost` says why a failure in the block has no effect; "" if it has one."""
        for number, statement in enumerate(body):
            self._statement(statement, lost)
            if isinstance(statement, _ENDS) and number + 1 < len(body):
                after = body[number + 1]
                lost = (
                    lost or f"ends before line {after.lineno} is reached; remove what ends it there"
                )

    def _statement(self, node: ast.stmt, lost: str) -> None:
        match node:
            case ast.Assert():
                self._note(
                    lost or self._idle(node.test), comparing=not self._truth.of_type(node.test)
                )
                self._expressions(node.test, lost)
            case ast.Raise(exc=ast.expr() as raised) if (
                self._suite.dotted(called(raised)) == "AssertionError"
            ):
                self._note(lost or self._unrelated(), comparing=True)
            case ast.If(test=test):
                self._expressions(test, lost)
                self._block(node.body, lost or self._never(test, False))
                self._block(node.orelse, lost or self._never(test, True))
            case ast.While(test=test):
                self._expressions(test, lost)
                self._block(node.body, lost or self._never(test, False))
                self._block(node.orelse, lost)
            case ast.For() | ast.AsyncFor():
                empty = isinstance(node.iter, ast.List | ast.Tuple) and not node.iter.elts
                self._expressions(node.iter, lost)
                self._block(
                    node.body,
                    lost
                    or (
                        f"loops over nothing in line {node.lineno}; give it cases" if empty else ""
                    ),
                )
                self._block(node.orelse, lost)
            case ast.Try() | ast.TryStar():
                self._try(node, lost)
            case ast.With() | ast.AsyncWith():
                self._with(node, lost)
            case ast.Match(cases=cases):
                for case in cases:
                    self._block(case.body, lost)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                pass  # a function counts where it is used
            case _:
                self._expressions(node, lost)

    def _never(self, test: ast.expr, when: bool) -> str:
        known = self._truth.of(test)
        return (
            f"never reaches the assertion under `{shown(test)}` in line {test.lineno}; assert "
            "without a condition"
            if known is when
            else ""
        )

    def _try(self, node: ast.Try | ast.TryStar, lost: str) -> None:
        swallowing = next((h for h in node.handlers if self._swallows(h)), None)
        ending = next(
            (
                s
                for s in ast.walk(ast.Module(node.finalbody, []))
                if isinstance(s, ast.Return | ast.Break | ast.Continue)
            ),
            None,
        )
        if ending and not lost:
            lost = (
                f"swallows its own failures: what ends the `finally` in line {ending.lineno} "
                "drops them; take it out"
            )
        caught = ""
        if swallowing:
            what = f"except {shown(swallowing.type)}" if swallowing.type else "except"
            caught = (
                f"swallows its own failures: `{what}` in line {swallowing.lineno} catches "
                "AssertionError too; use `pytest.raises`"
            )
        self._block(node.body, lost or caught)
        for block in (*(h.body for h in node.handlers), node.orelse, node.finalbody):
            self._block(block, lost)

    def _swallows(self, handler: ast.ExceptHandler) -> bool:
        """Whether a failed assertion ends here: it is caught, and nothing is raised or asserted
        about it.
        """
        caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        if handler.type is not None and not any(self._is_broad(c) for c in caught):
            return False
        inside = [n for s in handler.body for n in ast.walk(s)]
        return not any(isinstance(n, ast.Raise) or self._can_fail(n) for n in inside)

    def _is_broad(self, node: ast.expr | None) -> bool:
        return self._suite.dotted(node).removeprefix("builtins.") in _BROAD

    def _can_fail(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Assert):
            return self._truth.of(node.test) is not True
        return isinstance(node, ast.Call) and (
            self._is_fail(node) or self._asserted(node) is not None
        )

    def _with(self, node: ast.With | ast.AsyncWith, lost: str) -> None:
        inner = lost
        for call in (i.context_expr for i in node.items if isinstance(i.context_expr, ast.Call)):
            raising = self._is_raising(call)
            errors = [e for a in call.args for e in (a.elts if isinstance(a, ast.Tuple) else [a])]
            if any(map(self._is_broad, errors)) and (
                raising or self._suite.dotted(call.func) == "contextlib.suppress"
            ):
                what = (
                    f"swallows its own failures: `{shown(call)}` in line {node.lineno} catches "
                    "AssertionError too"
                )
                inner = inner or f"{what}; take it out, or name the exact exception"
            if raising:
                self._note(
                    (inner if self._asserts(node.body) else lost) or self._unraised(node, call),
                    comparing=False,
                )
        self._block(node.body, inner)

    def _asserts(self, body: list[ast.stmt]) -> bool:
        return any(
            isinstance(n, ast.Assert | ast.Call) and self._can_fail(n)
            for s in body
            for n in ast.walk(s)
        )

    def _unraised(self, node: ast.With | ast.AsyncWith, call: ast.Call) -> str:
        """Why an expected exception says nothing about the tool, "" if it does."""
        if not self._flow.touches(*node.body):
            return (
                f"calls nothing of {self._suite.tool} under `{shown(call)}` in line "
                f"{node.lineno}; call it there"
            )
        if (
            call.args
            and self._suite.dotted(call.args[0]) in ("Exception", "BaseException")
            and not call.keywords
        ):
            return f"accepts any error at all with `{shown(call)}`; name the exact exception"
        return ""

    def _is_raising(self, call: ast.Call) -> bool:
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        return self._suite.dotted(call.func) in _RAISING or (
            method.startswith(("assertRaises", "assertWarns")) and not self._named.get(method)
        )

    def _is_fail(self, call: ast.Call) -> bool:
        own = (
            isinstance(call.func, ast.Attribute)
            and call.func.attr == "fail"
            and isinstance(call.func.value, ast.Name)
        )
        return self._suite.dotted(call.func) == "pytest.fail" or (
            own and not self._named.get("fail")
        )

    def _asserted(self, call: ast.Call) -> list[ast.expr] | None:
        """What a call such as `self.assertEqual(a, b)` or `assert_allclose(a, b)` asserts about;
        None if it is none.
        """
        name = (
            call.func.attr
            if isinstance(call.func, ast.Attribute)
            else call.func.id
            if isinstance(call.func, ast.Name)
            else ""
        )
        if self._is_raising(call) and len(call.args) > 1:
            return call.args[1:]
        if not name.startswith("assert") or self._named.get(name) or self._is_raising(call):
            return None
        return [*call.args, *(k.value for k in call.keywords)]

    def _expressions(self, node: ast.AST, lost: str) -> None:
        """Read the expressions of a statement: calls that assert, and functions of the suite that
        are used.
        """
        waiting = [node]
        while waiting:
            inner = waiting.pop()
            waiting += [
                c
                for c in ast.iter_child_nodes(inner)
                if not isinstance(c, (*FUNCTIONS, ast.ClassDef))
            ]
            name = (
                inner.id
                if isinstance(inner, ast.Name)
                else inner.attr
                if isinstance(inner, ast.Attribute)
                else ""
            )
            if name in self._named and not isinstance(getattr(inner, "ctx", None), ast.Store):
                if lost:
                    self._found.idle.append(lost)
                else:
                    self._found.uses.add(name)
            if isinstance(inner, ast.Call):
                self._call(inner, lost)

    def _call(self, call: ast.Call, lost: str) -> None:
        if self._is_fail(call):
            self._note(lost or self._unrelated(), comparing=True)
        elif (given := self._asserted(call)) is not None:
            related = any(self._flow.kind(g) is Kind.VALUE for g in given) or (
                self._is_raising(call) and self._flow.touches(call)
            )
            comparing = not self._is_raising(call) and not shown(call.func).endswith(
                ("IsInstance", "IsNotNone")
            )
            self._note(
                lost or (self._doubled(call, given) if related else self._about_nothing(call)),
                comparing=comparing,
            )

    def _doubled(self, call: ast.Call, given: list[ast.expr]) -> str:
        same = (
            len(given) > 1
            and "Not" not in shown(call.func)
            and self._truth.same(given[0], given[1])
        )
        return (
            f"compares `{shown(given[0])}` with itself in line {call.lineno}; compare it with the "
            "literal"
            if same
            else ""
        )

    def _idle(self, test: ast.expr) -> str:
        """Why an assertion says nothing about the tool, "" if it does."""
        known = self._truth.of(test)
        if known is False:
            return self._unrelated()
        if known:
            both = self._truth.doubled(test)
            if both is not None:
                return (
                    f"compares `{shown(both)}` with itself in line {test.lineno}; compare it "
                    "with the literal"
                )
            return (
                f"asserts what is always true, `{shown(test)}` in line {test.lineno}; compare "
                f"what {self._suite.tool} returns"
            )
        return "" if self._flow.kind(test) is Kind.VALUE else self._about_nothing(test)

    def _unrelated(self) -> str:
        """Why a plain failure is not about the tool; "" if the tool is used around it."""
        return (
            ""
            if self._touches
            else f"asserts nothing about {self._suite.tool}; call it, and compare what it returns "
            "with a literal"
        )

    def _about_nothing(self, node: ast.expr) -> str:
        what = (
            f"asserts nothing about {self._suite.tool}: `{shown(node)}` in line {node.lineno} "
            "does not depend on it"
        )
        return f"{what}; call it, and compare what it returns with a literal"

    def _note(self, reason: str, *, comparing: bool) -> None:
        if reason:
            self._found.idle.append(reason)
        else:
            self._found.counting = True
            self._found.comparing |= comparing
