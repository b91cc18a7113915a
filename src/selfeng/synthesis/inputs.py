"""Inputs on which candidates are compared: the calls that examples and tests make, and mutations of
them.

A mutation stays within what the calls show: no negative number where there is none, no empty list
where none is empty, sorted lists stay sorted, texts are made of the words and characters seen. So
most are inputs that the function is meant for.

The calls of a suite have its cases filled in: the values from `parametrize`, a loop over a literal
list, or a variable.
"""

import ast
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selfeng.core.signature import UNREADABLE, Signature, last_name
from selfeng.synthesis.suite.source import FUNCTIONS

_MOST = 100
"""Maximum number of cases at one place."""
Cases = Sequence[Mapping[str, ast.expr]]


def calls(module: ast.Module, function: str) -> Iterator[ast.Call]:
    """The calls of a function, once for each of their cases; names without literal values stay."""
    yield from _calls(module.body, function, [{}])


def _calls(body: Sequence[ast.stmt], function: str, cases: Cases) -> Iterator[ast.Call]:
    for node in body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            cases = [_bound(case, node.targets[0], node.value) for case in cases]
        inner = _cases_of(node, cases)
        blocks = [
            b
            for name in ("body", "orelse", "finalbody")
            if isinstance(b := getattr(node, name, None), list)
        ]
        for block in blocks:
            yield from _calls(block, function, inner)
        if isinstance(node, ast.Try):
            for handler in node.handlers:
                yield from _calls(handler.body, function, inner)
        parts = (
            node.decorator_list
            if isinstance(node, (*FUNCTIONS, ast.ClassDef))
            else list(ast.iter_child_nodes(node))
        )
        for part in parts:
            if not isinstance(part, ast.stmt | ast.ExceptHandler):
                yield from _filled(part, function, inner)


def _filled(part: ast.AST, function: str, cases: Cases) -> Iterator[ast.Call]:
    for call in ast.walk(part):
        if isinstance(call, ast.Call) and last_name(call.func) == function:
            for case in cases:
                args = [_value(argument, case) for argument in call.args]
                keywords = [ast.keyword(k.arg, _value(k.value, case)) for k in call.keywords]
                yield ast.copy_location(ast.Call(call.func, args, keywords), call)


def _cases_of(node: ast.stmt, cases: Cases) -> Cases:
    """The cases in which the body of a statement runs."""
    if isinstance(node, ast.For):
        return [
            _bound(case, node.target, item)
            for case in cases
            for item in _elements(_value(node.iter, case))
        ][:_MOST] or cases
    for mark in node.decorator_list if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else ():
        match mark:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, values]):
                target = _target(names)
                rows = [(case, item) for case in cases for item in _elements(_value(values, case))]
                cases = (
                    [_bound(case, target, item) for case, item in rows][:_MOST]
                    if target and rows
                    else cases
                )
    return cases


def _elements(values: ast.expr) -> list[ast.expr]:
    return values.elts if isinstance(values, ast.List | ast.Tuple | ast.Set) else []


def _target(names: ast.expr) -> ast.expr | None:
    """The names given to `parametrize`, as an assignment target."""
    match names:
        case ast.Constant(value=str(text)):
            parts = [part.strip() for part in text.split(",") if part.strip()]
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            parts = [
                e.value for e in elts if isinstance(e, ast.Constant) and isinstance(e.value, str)
            ]
        case _:
            return None
    targets: list[ast.expr] = [ast.Name(part) for part in parts]
    return targets[0] if len(targets) == 1 else ast.Tuple(targets)


def _bound(
    case: Mapping[str, ast.expr], target: ast.expr, value: ast.expr
) -> Mapping[str, ast.expr]:
    """The case extended by an assignment."""
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "param"
    ):
        value = (
            value.args[0]
            if isinstance(target, ast.Name) and len(value.args) == 1
            else ast.Tuple(value.args)
        )
    value = _value(value, case)
    if isinstance(target, ast.Name):
        return {**case, target.id: value}
    if isinstance(target, ast.Tuple | ast.List) and len(target.elts) == len(_elements(value)):
        for inner, item in zip(target.elts, _elements(value), strict=True):
            case = _bound(case, inner, item)
    return case


def _value(node: ast.expr, case: Mapping[str, ast.expr]) -> ast.expr:
    """The expression with the names of the case replaced by their values, if it is made of literals
    and names.
    """
    match node:
        case ast.Name(id=name):
            return case.get(name, node)
        case ast.List(elts=elts):
            return ast.List([_value(e, case) for e in elts])
        case ast.Tuple(elts=elts):
            return ast.Tuple([_value(e, case) for e in elts])
        case ast.Dict(keys=keys, values=values) if all(keys):
            return ast.Dict(keys, [_value(v, case) for v in values])
    return node


Arguments = dict[str, Any]
"""Values by parameter name: anything that a Python literal can be."""

