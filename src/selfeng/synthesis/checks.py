"""Static checks of a specification, a suite and a module, before anything runs in the sandbox.

Source is only parsed, never run. Each check returns the first problem in words that the model can
act on, or None. Annotations are of values that can be sent as JSON and checked as arguments.
"""

import ast
import keyword
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from selfeng.core.composition import Importable, imports
from selfeng.core.http import HttpRequest
from selfeng.core.package_lock import PackageLock
from selfeng.core.packages import READER, sandbox_packages
from selfeng.core.signature import (
    DEEPEST,
    UNREADABLE,
    Parameter,
    Signature,
    SignatureError,
    alternatives,
    last_name,
    literal_values,
    parse_signature,
    subscripts,
)
from selfeng.core.spec import Specification, SpecParameter
from selfeng.core.tool import ToolDraft
from selfeng.core.visible import hidden, plain_line_problem
from selfeng.synthesis.examples import example_problem, is_literal
from selfeng.synthesis.stubs import stub
from selfeng.synthesis.suite.allowed import FRAMES
from selfeng.synthesis.suite.source import FUNCTIONS, Suite, excerpt
from selfeng.synthesis.suite.steering import problems

ALLOWED = (
    "str, int, float, bool, list[...], dict[str, ...], ... | None and Literal[...] of plain values"
)
"""The types in the analyst's prompt; other common spellings of the same types are accepted."""
_TYPE_NAMES = {
    "str",
    "int",
    "float",
    "bool",
    "Any",
    "list",
    "List",
    "dict",
    "Dict",
    "tuple",
    "Tuple",
    "set",
    "Set",
}
_LONGEST = 100


def annotation_problem(annotation: str, whose: str) -> str | None:
    """Why the annotation can't be checked or shown to a model, None if it can."""
    subject = f"the annotation {annotation[:_LONGEST]!a} of {whose}"
    try:
        node = ast.parse(annotation, mode="eval").body
    except UNREADABLE:
        return f"{subject} is not a Python expression"
    return (
        None
        if _is_allowed(node, 0)
        else f"{subject} is not one that tools may have; it must be made of {ALLOWED}"
    )


def _is_allowed(node: ast.expr, depth: int) -> bool:
    if depth > DEEPEST:
        return False
    match node:
        case ast.Constant(value=value):
            return value is None
        case ast.BinOp(op=ast.BitOr()):
            return all(_is_allowed(n, depth + 1) for n in alternatives(node))
        case ast.Subscript(value=value, slice=inner) if _is_name(value):
            return _is_allowed_generic(last_name(value), subscripts(inner), depth + 1)
        case _:
            return _is_name(node) and last_name(node) in _TYPE_NAMES


def _is_allowed_generic(name: str, items: list[ast.expr], depth: int) -> bool:
    match name:
        case "Literal":
            return literal_values(items) is not None
        case "Optional" | "list" | "List" | "set" | "Set":
            return len(items) == 1 and _is_allowed(items[0], depth)
        case "Union":
            return bool(items) and all(_is_allowed(i, depth) for i in items)
        case "tuple" | "Tuple":
            members = (
                items[:-1]
                if items and isinstance(items[-1], ast.Constant) and items[-1].value is ...
                else items
            )
            return bool(members) and all(_is_allowed(i, depth) for i in members)
        case "dict" | "Dict":
            return len(items) == 2 and last_name(items[0]) == "str" and _is_allowed(items[1], depth)
        case _:
            return False


def _is_name(node: ast.expr) -> bool:
    """Whether it is a plain name or one from the module `typing`."""
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "typing"
    )


_TOOL_IMPORTS = frozenset(sys.stdlib_module_names) | {READER, *sandbox_packages()}
_TEST_IMPORTS = _TOOL_IMPORTS | {"pytest"}
MOST_REQUESTS = 20
"""Example requests of a tool."""
MOST_PROBES = 5
LONGEST = 300
"""Maximum characters of the description of a tool or a parameter, which is shown wherever tools are
chosen later.
"""
_THERE = ", ".join(["the standard library", READER, *sandbox_packages()])

