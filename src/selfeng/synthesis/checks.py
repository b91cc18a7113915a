"""Static checks of a specification, a suite and a module, before anything runs in the sandbox.

Source is only parsed, never run. Each check returns the first problem in words that the model can
act on, or None.
"""

import ast
import keyword
import sys
from collections import Counter
from collections.abc import Iterator

from selfeng.core.composition import Importable, imports
from selfeng.core.packages import sandbox_packages
from selfeng.core.signature import Signature, SignatureError, parse_signature
from selfeng.core.spec import Specification
from selfeng.core.visible import visible
from selfeng.synthesis.annotations import annotation_problem
from selfeng.synthesis.examples import example_problem
from selfeng.synthesis.stubs import stub
from selfeng.synthesis.suite import Suite, problems

_TOOL_IMPORTS = frozenset(sys.stdlib_module_names) | set(sandbox_packages())
_TEST_IMPORTS = _TOOL_IMPORTS | {"pytest"}
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
    if not spec.description.strip():
        yield "the description is empty"
    for what, text in _shown_later(spec):
        if len(text) > LONGEST:
            yield f"{what} is longer than {LONGEST} characters"
        if visible(text) != text:
            yield f"{what} has characters that act or hide"
    for example in spec.user_examples:
        if problem := example_problem(example, spec.signature()):
            yield problem
    if not spec.examples:
        yield "there are no examples"
    try:
        parse_signature(stub(spec.signature()), spec.name)
    except SignatureError as error:
        yield str(error)  # a required parameter after one with a default, for instance


def _shown_later(spec: Specification) -> Iterator[tuple[str, str]]:
    """The texts that other people's turns will show to the model; they have to be plain, short
    descriptions.
    """
    yield "the description", spec.description
    for parameter in spec.parameters:
        yield f"the description of {parameter.name}", parameter.description
    for request in spec.example_requests:
        yield f"the example request {request[:30]!r}", request


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
