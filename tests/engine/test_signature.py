"""Signatures with unusual annotations: what a model is shown, what is bound, and what is refused in
a specification.
"""

import contextlib
import json

import pytest

from selfeng.core.signature import Parameter, Signature, SignatureError, parse_signature
from selfeng.core.spec import SpecParameter
from selfeng.stages.execution.arguments import ArgumentsInvalid, bind, python_type
from selfeng.synthesis.checks import specification_problem
from tests.doubles import specification

ODD = [
    "Literal[b'x']",
    "Literal[...]",
    "Literal[()]",
    "Literal[1, b'x']",
    "Literal[Color.RED]",
    "Literal[-'x']",
    "Literal[1 + 2j]",
    "Literal[1e999]",
    "Literal[{[]}]",
    "Literal[(1, 2), 3]",
    "Literal[*x]",
    "Literal['\\ud800']",
    f"Literal[{hex(10**5000)}]",
    "Literal",
    "list[()]",
    "list[...]",
    "list[1:2]",
    "list[*x]",
    "list[int][str]",
    "tuple[()]",
    "dict[()]",
    "dict[str]",
    "dict[str, list[()]]",
    "Optional",
    "Optional[()]",
    "Optional[Literal[()]]",
    "Union[()]",
    "Union[Optional[()], None]",
    "None | 'int'",
    "int | Literal[b'x']",
    "Callable[[int], str]",
    "Annotated[int, 5]",
    "a.b.c[d]",
    "str[int]",
    "lambda: 1",
    "f'{x}'",
    "'\\x00'",
    "''",
    "list[" * 60 + "int" + "]" * 60,
    "dict[str, " * 60 + "int" + "]" * 60,
    "Optional[" * 60 + "int" + "]" * 60,
    "(int | " * 60 + "str" + ")" * 60,
]
NO_EXPRESSIONS = [
    "",
    "int int",
    "\x00",
    "list[" * 5000 + "int" + "]" * 5000,
    " | ".join(["int"] * 5000),
    "-" * 5000 + "1",
    "Literal[" + "-" * 5000 + "1]",
]
TOLERATED = [
    "tuple[int, ...]",
    "Optional[None]",
    "Union[None, None]",
    "None | None",
    "Literal['a'] | None",
    " | ".join(f"Literal[{i}]" for i in range(300)),
]
VALUES = [
    None,
    True,
    0,
    -1,
    1.5,
    1e308,
    float("inf"),
    float("nan"),
    10**400,
    "",
    "x",
    "1",
    "\ud800",
    [],
    [None],
    {},
    {"a": [1]},
]


def brief(annotation: str) -> str:
    return ascii(annotation[:30])


@pytest.mark.parametrize("annotation", [*ODD, *NO_EXPRESSIONS, *TOLERATED], ids=brief)
def test_every_annotation_makes_a_schema_of_plain_json_and_binds_or_refuses(annotation):
    signature = Signature(function="f", parameters=(Parameter(name="a", annotation=annotation),))
    schema = json.dumps(signature.json_schema(), allow_nan=False, ensure_ascii=False).encode()
    assert json.loads(schema) == signature.json_schema()
    assert b'"anyOf": []' not in schema
    assert b'"enum": [null]' not in schema
    for value in VALUES:
        with contextlib.suppress(ArgumentsInvalid):
            assert list(bind(signature, {"a": value})) == ["a"]


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        ("Literal[-1, 1]", {"enum": [-1, 1, None]}),
        ("Literal['a', 1, 1.5, True, None]", {"enum": ["a", 1, 1.5, True, None]}),
        ("Literal['a', 'a']", {"enum": ["a", None]}),
        ("Literal[b'x', 1]", {}),
        ("Literal[()]", {}),
        ("list[()]", {"anyOf": [{"type": "array", "items": {}}, {"type": "null"}]}),
        (
            "tuple[int, ...]",
            {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        ),
        ("dict[()]", {"anyOf": [{"type": "object", "additionalProperties": {}}, {"type": "null"}]}),
        ("Optional[()]", {}),
        ("Union[None, None]", {"type": "null"}),
        (
            "int | str | None",
            {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
        ),
    ],
)
def test_the_schema_of_an_annotation(annotation, schema):
    signature = Signature(function="f", parameters=(Parameter(name="a", annotation=annotation),))
    assert signature.json_schema()["properties"] == {"a": schema}