_NAMES = """
    __builtins__ __closure__ __code__ __file__ __getattribute__ __globals__ __import__ __loader__
    __self__ __signature__ __spec__ __subclasses__ __traceback__ _current_frames _getframe native_id
    setprofile settrace
"""
_INTERNALS = FRAMES | {*_NAMES.split()}
"""Names that lead from a value to how Python runs the code."""
_NEVER = """
    __main__ bdb builtins cProfile ctypes dis faulthandler gc importlib linecache opcode pdb pkgutil
    profile pyclbr resource runpy site symtable trace tracemalloc zipimport
    multiprocessing.current_process os.getpgid os.getpgrp os.getpid os.getppid os.getsid os.times
    threading.get_native_id time.clock_gettime time.clock_gettime_ns time.process_time
    time.process_time_ns time.thread_time time.thread_time_ns
"""
_STREAM = """
    closed encoding errors flush isatty newlines read readable readline readlines reconfigure
    writable write writelines
"""
_GUARDED = {
    "sys": """argv byteorder executable exit float_info getdefaultencoding getfilesystemencoding
        get_int_max_str_digits getrecursionlimit getsizeof hash_info hexversion implementation
        int_info intern maxsize maxunicode path platform set_int_max_str_digits setrecursionlimit
        stderr stdin stdout version version_info""",
    **dict.fromkeys(("sys.stdin", "sys.stdout", "sys.stderr"), _STREAM),
    "inspect": """cleandoc getdoc isabstract isasyncgen isasyncgenfunction isawaitable isbuiltin
        isclass iscoroutine iscoroutinefunction isfunction isgenerator isgeneratorfunction ismethod
        ismodule isroutine Parameter Signature signature unwrap""",
    "traceback": "format_exception_only",
    **dict.fromkeys(_NEVER.split(), ""),
}
"""Through these a program looks at itself or at what runs it. A tool may use only the names listed
here.
"""
_INSTEAD = {
    "sys.std": "write with `print` or `contextlib.redirect_stdout`",
    "sys.exc": "catch the error with `except ... as error`",
    "traceback": "describe an error with `str(error)`",
    "time": "measure time with `time.perf_counter`",
    "importlib": "write `import`",
    "getattr": "write the attributes out, or choose among them with a dict",
}
_WORDS = re.compile(rf"(?<!\w)({'|'.join(_INTERNALS)})(?!\w)")
_PLACES = re.compile(rf"^/proc(/|$)|\{{[^{{}}]*[.\[]({'|'.join(_INTERNALS)})(?!\w)")
"""Names of processes, and a format string's `{0.__globals__}`."""


def specification_problem(spec: Specification) -> str | None:
    """Why no tool can be written from the specification."""
    return next(_specification_problems(spec), None)


def _specification_problems(spec: Specification) -> Iterator[str]:
    for parameter in spec.parameters:
        if not parameter.name.isidentifier() or keyword.iskeyword(parameter.name):
            yield f"{parameter.name!r} can't be the name of a parameter"
        if problem := annotation_problem(parameter.annotation, parameter.name):
            yield problem
        if parameter.default is not None and not is_literal(parameter.default):
            yield f"the default {parameter.default!r} of {parameter.name} is not a Python literal"
    if len({p.name for p in spec.parameters}) < len(spec.parameters):
        yield "two parameters have the same name"
    if problem := annotation_problem(spec.returns, "the returned value"):
        yield problem
    yield from _word_problems(spec.description, spec.parameters, spec.example_requests)
    yield from (
        problem
        for example in spec.user_examples
        if (problem := example_problem(example, spec.signature()))
    )
    if not spec.examples and not spec.network:
        yield "there are no examples"
    try:
        parse_signature(stub(spec.signature()), spec.name)
    except SignatureError as error:
        yield str(error)  # a required parameter after one with a default, for instance


def probe_problem(spec: Specification) -> str | None:
    """Why the probes of a specification can't be sent."""
    if len(spec.probes) > MOST_PROBES:
        return f"there are {len(spec.probes)} probes, more than {MOST_PROBES}"
    for url in spec.probes:
        if not any(access.covers(HttpRequest(method="GET", url=url)) for access in spec.accesses):
            return f"no access under `network` allows the probe GET {url}"
    return None


def draft_problem(draft: ToolDraft) -> str | None:
    """Why a tool whose specification was not checked here can't be shown to a model and to people;
    None if it can.
    """
    return next(_draft_problems(draft), None)


