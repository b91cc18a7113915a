"""The examples that the person gave, as tests: they are frozen with the suite, and no vote drops
them.
"""

import ast
import json
import re
from collections.abc import Sequence
from itertools import combinations

from selfeng.core.result import Dispute, TaughtRow
from selfeng.core.signature import UNREADABLE, Signature
from selfeng.core.spec import SpecExample, Specification
from selfeng.synthesis.inputs import Arguments, calls_in
from selfeng.synthesis.probe import shown_call

PREFIX = "test_user_example_"
_RAISES = "raises "
_LONGEST_EXAMPLE = 4_000
"""Characters of a call and its value that a test is made of."""


def example_problem(example: SpecExample, signature: Signature) -> str | None:
    """Why the example can't be a test: it has to be one call with literal arguments, and a literal
    or `raises SomeError`.
    """
    if len(example.call) + len(example.result) > _LONGEST_EXAMPLE:
        return "the example is too long for a test"
    if not arguments_of(example, signature):
        return (
            f"the example {example.call!r} is no call of {signature.function} with literal "
            "arguments"
        )
    if exception_of(example) is None and not is_literal(example.result):
        return (
            f"the result {example.result!r} of {example.call!r} is neither a Python literal "
            "nor `raises SomeError`"
        )
    return None


def arguments_of(example: SpecExample, signature: Signature) -> Arguments | None:
    """The arguments of the example's call by name, None if it is no such call or has none."""
    try:
        node = ast.parse(example.call, mode="eval").body
    except UNREADABLE:
        return None
    calls = calls_in(example.call, signature) if isinstance(node, ast.Call) else []
    return calls[0] if calls else None


def example_tests(function: str, examples: Sequence[SpecExample]) -> str:
    """The suite of some examples, "" if there are none; `example_problem` must have accepted them.

    Examples that need a file, which a comment mentions, are left to the tester.
    """
    tests = [
        _test(f"{PREFIX}{number}", example)
        for number, example in enumerate(examples, 1)
        if "#" not in example.call
    ]
    return (
        "\n\n".join([f"import pytest\n\nfrom {function} import {function}\n", *tests])
        if tests
        else ""
    )


def expected_examples(spec: Specification, dispute: Dispute) -> list[SpecExample]:
    """The values that a person gives for the call that went wrong, and for others; without those
    that are too long for a test.
    """
    if spec.name != dispute.result.tool:
        return []
    rows = list(dispute.rows)
    if dispute.expected and dispute.arguments:
        value = json.loads(dispute.expected)
        rows.append(TaughtRow(arguments=dispute.arguments, value=value))
    examples = [example_of(spec.name, row) for row in rows]
    return [e for e in examples if not example_problem(e, spec.signature())]


def example_of(function: str, row: TaughtRow) -> SpecExample:
    return SpecExample(call=shown_call(function, row.arguments), result=repr(row.value))


def with_example(spec: Specification, example: SpecExample) -> Specification:
    """The specification with a person's own example in place of any other of the same call."""
    signature = spec.signature()
    arguments = arguments_of(example, signature)

    def others(examples: Sequence[SpecExample]) -> list[SpecExample]:
        return [e for e in examples if arguments_of(e, signature) != arguments]

    return spec.model_copy(
        update={
            "user_examples": (example, *others(spec.user_examples)),
            "examples": tuple(others(spec.examples)),
        }
    )


def stated(example: SpecExample, transcript: str) -> bool:
    """Whether a person can have given the example: the numbers and texts of its call and result, or
    an error, occur in what was said.
    """
    text, exception = transcript.replace(",", "").lower(), exception_of(example)
    if exception and exception.lower() not in text and "error" not in text:
        return False
    try:
        sources = [example.call] if exception else [example.call, example.result]
        nodes = [node for source in sources for node in ast.walk(ast.parse(source, mode="eval"))]
    except UNREADABLE:
        return False
    values = [
        n.value for n in nodes if isinstance(n, ast.Constant) and not isinstance(n.value, bool)
    ]
    numbers = {float(n) for n in re.findall(r"\d+(?:\.\d+)?", text)}
    texts = [v.replace(",", "").lower() for v in values if isinstance(v, str)]
    return (
        all(t in text for t in texts)
        and {float(v) for v in values if isinstance(v, int | float)} <= numbers
    )


def contradiction(spec: Specification) -> dict[str, str]:
    """The `call` of two of the person's examples of which only one can be right, with the results
    `first` and `second`; {} if all can.
    """
    signature = spec.signature()
    for first, second in combinations(spec.user_examples, 2):
        same = arguments_of(first, signature) == arguments_of(second, signature)
        if same and not _agree(first, second):
            return {"call": first.call, "first": first.result, "second": second.result}
    return {}


def denied(spec: Specification, tests: str) -> str:
    """Which of the person's examples a test denies, by its literals; "" if none does."""
    signature = spec.signature()
    results = [(arguments_of(e, signature), e) for e in spec.user_examples if not exception_of(e)]
    for node in ast.walk(ast.parse(tests)):
        match node:
            case ast.Compare(left=ast.Call() as call, ops=[ast.Eq()], comparators=[right]):
                assertion = SpecExample(call=ast.unparse(call), result=ast.unparse(right))
                if example_problem(assertion, signature):
                    continue
                for arguments, example in results:
                    if arguments_of(assertion, signature) == arguments and not _agree(
                        assertion, example
                    ):
                        return (
                            f"a test says that `{assertion.call}` is {assertion.result}, but an "
                            f"example of the person says {example.result}"
                        )
    return ""


def _agree(first: SpecExample, second: SpecExample) -> bool:
    if exception_of(first) or exception_of(second):
        return exception_of(first) == exception_of(second)
    return bool(ast.literal_eval(first.result) == ast.literal_eval(second.result))


def _test(name: str, example: SpecExample) -> str:
    call, exception = ast.unparse(ast.parse(example.call, mode="eval")), exception_of(example)
    if exception:
        return f"def {name}():\n    with pytest.raises({exception}):\n        {call}\n"
    return f"def {name}():\n    assert {call} == {_expected(example.result)}\n"


def _expected(result: str) -> str:
    """The expected value, with floats compared as nearly equal; pytest does so only in flat
    collections.
    """
    source, value = ast.unparse(ast.parse(result, mode="eval")), ast.literal_eval(result)
    inner = (
        list(value.values())
        if isinstance(value, dict)
        else list(value)
        if isinstance(value, list | tuple)
        else [value]
    )
    numbers = all(isinstance(v, int | float) for v in inner)
    return (
        f"pytest.approx({source})"
        if numbers and any(isinstance(v, float) for v in inner)
        else source
    )


def exception_of(example: SpecExample) -> str | None:
    """The exception's name where the example's result is `raises SomeError`."""
    name = example.result.strip().removeprefix(_RAISES)
    return name if example.result.strip().startswith(_RAISES) and name.isidentifier() else None


def is_literal(source: str) -> bool:
    try:
        ast.literal_eval(source)
    except UNREADABLE:
        return False
    return True