def test_other_programs_see_what_is_required_and_the_defaults():
    source = (
        "def f(text: str, n: int = 3, sep: str | None = None, at: float = 1e999, "
        "kinds: list[str] = ['a'], many: int = None): ..."
    )
    signature = parse_signature(source, "f", {"text": "What to cut.", "at": "Where."})
    assert signature.input_schema() == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What to cut."},
            "n": {"type": "integer", "default": 3},
            "sep": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "at": {"type": "number", "description": "Where. (default 1e309)"},
            "kinds": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
            "many": {"type": "integer", "description": "(default None)"},
        },
        "required": ["text"],
        "additionalProperties": False,
    }


def test_negative_literals_are_bound():
    signature = Signature(
        function="f", parameters=(Parameter(name="a", annotation="Literal[-1, 1]"),)
    )
    assert bind(signature, {"a": -1}) == {"a": -1}
    with pytest.raises(ArgumentsInvalid, match="a=0 is not Literal"):
        bind(signature, {"a": 0})


def test_deep_annotations_are_bound_as_far_as_they_are_plain():
    assert python_type("list[list[int]]") == list[list[int]]
    signature = Signature(
        function="f", parameters=(Parameter(name="a", annotation="list[" * 60 + "int" + "]" * 60),)
    )
    assert bind(signature, {"a": [[[]]]}) == {"a": [[[]]]}
    with pytest.raises(ArgumentsInvalid):
        bind(signature, {"a": [["x"]]})


def test_source_that_cannot_be_written_out_again_is_refused():
    with pytest.raises(SignatureError, match="the code of f"):
        parse_signature(f"def f(a={hex(10**5000)}): ...", "f")


def refusal(annotation: str, returns: str = "int") -> str | None:
    parameters = (SpecParameter(name="a", annotation=annotation, default=None, description=""),)
    return specification_problem(
        specification().model_copy(update={"parameters": parameters, "returns": returns})
    )


MORE_ODD = [
    "datetime.date",
    "Color",
    "bytes",
    "object",
    "dict[int, str]",
    "'int'",
    "list[int, str]",
    "3",
    "Union",
    "a.int",
]
ALLOWED = (
    "it must be made of str, int, float, bool, list[...], dict[str, ...], ... | None and "
    "Literal[...] of plain values"
)


@pytest.mark.parametrize("annotation", [*ODD, *MORE_ODD], ids=brief)
def test_annotations_outside_of_the_vocabulary_are_refused_by_name(annotation):
    named = ascii(annotation[:100])
    assert (
        refusal(annotation)
        == f"the annotation {named} of a is not one that tools may have; {ALLOWED}"
    )
    assert (
        refusal("int", annotation)
        == f"the annotation {named} of the returned value is not one that tools may have; {ALLOWED}"
    )


@pytest.mark.parametrize("annotation", NO_EXPRESSIONS, ids=brief)
def test_annotations_that_are_no_expressions_are_refused(annotation):
    assert (
        refusal(annotation)
        == f"the annotation {annotation[:100]!a} of a is not a Python expression"
    )


@pytest.mark.parametrize(
    "annotation",
    [
        *TOLERATED,
        "str",
        "float | None",
        "list",
        "dict",
        "list[dict[str, list[int | None]]]",
        "typing.Optional[List[str]]",
        "Union[int, Dict[str, Any]]",
        "tuple[int, str]",
        "set[str]",
        "Literal['a', -1, 1.5, True, None]",
        "None",
        "Any",
    ],
    ids=brief,
)
def test_annotations_of_the_vocabulary_are_let_through(annotation):
    assert (refusal(annotation), refusal("int", annotation)) == (None, None)