def _draft_problems(draft: ToolDraft) -> Iterator[str]:
    for parameter in draft.signature.parameters:
        if problem := annotation_problem(parameter.annotation, parameter.name):
            yield problem
        if parameter.default is None:
            continue
        if not is_literal(parameter.default) or len(parameter.default) > LONGEST:
            yield (
                f"the default {parameter.default[:80]!r} of {parameter.name} is not a Python "
                f"literal of at most {LONGEST} characters"
            )
    if problem := annotation_problem(draft.signature.returns, "the returned value"):
        yield problem
    if len(draft.example_requests) > MOST_REQUESTS:
        yield f"there are {len(draft.example_requests)} example requests, more than {MOST_REQUESTS}"
    yield from _word_problems(draft.description, draft.signature.parameters, draft.example_requests)
    for request in draft.example_requests:
        if problem := plain_line_problem(request):
            yield f"the example request {request[:30]!r} {problem}"
    for what, text in (
        ("the name of the model", draft.model),
        ("the signature", str(draft.signature)),
        ("the code", draft.code.replace("\r\n", "\n")),
        ("the suite", draft.tests.replace("\r\n", "\n")),
    ):
        if character := hidden(text):
            yield f"{what} has characters that act or hide, such as {character}"


def _word_problems(
    description: str, parameters: Sequence[Parameter | SpecParameter], requests: Sequence[str]
) -> Iterator[str]:
    """The problems of the texts that other people's turns will show to the model; they have to be
    plain, short descriptions.
    """
    if not description.strip():
        yield "the description is empty"
    described = [
        ("the description", description),
        *((f"the description of {p.name}", p.description) for p in parameters),
    ]
    request_texts = [(f"the example request {request[:30]!r}", request) for request in requests]
    for what, text in (*described, *request_texts):
        if len(text) > LONGEST:
            yield f"{what} is longer than {LONGEST} characters"
        if character := hidden(text):
            yield f"{what} has characters that act or hide, such as {character}"
    yield from (
        f"{what} {problem}" for what, text in described if (problem := plain_line_problem(text))
    )


def suite_problem(tests: str, name: str) -> str | None:
    """Why the suite is not worth running: it does not parse, has no test, or steers what judges
    it.
    """
    try:
        return next(_suite_problems(Suite(tests, name)), None)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"the suite is not valid Python: {error}"


def _suite_problems(suite: Suite) -> Iterator[str]:
    tool = suite.tool
    if not (names := [test.name for test in suite.tests]):
        yield "the suite has no function whose name begins with test_"
    for twice in (name for name, times in Counter(names).items() if times > 1):
        yield f"two tests are named {twice}, so the first never runs"
    yield from problems(suite)
    if not any(_imports_from(node, tool) for node in suite.nodes):
        yield f"the suite does not import the function with `from {tool} import {tool}`"
    if foreign := _foreign_imports(suite.module, _TEST_IMPORTS | {tool}):
        yield f"the suite imports {foreign}; only {_THERE}, pytest and {tool} are there"


def module_problem(
    code: str,
    signature: Signature,
    tools: Importable | None = None,
    lock: PackageLock | None = None,
) -> str | None:
    """Why the module can't be the tool: it does not parse, has another signature, or imports
    something unavailable.

    `tools` are those that it may import, and the lock has its own packages.
    """
    tools, modules = tools or Importable(), lock.modules if lock else {}
    try:
        parsed = parse_signature(code, signature.function)
    except SignatureError as error:
        return str(error)
    if [(p.name, p.default) for p in parsed.parameters] != [
        (p.name, p.default and ast.unparse(ast.parse(p.default, mode="eval")))
        for p in signature.parameters
    ]:
        return f"the signature is `{parsed}`, but the specification says `{signature}`"
    if foreign := _foreign_imports(ast.parse(code), _TOOL_IMPORTS | tools.names | modules.keys()):
        packages = {m: p.name for p in (lock.packages if lock else ()) for m in p.modules}
        unasked = [
            f"{name} is of the package {packages[name]}, which the specification does not ask for; "
            for name in foreign.split(", ")
            if name in packages
        ]
        return (
            f"the code imports {foreign}; {''.join(unasked)}only {', '.join([_THERE, *modules])} "
            f"are there{', and tools of the library' if tools.names else ''}"
        )
    if used := next(_introspection(Suite(code, "")), ""):
        instead = [remedy for start, remedy in _INSTEAD.items() if used.startswith(start)]
        return (
            f"the code uses `{used}`, through which a tool can see how it is run, and that it is "
            f"tested; {', '.join(instead) or 'compute the result from the arguments alone'}"
        )
    return tools.problem(code, signature.function, lock)


