"""The actions that a suite may not take: skip, patch or steer the test framework, the interpreter
or the process that judges it.

Of modules, only what `allowed` lists may be used, so no other spelling gets around this.
"""

import ast
import sys
from collections.abc import Iterator

from selfeng.synthesis.suite.allowed import EVALUATING, FRAMES, LISTED, is_dunder, unlisted
from selfeng.synthesis.suite.source import (
    Function,
    Suite,
    Test,
    called,
    excerpt,
    parameters,
    root,
    statements,
    targets,
    within,
)

_CALLS = {"exec", "eval", "compile", "__import__", "globals", "setattr", "delattr", "vars"}
_EXITS = {"SystemExit", "KeyboardInterrupt", "GeneratorExit", "exit", "quit"}
_SEEDING = {"random.seed", "numpy.random.seed", "matplotlib.use"}
"""Switches of the whole process that a suite may set while it is loaded."""
_CASE_EVASIONS = {"skipTest", "subTest"}
_DUNDERS = {
    *(
        "__name__",
        "__qualname__",
        "__module__",
        "__doc__",
        "__class__",
        "__annotations__",
        "__file__",
        "__version__",
        "__init__",
    ),
    *(
        "__len__",
        "__iter__",
        "__next__",
        "__getitem__",
        "__contains__",
        "__str__",
        "__repr__",
        "__cause__",
        "__context__",
        "__notes__",
    ),
}
_HOOKS = {
    "pytestmark",
    "pytest_plugins",
    "collect_ignore",
    "collect_ignore_glob",
    "load_tests",
    "__test__",
}
_FIXTURES = {
    *(
        "capsys",
        "capsysbinary",
        "capfd",
        "capfdbinary",
        "caplog",
        "recwarn",
        "request",
        "tmp_path",
        "tmp_path_factory",
        "tmpdir",
    ),
}
_PATCHES = {"monkeypatch", "mocker"}
_MARKS = {
    "pytest.mark.parametrize",
    "pytest.mark.usefixtures",
    "pytest.mark.filterwarnings",
    "staticmethod",
    "classmethod",
}
_TAKEN_METHODS = {
    "run",
    "debug",
    "__call__",
    "id",
    "countTestCases",
    "doCleanups",
    "defaultTestResult",
    "__init__",
    "__new__",
}


def problems(suite: Suite) -> Iterator[str]:
    for look in (_problems, _binding):
        for node in suite.nodes:
            yield from (f"{suite.where(node)} {what}" for what in look(suite, node))
    for test in suite.tests:
        yield from _problems_of_test(suite, test)
    for function in (*(t.node for t in suite.tests), *suite.fixtures.values()):
        yield from _patching(suite, function)
    for statement in statements(suite.module.body):
        if any(_is_shared(suite, changed) for changed in _changed(statement)):
            yield (
                f"{suite.where(statement)} changes what all tests share with "
                f"`{excerpt(statement)}` while it is loaded; do it in a fixture that undoes it, "
                "or in the test"
            )


