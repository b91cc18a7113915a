"""What is known about a condition without running it: that it is always true, always false, or
compares something with itself.
"""

import ast

from selfeng.synthesis.suite.flow import Flow, Kind
from selfeng.synthesis.suite.source import FUNCTIONS, Suite

_ALIASES = 5
"""Maximum length of a followed chain of aliases."""
_OPERANDS = 12
"""Maximum number of operands of an `or` that are compared with each other."""
_REFLEXIVE = (ast.Eq, ast.Is, ast.LtE, ast.GtE)
_OPPOSITE = {
    ast.Eq: ast.NotEq,
    ast.Is: ast.IsNot,
    ast.In: ast.NotIn,
    ast.Lt: ast.GtE,
    ast.Gt: ast.LtE,
}


class Truth:
    def __init__(self, suite: Suite, flow: Flow) -> None:
        self._suite, self._flow = suite, flow

    def of(self, node: ast.expr) -> bool | None:
        """Whether a condition is always true or always false; None if that depends."""
        match node:
            case ast.Constant(value=value):
                return bool(value)
            case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts) if not any(
                isinstance(e, ast.Starred) for e in elts
            ):
                return bool(elts)
            case ast.Dict(keys=keys) if None not in keys:
                return bool(keys)
            case ast.Lambda():
                return True
            case ast.JoinedStr(values=values) if any(
                isinstance(v, ast.Constant) and v.value for v in values
            ):
                return True
            case ast.NamedExpr(value=value):
                return self.of(value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                known = self.of(operand)
                return None if known is None else not known
            case ast.BoolOp():
                return self._of_both(node)
            case ast.IfExp(body=body, orelse=orelse):
                return self.of(body) if self.of(body) is self.of(orelse) else None
            case ast.Compare():
                return self._of_comparison(node)
            case ast.Call(func=func, args=[_, kind]) if (
                self._suite.dotted(func),
                self._suite.dotted(kind),
            ) == ("isinstance", "object"):
                return True
        return None

    def of_type(self, node: ast.expr) -> bool:
        """Whether a condition checks only the type of a value, or whether there is one."""
        match node:
            case ast.Call(func=func):
                return self._suite.dotted(func) in (
                    "isinstance",
                    "issubclass",
                    "hasattr",
                    "callable",
                )
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.of_type(operand)
            case ast.BoolOp(values=values):
                return all(map(self.of_type, values))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                sides = [s.func for s in (left, right) if isinstance(s, ast.Call)]
                none = (
                    isinstance(right, ast.Constant)
                    and right.value is None
                    and isinstance(op, ast.IsNot | ast.NotEq)
                )
                return none or any(self._suite.dotted(s) == "type" for s in sides)
        return False

    def doubled(self, node: ast.expr) -> ast.expr | None:
        """What a comparison compares with itself, None if it does not."""
        for part in (
            n
            for n in ast.walk(node)
            if isinstance(n, ast.Compare) and not isinstance(n.left, ast.Constant)
        ):
            if isinstance(part.ops[0], _REFLEXIVE) and self.same(part.left, part.comparators[0]):
                return part.left
        return None

    def same(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether two expressions are the same, with names of a tool's value written out."""
        return self._key(one) == self._key(other)

    def _of_both(self, node: ast.BoolOp) -> bool | None:
        known = [self.of(v) for v in node.values]
        if isinstance(node.op, ast.And):
            return False if False in known else (True if all(known) else None)
        some = node.values[:_OPERANDS]
        if True in known or any(self._contrary(a, b) for a in some for b in some):
            return True
        return False if not any(k is None for k in known) else None

    def _contrary(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether one of the two is always true: `a` and `not a`, `a == b` and `a != b`."""
        if isinstance(other, ast.UnaryOp) and isinstance(other.op, ast.Not):
            return self.same(one, other.operand)
        if (
            isinstance(one, ast.Compare)
            and isinstance(other, ast.Compare)
            and len(one.ops) == len(other.ops) == 1
        ):
            opposite = _OPPOSITE.get(type(one.ops[0]))
            if opposite is None or not isinstance(other.ops[0], opposite):
                return False
            return self.same(one.left, other.left) and self.same(
                one.comparators[0], other.comparators[0]
            )
        return False

    def _of_comparison(self, node: ast.Compare) -> bool | None:
        sides = [node.left, *node.comparators]
        if all(isinstance(s, ast.Constant) for s in sides) and len(sides) == 2:
            return _compared(sides[0], node.ops[0], sides[1])
        links = list(zip(sides, node.ops, sides[1:], strict=False))
        return True if all(self._holds(*link) for link in links) else None

    def _holds(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
        if isinstance(op, _REFLEXIVE):
            if (
                isinstance(op, ast.GtE)
                and isinstance(left, ast.Call)
                and self._suite.dotted(left.func) == "len"
            ):
                return self.same(left, right) or (
                    isinstance(right, ast.Constant) and right.value == 0
                )
            return self.same(left, right)
        if (
            isinstance(op, ast.Gt)
            and isinstance(left, ast.Call)
            and self._suite.dotted(left.func) == "len"
        ):
            return isinstance(right, ast.UnaryOp) and isinstance(right.op, ast.USub)
        return (
            isinstance(op, ast.In)
            and isinstance(right, ast.List | ast.Tuple | ast.Set)
            and any(self.same(left, e) for e in right.elts)
        )

    def _key(self, node: object, depth: int = 0) -> object:
        """A key that is equal for expressions that are the same, wherever they are."""
        if (
            isinstance(node, ast.Name)
            and depth < _ALIASES
            and (value := self._value(node)) is not None
        ):
            return self._key(value, depth + 1)
        if isinstance(node, ast.Call):
            keywords = sorted((str(k.arg), self._key(k.value, depth)) for k in node.keywords)
            return (
                "Call",
                self._key(node.func, depth),
                *(self._key(a, depth) for a in node.args),
                *map(repr, keywords),
            )
        if isinstance(node, ast.AST):
            return (
                type(node).__name__,
                *(self._key(v, depth) for name, v in ast.iter_fields(node) if name != "ctx"),
            )
        if isinstance(node, list):
            return tuple(self._key(item, depth) for item in node)
        return (type(node).__name__, repr(node))

    def _value(self, name: ast.Name) -> ast.expr | None:
        """The call of the tool that a local name is set to, if it is set once and earlier."""
        scope = self._suite.parents.get(name)
        while scope is not None and not isinstance(scope, FUNCTIONS):
            scope = self._suite.parents.get(scope)
        node = self._flow.set_once(name.id, scope) if scope is not None else None
        if (
            isinstance(node, ast.Assign | ast.AnnAssign)
            and isinstance(call := node.value, ast.Call)
            and call.lineno < name.lineno
        ):
            direct = node.targets if isinstance(node, ast.Assign) else [node.target]
            if (
                any(isinstance(t, ast.Name) for t in direct)
                and self._flow.kind(call.func) is Kind.TOOL
            ):
                return call
        return None


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool | None:
    """The comparison of two literals."""
    assert isinstance(left, ast.Constant)
    assert isinstance(right, ast.Constant)
    match op:
        case ast.Eq() | ast.Is():
            return bool(left.value == right.value)
        case ast.NotEq() | ast.IsNot():
            return bool(left.value != right.value)
    return None