def _introspection(module: Suite) -> Iterator[str]:
    """The names by which a module looks at itself or at its runner."""
    for node in module.nodes:
        name, parent, text = module.dotted(node), module.parents.get(node), _text(node)
        if isinstance(node, ast.Name) and (
            (name in _GUARDED and "." not in name and not isinstance(parent, ast.Attribute))
            or (name == "getattr" and getattr(parent, "func", None) is not node)
        ):
            yield name
        if isinstance(node, ast.Attribute) and (
            _guarded(name) or (name.startswith("sys.") and not isinstance(node.ctx, ast.Load))
        ):
            yield name
        if _PLACES.search(text):
            yield excerpt(node)
        match node:
            case ast.Import(names=names):
                yield from (n.name for n in names if _guarded(n.name))
            case ast.ImportFrom(module=str(origin), names=names):
                inner = (f"{origin}.{n.name}" for n in names)
                yield from (n for n in inner if _guarded(n) or n.rpartition(".")[2] in _INTERNALS)
            case ast.Attribute(attr=attr) if attr in _INTERNALS:
                yield excerpt(node)
            case ast.Name(id=attr) if attr in _INTERNALS - FRAMES:
                yield attr
            case ast.FunctionDef(name="__signature__"):
                yield "__signature__"
            case ast.Call(func=ast.Attribute(attr="start")) if _starts_early(module, node):
                yield excerpt(node)
            case ast.MatchClass(kwd_attrs=attrs):
                yield from _INTERNALS.intersection(attrs)
            case ast.Subscript(slice=key) if _text(key) in _INTERNALS:
                yield excerpt(node)
            case ast.Call(func=func, args=[_, *_] as args):
                if _reaches(module, module.dotted(func), args):
                    yield excerpt(node)


def _starts_early(module: Suite, node: ast.AST) -> bool:
    """Whether a call is made while the module is loaded, which uses threads."""
    around = module.parents.get(node)
    while around and not isinstance(around, (*FUNCTIONS, ast.Lambda)):
        around = module.parents.get(around)
    return not around and any(name.startswith("threading") for name in module.meanings.values())


def _reaches(module: Suite, function: str, args: Sequence[ast.expr]) -> bool:
    """Whether a call gets an attribute, or runs text, that a tool may not use."""
    of = module.dotted(args[0])
    match function, [_text(argument) for argument in args]:
        case (("eval" | "exec" | "compile"), [text, *_]):
            return bool(_WORDS.search(text))
        case "operator.attrgetter", names:
            return any(not name or bool(_WORDS.search(name)) for name in names)
        case (("getattr" | "setattr" | "delattr"), [_, name, *_]):
            is_self = isinstance(args[0], ast.Name) and args[0].id in ("self", "cls")
            computed = not name and not is_self and (not of or bool(_guarded(f"{of}.?")))
            return computed or name in _INTERNALS or bool(name and _guarded(f"{of}.{name}"))
    return False


def _guarded(name: str) -> bool:
    """Whether a dotted name is one that no tool may use."""
    parts = name.split(".")
    if parts[0] not in sys.stdlib_module_names:
        return False
    # A module may be reached through one that imports it.
    parts = parts[max((n for n, part in enumerate(parts) if part in _GUARDED), default=0) :]
    if any(part.startswith("_") and not part.endswith("_") for part in parts[:2]):
        return True
    for end in range(1, len(parts) + 1):
        allowed = _GUARDED.get(".".join(parts[:end]))
        if allowed is not None and not (allowed and {*parts[end : end + 1]} <= {*allowed.split()}):
            return True
    return False


def _text(node: ast.AST) -> str:
    """The text of a constant, or of constants that are put together; "" for anything else."""
    between, parts = "", list[ast.expr]()
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(value=part):
            parts = [part]
        case ast.JoinedStr(values=parts):
            pass
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = [left, right]
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(between)), attr="join"),
            args=[ast.List(elts=parts) | ast.Tuple(elts=parts)],
        ):
            pass
    texts = [_text(part) for part in parts]
    return between.join(texts) if all(texts) else ""


def _imports_from(node: ast.AST, name: str) -> bool:
    match node:
        case ast.ImportFrom(module=module):
            return module == name
        case ast.Import(names=names):
            return any(n.name == name for n in names)
    return False


def _foreign_imports(module: ast.Module, available: frozenset[str] | set[str]) -> str:
    """Names of top-level modules that are imported but not known, "" if there are none."""
    return ", ".join(sorted({name for name, _ in imports(module)} - available))
