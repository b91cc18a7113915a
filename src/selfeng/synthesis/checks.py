"""Static checks of a specification, a suite and a module, before anything runs in the sandbox.

Source is only parsed, never run. Each check returns the first problem in words that the model can
act on, or None.
"""

import ast
import keyword
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from selfeng.core.composition import Importable, imports
from selfeng.core.packages import sandbox_packages
from selfeng.core.signature import Parameter, Signature, SignatureError, parse_signature
from selfeng.core.spec import Specification, SpecParameter
from selfeng.core.tool import ToolDraft
from selfeng.core.visible import hidden, plain_line_problem
from selfeng.synthesis.annotations import annotation_problem
from selfeng.synthesis.examples import example_problem
from selfeng.synthesis.stubs import stub
from selfeng.synthesis.suite import Suite, problems

_TOOL_IMPORTS = frozenset(sys.stdlib_module_names) | set(sandbox_packages())
_TEST_IMPORTS = _TOOL_IMPORTS | {"pytest"}
MOST_REQUESTS = 20
"""Example requests of a tool."""
LONGEST = 300
"""Maximum characters of the description of a tool or a parameter, which is shown wherever tools are
chosen later.
"""
_THERE = ", ".join(["the standard library", *sandbox_packages()])


def specification_problem(spec: Specification) -> str | None:
    """Why no tool can be written from the specification."""
    return next(_specification_problems(spec), None)


def _specification_problems(spec: Specification) -> Iterator[str]:
    for parameter in spec.parameters:
        if not parameter.name.isidentifier() or keyword.iskeyword(parameter.name):
            yield f"{parameter.name!r} can't be the name of a parameter"
        if problem := annotation_problem(parameter.annotation, parameter.name):
            yield problem
        if parameter.default is not None and not _is_literal(parameter.default):
            yield f"the default {parameter.default!r} of {parameter.name} is not a Python literal"
    if len({p.name for p in spec.parameters}) < len(spec.parameters):
        yield "two parameters have the same name"
    if problem := annotation_problem(spec.returns, "the returned value"):
        yield problem
    yield from _word_problems(spec.description, spec.parameters, spec.example_requests)
    for example in spec.user_examples:
        if problem := example_problem(example, spec.signature()):
            yield problem
    if not spec.examples:
        yield "there are no examples"
    try:
        parse_signature(stub(spec.signature()), spec.name)
    except SignatureError as error:
        yield str(error)  # a required parameter after one with a default, for instance


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
        if not _is_literal(parameter.default) or len(parameter.default) > LONGEST:
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
    """What is wrong with the texts that other people's turns will show to the model; they have to
    be plain, short descriptions.
    """
    if not description.strip():
        yield "the description is empty"
    described = [
        ("the description", description),
        *((f"the description of {p.name}", p.description) for p in parameters),
    ]
    asked = [(f"the example request {request[:30]!r}", request) for request in requests]
    for what, text in (*described, *asked):
        if len(text) > LONGEST:
            yield f"{what} is longer than {LONGEST} characters"
        if character := hidden(text):
            yield f"{what} has characters that act or hide, such as {character}"
    for what, text in described:
        if problem := plain_line_problem(text):
            yield f"{what} {problem}"


def suite_problem(tests: str, name: str) -> str | None:
    """Why the suite is not worth running: it does not parse, tests nothing, asserts nothing, or
    evades.
    """
    try:
        return next(_suite_problems(Suite(tests, name)), None)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"the suite is not valid Python: {error}"


def _suite_problems(suite: Suite) -> Iterator[str]:
    tool = suite.tool
    names = [test.name for test in suite.tests]
    if not names:
        yield "the suite has no function whose name begins with test_"
    for twice in (name for name, times in Counter(names).items() if times > 1):
        yield f"two tests are named {twice}, so the first never runs"
    yield from problems(suite)
    if not any(_imports_from(node, tool) for node in suite.nodes):
        yield f"the suite does not import the function with `from {tool} import {tool}`"
    foreign = _foreign_imports(suite.module, _TEST_IMPORTS | {tool})
    if foreign:
        yield f"the suite imports {foreign}; only {_THERE}, pytest and {tool} are there"


def module_problem(code: str, wanted: Signature, tools: Importable | None = None) -> str | None:
    """Why the module can't be the tool: it does not parse, has another signature, or imports
    something unavailable.

    `tools` are those that it may import.
    """
    tools = tools or Importable()
    try:
        found = parse_signature(code, wanted.function)
    except SignatureError as error:
        return str(error)
    if [(p.name, p.default) for p in found.parameters] != [
        (p.name, _normal(p.default)) for p in wanted.parameters
    ]:
        return f"the signature is `{found}`, but the specification says `{wanted}`"
    foreign = _foreign_imports(ast.parse(code), _TOOL_IMPORTS | tools.names)
    if foreign:
        return f"the code imports {foreign}; only {_THERE} are there" + (
            ", and tools of the library" if tools.names else ""
        )
    return tools.problem(code, wanted.function)


def _imports_from(node: ast.AST, name: str) -> bool:
    match node:
        case ast.ImportFrom(module=module):
            return module == name
        case ast.Import(names=names):
            return any(n.name == name for n in names)
    return False


def _foreign_imports(module: ast.Module, known: frozenset[str] | set[str]) -> str:
    """Names of top-level modules that are imported but not known, "" if there are none."""
    imported = {name for name, _ in imports(module)}
    return ", ".join(sorted(imported - known))


def _is_literal(source: str) -> bool:
    try:
        ast.literal_eval(source)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return False
    return True


def _normal(default: str | None) -> str | None:
    return None if default is None else ast.unparse(ast.parse(default, mode="eval"))