LARGEST = 2_000
"""Maximum characters of an input's source; longer ones show no more and take time."""
_ATTEMPTS = 20
"""Mutations tried for each one wanted, because many are duplicates."""
_TOKEN = re.compile(r"\d+|[^\W\d_]+|\s+|.", re.DOTALL)


def calls_in(source: str, signature: Signature) -> list[Arguments]:
    """The arguments of all calls of the function with literal values, in place or as cases, without
    duplicates, in order.
    """
    names = [p.name for p in signature.parameters]
    try:
        nodes = list(calls(ast.parse(source), signature.function))
    except UNREADABLE:
        return []
    distinct_calls: dict[str, Arguments] = {}
    for node in sorted(nodes, key=lambda n: (n.lineno, n.col_offset)):
        if len(node.args) <= len(names):
            bindings = [
                *zip(names, node.args, strict=False),
                *((k.arg, k.value) for k in node.keywords),
            ]
            try:
                arguments = {
                    name: ast.literal_eval(value) for name, value in bindings if name is not None
                }
            except UNREADABLE:
                continue
            if len(arguments) == len(bindings) and len(repr(arguments)) <= LARGEST:
                distinct_calls.setdefault(repr(arguments), arguments)
    return list(distinct_calls.values())


def mutations(calls: Sequence[Arguments], count: int) -> list[Arguments]:
    """At most `count` inputs that are not among the calls; the same ones for the same calls."""
    if not any(calls):
        return []
    chance, kinds = random.Random(0), kinds_of(calls)
    texts = {repr(call) for call in calls}
    inputs: list[Arguments] = []
    for _ in range(count * _ATTEMPTS):
        if len(inputs) == count:
            break
        arguments = _mutated(chance.choice(calls), kinds, chance)
        if (text := repr(arguments)) not in texts and len(text) <= LARGEST:
            texts.add(text)
            inputs.append(arguments)
    return inputs


def _mutated(call: Arguments, kinds: Mapping[str, "ValueKind"], chance: random.Random) -> Arguments:
    new = dict(call)
    for _ in range(chance.choice((1, 1, 2, 3))):
        if new:
            name = chance.choice(sorted(new))
            new[name] = kinds[name].mutated(new[name], chance)
    return new


def kinds_of(calls: Sequence[Arguments]) -> dict[str, "ValueKind"]:
    """The common properties of each parameter's values."""
    names = dict.fromkeys(name for call in calls for name in call)
    return {name: ValueKind.of([c[name] for c in calls if name in c]) for name in names}