def _changed(statement: ast.stmt) -> list[ast.expr]:
    """The targets that a statement of a module may change, other than names of the module."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return [statement.value.func]
    return [t for t in targets(statement) if not isinstance(t, ast.Name)]


def _is_shared(suite: Suite, node: ast.expr) -> bool:
    """Whether an expression belongs to an imported module, or to a value that one gives."""
    if suite.dotted(node) in _SEEDING:
        return False
    while node is not (inner := called(root(node))):
        node = inner
    return suite.dotted(node).partition(".")[0] in suite.imported


def _problems(suite: Suite, node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            for name in names:
                yield from _import(suite, name.name)
        case ast.ImportFrom(module=str(module), names=names):
            yield from _import(suite, module)
            if any(n.name == "*" for n in names) and module != suite.tool:
                yield f"imports everything from {module}; import by name what is needed"
            for name in names:
                yield from (_import(suite, f"{module}.{name.name}") if name.name != "*" else ())
        case ast.Name() | ast.Attribute():
            yield from _use(suite, node)
        case ast.Call(func=func, args=args):
            yield from _call(suite, suite.dotted(func), args)
        case ast.Raise(exc=ast.expr() as raised) if (
            suite.dotted(raised.func if isinstance(raised, ast.Call) else raised) in _EXITS
        ):
            yield f"raises {excerpt(raised)}, which ends the run; use `pytest.fail`"
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from _definition(node)


def _import(suite: Suite, name: str) -> Iterator[str]:
    if part := _unlisted(suite, name):
        no_module = (
            f"imports {part}, which no suite needs; test with plain calls, values and "
            "`pytest.raises`"
        )
        yield _refused(part) if "." in part else no_module


def _unlisted(suite: Suite, name: str) -> str:
    """The part of an imported module that no suite may use; "" if it may use all of it. Missing
    packages are reported elsewhere.
    """
    first = name.partition(".")[0]
    is_known_module = first in sys.stdlib_module_names or first in LISTED
    return unlisted(name) if is_known_module and first in suite.imported - {suite.tool} else ""


def _use(suite: Suite, node: ast.Name | ast.Attribute) -> Iterator[str]:
    name = suite.dotted(node)
    if isinstance(node, ast.Attribute):
        if part := _unlisted(suite, name):
            yield _refused(part)
        if node.attr in EVALUATING and "pandas" in suite.imported:
            yield _evaluates(node.attr)
        if node.attr in FRAMES or (is_dunder(node.attr) and node.attr not in _DUNDERS):
            yield (
                f"reaches for `{node.attr}`; test what the function returns and raises, not how "
                "Python runs it"
            )
        if node.attr in _CASE_EVASIONS:
            yield f"uses unittest's {node.attr}; every test must run, and count by itself"
    bare = not isinstance(suite.parents.get(node), ast.Attribute) and not (
        isinstance(node, ast.Name) and node.id == suite.tool
    )
    if bare and (name in LISTED or name in suite.modules):
        yield f"hands `{name}` around; write `{name}.…` where it is used"
    if name == "getattr" and getattr(suite.parents.get(node), "func", None) is not node:
        yield "hands `getattr` around; write the attribute out"
    if name in _CALLS:
        yield f"uses `{name}`; write the test out in plain code"
    if isinstance(node, ast.Name) and node.id in ("__builtins__", "__loader__", "__spec__"):
        yield f"uses `{node.id}`; test with plain calls and values"


def _refused(name: str) -> str:
    module, _, last = name.rpartition(".")
    if module == "pytest.mark" and last not in ("skip", "skipif", "xfail"):
        return f"uses the mark {last}, which means nothing here; leave it out"
    if module in ("pytest", "pytest.mark", "unittest"):
        return (
            f"uses {module.partition('.')[0]}'s {last}; every test must run, and nothing may "
            "change how"
        )
    return f"uses {name}; test with plain calls, values and `pytest.raises`"


def _evaluates(method: str) -> str:
    return f"uses `{method}` of pandas, which runs text as code; compare columns and values"


def _call(suite: Suite, name: str, args: list[ast.expr]) -> Iterator[str]:
    if name == "getattr" and len(args) > 1:
        attr = args[1].value if isinstance(args[1], ast.Constant) else None
        if not isinstance(attr, str) or attr.startswith("_") or attr in EVALUATING:
            yield "uses `getattr` with a name that is hidden; write the attribute out"
    if name == "type" and len(args) > 1:
        yield "makes a class with `type`; write it out"
    if "pandas" in suite.imported:
        yield from (
            _evaluates(str(a.value))
            for a in args
            if isinstance(a, ast.Constant) and a.value in EVALUATING
        )


def _definition(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[str]:
    if node.name.startswith("pytest_") or node.name in _HOOKS:
        yield (
            f"defines `{node.name}`, which pytest takes for a hook; a suite may not change how "
            "tests are run"
        )
    if node.name in (
        "__getattr__",
        "__getattribute__",
        "__dir__",
        "__init_subclass__",
        "__set_name__",
        "__prepare__",
    ):
        yield f"defines `{node.name}`; test with plain calls and values"


def _binding(suite: Suite, node: ast.AST) -> Iterator[str]:
    for target in targets(node):
        if isinstance(target, ast.Name):
            if target.id in _HOOKS or target.id.startswith("pytest_"):
                yield f"sets `{target.id}`, which steers pytest; every test must run as it stands"
            elif (
                is_dunder(target.id)
                and suite.parents[node] is suite.module
                and target.id != "__all__"
            ):
                yield f"sets `{target.id}`; leave it as it is"
        elif isinstance(base := root(target), ast.Name) and base.id in suite.meanings:
            yield f"changes `{excerpt(target)}`; nothing that is imported may be patched"


def _problems_of_test(suite: Suite, test: Test) -> Iterator[str]:
    if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in within(test.node)):
        yield f"{test.name} is a generator, which pytest does not run; take the `yield` out"
    if isinstance(test.node, ast.AsyncFunctionDef):
        yield (
            f"{test.name} is async, which pytest does not run here; write a plain function, "
            "with `asyncio.run` in it where needed"
        )
    for decorator in test.node.decorator_list:
        if suite.decorator(decorator) not in _MARKS:
            yield (
                f"{test.name} is wrapped by `@{excerpt(decorator)}`; only "
                "`pytest.mark.parametrize` may stand there"
            )
    if test.owner:
        reserved = (
            _TAKEN_METHODS if suite.is_case(test.owner) else {"__init__", "__new__", "__call__"}
        )
        yield from (
            f"{test.owner.name} defines `{m.name}`, which steers its tests"
            for m in suite.methods(test.owner)
            if m.name in reserved
        )
    yield from _unknown_parameters(suite, test)


def _unknown_parameters(suite: Suite, test: Test) -> Iterator[str]:
    known_names: set[str] = {*_FIXTURES, *_PATCHES, *suite.fixtures}
    for mark in suite.parametrizations(test):
        names = (
            mark.args[0]
            if mark.args
            else next((k.value for k in mark.keywords if k.arg == "argnames"), None)
        )
        if (case_names := parametrized(names)) is None:
            return  # computed: only pytest can tell
        known_names.update(case_names)
    arguments = parameters(test.node)
    method = test.owner is not None and not any(
        suite.decorator(d) == "staticmethod" for d in test.node.decorator_list
    )
    optional = len(test.node.args.defaults)
    plain = arguments[: len(arguments) - optional] if optional else arguments
    for parameter in plain[1:] if method else plain:
        if parameter.arg not in known_names:
            yield (
                f"{test.name} asks for `{parameter.arg}`, which is neither parametrized nor a "
                "fixture of the suite"
            )


def _patching(suite: Suite, function: Function) -> Iterator[str]:
    argument_names = {p.arg for p in parameters(function)}
    if argument_names & _PATCHES:
        name = min(argument_names & _PATCHES)
        yield (
            f"{suite.where(function)} asks for {name}, but the tool runs in another process "
            "that no patch reaches; pass arguments instead"
        )
    for node in within(function) if "request" in argument_names else ():
        around = suite.parents.get(node)
        if (
            isinstance(node, ast.Name)
            and node.id == "request"
            and not (isinstance(around, ast.Attribute) and around.attr == "param")
        ):
            yield (
                f"{suite.where(function)} steers pytest through `request`; only `request.param` "
                "is for suites"
            )


def parametrized(names: ast.expr | None) -> list[str] | None:
    """The names that `pytest.mark.parametrize` gives values, None if they are not written out."""
    match names:
        case ast.Constant(value=str(text)):
            return [n.strip() for n in text.split(",") if n.strip()]
        case ast.Tuple(elts=elts) | ast.List(elts=elts) if all(
            isinstance(e, ast.Constant) and isinstance(e.value, str) for e in elts
        ):
            return [
                e.value for e in elts if isinstance(e, ast.Constant) and isinstance(e.value, str)
            ]
    return None
