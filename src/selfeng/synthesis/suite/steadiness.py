"""Whether a suite can give another verdict at another time, because it reads the clock or draws at
random without a fixed seed, or beside the tests of another version, because loading it changes
what all tests of a process share.

What depends on the order of the tests or on the hash seed shows only when the suite runs, see the
gate.
"""

import ast
from collections.abc import Iterator

from selfeng.synthesis.suite.source import Suite, called, root, shown, statements, targets

_CLOCKS = {
    *(
        f"time.{name}"
        for name in (
            "time",
            "monotonic",
            "perf_counter",
            "process_time",
            "thread_time",
            "clock_gettime",
        )
    ),
    *(
        f"time.{name}_ns"
        for name in (
            "time",
            "monotonic",
            "perf_counter",
            "process_time",
            "thread_time",
            "clock_gettime",
        )
    ),
    *(
        "datetime.datetime.now",
        "datetime.datetime.utcnow",
        "datetime.datetime.today",
        "datetime.date.today",
    ),
    *("pandas.Timestamp.now", "pandas.Timestamp.today", "pandas.Timestamp.utcnow"),
}
_CLOCKS_WITHOUT_ARGUMENTS = {
    "time.localtime",
    "time.gmtime",
    "time.ctime",
    "time.asctime",
    "email.utils.formatdate",
    "email.utils.localtime",
}
_DICE = {
    "uuid.uuid1",
    "uuid.uuid4",
    "os.urandom",
    "random.SystemRandom",
    "platform.node",
    "tempfile.mktemp",
}
_SEEDED = {
    "random.Random",
    "numpy.random.default_rng",
    "numpy.random.RandomState",
    "numpy.random.Generator",
}
_SEEDING = {"random.seed", "numpy.random.seed"}
_RANDOM = ("random.", "numpy.random.", "secrets.")


def problems(suite: Suite) -> Iterator[str]:
    seeded = any(
        isinstance(n, ast.Call) and suite.dotted(n.func) in _SEEDING and _is_fixed(suite, n)
        for n in suite.nodes
    )
    for node in suite.nodes:
        name = suite.dotted(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        if not name:
            continue
        call = suite.parents.get(node)
        call = call if isinstance(call, ast.Call) and call.func is node else None
        if name in _CLOCKS or (
            name in _CLOCKS_WITHOUT_ARGUMENTS and call is not None and not call.args
        ):
            yield (
                f"{suite.where(node)} asks the clock with `{name}`; write a fixed time as a literal"
            )
        elif name in _DICE or name.startswith("secrets."):
            yield (
                f"{suite.where(node)} draws at random with `{name}`; write fixed values as literals"
            )
        elif (
            name in _SEEDED
            and not (call and _is_fixed(suite, call))
            and not _is_annotation(suite, node)
        ):
            yield (
                f"{suite.where(node)} draws at random with `{name}`; give it a fixed seed, or "
                "write fixed values as literals"
            )
        elif name in _SEEDING and not (call and _is_fixed(suite, call)):
            yield (
                f"{suite.where(node)} calls `{name}` without a fixed seed; give it one, or "
                "write fixed values as literals"
            )
        elif _draws(name) and not seeded:
            yield (
                f"{suite.where(node)} draws at random with `{name}`; use `random.Random(1)`, or "
                "write fixed values as literals"
            )
    for statement in statements(suite.module.body):
        if any(_is_shared(suite, changed) for changed in _changed(statement)):
            yield (
                f"{suite.where(statement)} changes what all tests share with `{shown(statement)}` "
                "while it is loaded; do it in a fixture that undoes it, or in the test"
            )


def _changed(statement: ast.stmt) -> list[ast.expr]:
    """What a statement of a module may change, other than names of the module."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return [statement.value.func]
    return [t for t in targets(statement) if not isinstance(t, ast.Name)]


def _is_shared(suite: Suite, node: ast.expr) -> bool:
    """Whether an expression belongs to an imported module, or to a value that one gives."""
    if suite.dotted(node) in _SEEDING | {"matplotlib.use"}:
        return False
    while node is not (inner := called(root(node))):
        node = inner
    return suite.dotted(node).partition(".")[0] in suite.imported


def _draws(name: str) -> bool:
    return (
        name.startswith(_RANDOM)
        and name not in _SEEDED
        and name not in _SEEDING
        and name not in ("numpy.random", "random.SystemRandom")
    )


def _is_fixed(suite: Suite, call: ast.Call) -> bool:
    """Whether the call has arguments, and all are literals or names that stand for one."""
    given = [*call.args, *(k.value for k in call.keywords)]
    return bool(given) and all(
        isinstance(g, ast.Constant) and g.value is not None
        for g in (_literal(suite, g) for g in given)
    )


def _literal(suite: Suite, node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Name):
        values = [
            s.value
            for s in suite.module.body
            if isinstance(s, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == node.id for t in s.targets)
        ]
        return values[0] if len(values) == 1 else node
    return node


def _is_annotation(suite: Suite, node: ast.AST) -> bool:
    around = suite.parents.get(node)
    return isinstance(around, ast.arg) or (
        isinstance(around, ast.AnnAssign) and around.annotation is node
    )