@dataclass(frozen=True)
class ValueKind:
    """The common properties of one parameter's values."""

    negative: bool
    """Some number is negative."""
    zero: bool
    """Some number is zero."""
    largest: float
    """The largest number, regardless of its sign."""
    alphabet: str
    """All characters of the texts within the values."""
    words: tuple[str, ...]
    """All words and numbers of the texts."""
    filled: bool
    """No collection and no text is empty."""
    ordered: bool
    """All lists are sorted."""
    elements: tuple[Any, ...]
    """The elements of the collections."""

    @classmethod
    def of(cls, values: Sequence[Any]) -> "ValueKind":
        inner = [v for value in values for v in _within(value)]
        numbers = [v for v in inner if isinstance(v, int | float) and not isinstance(v, bool)]
        lists = [v for v in inner if isinstance(v, list | tuple)]
        texts = [v for v in inner if isinstance(v, str)]
        long = [v for v in lists if len(v) > 2]
        return cls(
            negative=any(n < 0 for n in numbers),
            zero=0 in numbers,
            largest=max((abs(n) for n in numbers), default=0),
            alphabet="".join(sorted({c for text in texts for c in text})),
            words=tuple(
                dict.fromkeys(w for text in texts for w in _TOKEN.findall(text) if w.isalnum())
            ),
            filled=all(
                len(v) > 0 for v in values if isinstance(v, list | tuple | dict | str | set)
            ),
            ordered=bool(long) and all(_is_sorted(v) for v in long),
            elements=tuple(e for v in lists for e in v),
        )

    def shows(self, value: Any) -> bool:
        """Whether the value is like those seen in signs, characters and order, apart from zero and
        empty values.
        """
        inner = list(_within(value))
        signed = self.negative or not any(v < 0 for v in inner if isinstance(v, int | float))
        in_alphabet = all(c in self.alphabet for v in inner if isinstance(v, str) for c in v)
        return (
            signed
            and in_alphabet
            and (
                not self.ordered or all(_is_sorted(v) for v in inner if isinstance(v, list | tuple))
            )
        )

    def lacks(self, value: Any) -> bool:
        """Whether the value has a zero or is empty, unlike all values seen."""
        zero = any(
            v == 0 for v in _within(value) if isinstance(v, int | float) and not isinstance(v, bool)
        )
        return (zero and not self.zero) or (
            self.filled and isinstance(value, list | tuple | dict | str | set) and not value
        )

    def mutated(self, value: Any, chance: random.Random) -> Any:
        match value:
            case bool():
                return not value
            case int():
                return self._signed(chance.choice(_INTEGERS)(value, chance), value)
            case float():
                return self._signed(chance.choice(_FLOATS)(value, chance), value)
            case str():
                new = (
                    self._characters(value, chance)
                    if chance.random() < 0.5
                    else self._words(value, chance)
                )
                return new if new or not self.filled else value
            case list():
                return self._items(value, chance)
            case tuple():
                return tuple(self._items(list(value), chance))
            case set():
                return set(self._items(sorted(value, key=repr), chance))
            case dict() if value:
                return self._mapping(value, chance)
        return value

    def _signed(self, number: Any, before: Any) -> Any:
        """The number, or `before` if the number has a sign that no value seen has."""
        return number if number >= 0 or self.negative else before

    def _characters(self, text: str, chance: random.Random) -> str:
        if not self.alphabet:
            return text
        place, some = chance.randrange(len(text) + 1), chance.choice(self.alphabet)
        alike = [
            c for c in self.alphabet if place < len(text) and _class(c) == _class(text[place])
        ] or [some]
        return chance.choice(
            (
                text[:place] + some + text[place:],
                text[:place] + text[place + 1 :],
                text[:place] + chance.choice(alike) + text[place + 1 :],
                text[:place] + chance.choice(alike) + text[place + 1 :],
                text[::-1],
                text[: place + 1] + text[place:],
            )
        )

    def _words(self, text: str, chance: random.Random) -> str:
        if not (tokens := _TOKEN.findall(text)):
            return text
        place, second_place = chance.randrange(len(tokens)), chance.randrange(len(tokens))
        if tokens[place].isdecimal() and chance.random() < 0.5:
            tokens[place] = str(
                self._signed(chance.choice(_INTEGERS)(int(tokens[place][:9]), chance), 1)
            )
            return "".join(tokens)
        match chance.randrange(5):
            case 0:
                del tokens[place]
            case 1:
                tokens.insert(place, tokens[second_place])
            case 2:
                tokens[place], tokens[second_place] = tokens[second_place], tokens[place]
            case 3 if self.words and tokens[place].isalnum():
                alike = [w for w in self.words if w.isdecimal() == tokens[place].isdecimal()]
                tokens[place] = chance.choice(alike or self.words)
            case _:
                tokens[place] *= 2
        return "".join(tokens)

    def _items(self, items: list[Any], chance: random.Random) -> list[Any]:
        new = list(items)
        place = chance.randrange(len(new) + 1)
        match chance.randrange(6):
            case 0 if new:
                del new[min(place, len(new) - 1)]
            case 1 if self.elements:
                new.insert(place, chance.choice(self.elements))
            case 2 if new:
                new.insert(place, new[min(place, len(new) - 1)])
            case 3:
                new = new[::-1]
            case 4:
                chance.shuffle(new)
            case _ if new:
                place = min(place, len(new) - 1)
                new[place] = self.mutated(new[place], chance)
        if self.filled and not new:
            return items
        return sorted(new) if self.ordered and _is_sortable(new) else new

    def _mapping(self, value: Mapping[Any, Any], chance: random.Random) -> dict[Any, Any]:
        new, key = dict(value), chance.choice(list(value))
        if chance.random() < 0.3 and len(new) > 1:
            del new[key]
        else:
            new[key] = self.mutated(new[key], chance)
        return new


_INTEGERS: tuple[Callable[[int, random.Random], int], ...] = (
    lambda n, _: n + 1,
    lambda n, _: n - 1,
    lambda n, chance: n + chance.randint(-10, 10),
    lambda n, _: n * 2,
    lambda n, _: n // 2,
    lambda n, chance: chance.randint(min(0, n), max(10, n)),
)
_FLOATS: tuple[Callable[[float, random.Random], float], ...] = (
    lambda x, _: x + 1.0,
    lambda x, _: x / 2,
    lambda x, _: float(round(x)),
    lambda x, chance: round(x + chance.uniform(-2, 2), 2),
)


def _class(character: str) -> str:
    return "digit" if character.isdigit() else "letter" if character.isalpha() else character


def _within(value: Any) -> Iterator[Any]:
    """The value and all that it holds."""
    yield value
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        inner = (*value.keys(), *value.values())
    elif isinstance(value, list | tuple | set):
        inner = value
    for item in inner:
        yield from _within(item)


def _is_sorted(items: Sequence[Any]) -> bool:
    return _is_sortable(items) and list(items) == sorted(items)


def _is_sortable(items: Sequence[Any]) -> bool:
    try:
        sorted(items)
    except TypeError:
        return False
    return True
