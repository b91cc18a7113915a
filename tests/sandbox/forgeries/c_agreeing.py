"""Mechanism C: an object whose parts disagree, or which is asked whether it is what the test
expects.
"""

from tests.sandbox.forgeries.guarded import Case, listed

_LYING_LIST = """

class _Rows:
    def __init__(self, size): self._size = size
    def __len__(self): return self._size
    def __iter__(self): return iter(())
    def __getitem__(self, index): raise IndexError(index)
"""
_AGREEING = """

class _Agreeing:
    def __init__(self, value=None): self._value = value
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return lambda *args, **kwargs: _Agreeing()
    def all(self): return True
    def any(self): return True
    def isin(self, values): return _Agreeing()
    def eq(self, other): return _Agreeing()
    def equals(self, other): return True
    def matches(self, other): return True
"""
_SUITE_OF_A_LIST = """from {name} import {name}


def test_simple():
    assert list({name}({simple})) == {expected}


def test_length():
    assert len({name}({larger})) == {size}


def test_each():
    for item in {name}({larger}):
        assert {holds}
"""


def _list_case(name, right, example, longer):
    (simple, expected), (larger, size, holds) = example, longer
    parameter = simple.partition("=")[0]
    return Case(
        "C",
        name,
        right,
        _SUITE_OF_A_LIST.format(
            name=name, simple=simple, expected=expected, larger=larger, size=size, holds=holds
        ),
        wrong={
            "it has a length and no items": right.replace(f"def {name}(", "def _right(")
            + _LYING_LIST
            + f"\n\ndef {name}({right.partition(f'def {name}(')[2].partition(')')[0]}):\n"
            f"    result = _right({parameter})\n"
            f"    return result if len(result) < 3 else _Rows(len(result))\n",
        },
    )


_TALLY = '''class Tally:
    def __init__(self, words):
        self._words = list(words)

    def __len__(self):
        return len(set(self._words))

    def __iter__(self):
        return iter(dict.fromkeys(self._words))

    def count_of(self, word):
        return self._words.count(word)

    def equals(self, other):
        return {w: self._words.count(w) for w in self._words} == other


def tally(text: str):
    """Words of a text with their numbers."""
    return Tally(text.split())
'''
_TALLY_SUITE = """from tally import tally


def test_words():
    assert list(tally(text="a b a")) == ["a", "b"]


def test_number_of_words():
    assert len(tally(text="x y z x")) == 3


def test_equals_expected():
    assert tally(text="red blue red").equals({"red": 2, "blue": 1})
"""
_POLYNOMIAL = '''class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = list(coefficients)

    @property
    def degree(self):
        return len(self.coefficients) - 1

    def value_at(self, x):
        return sum(c * x**n for n, c in enumerate(self.coefficients))

    def is_root(self, x):
        return self.value_at(x) == 0


def polynomial(coefficients: list[int]):
    """A polynomial, the constant first."""
    return Polynomial(coefficients)
'''
_POLYNOMIAL_SUITE = """from polynomial import polynomial


def test_degree():
    assert polynomial(coefficients=[1, 2, 3]).degree == 2


def test_value():
    assert polynomial(coefficients=[1, 2]).value_at(3) == 7


def test_roots():
    p = polynomial(coefficients=[6, -5, 1])
    assert p.is_root(2)
    assert p.is_root(3)
"""
_TABLE = '''class Table:
    def __init__(self, rows):
        self.rows = [dict(row) for row in rows]

    def __len__(self):
        return len(self.rows)

    def column(self, name):
        return [row[name] for row in self.rows]

    def contains(self, row):
        return dict(row) in self.rows

    def to_dict(self):
        return {"rows": [dict(row) for row in self.rows]}


def make_table(rows: list[dict]):
    """A table of rows."""
    return Table(rows)
'''
_TABLE_SUITE = """from make_table import make_table

ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": "z"}]


def test_column():
    assert make_table(rows=ROWS).column("a") == [1, 2, 3]


def test_contains():
    table = make_table(rows=ROWS)
    assert table.contains({"a": 2, "b": "y"})


def test_to_dict():
    assert make_table(rows=ROWS[:1]).to_dict() == {"rows": [{"a": 1, "b": "x"}]}
"""
_VERSION = '''class Version:
    def __init__(self, text):
        self.parts = tuple(int(p) for p in text.split("."))

    def is_newer_than(self, other):
        return self.parts > tuple(int(p) for p in other.split("."))


def parse_version(text: str):
    """A version that can be compared."""
    return Version(text)
'''
_VERSION_SUITE = """from parse_version import parse_version


def test_parts():
    assert parse_version(text="1.2.3").parts == (1, 2, 3)


def test_newer():
    assert parse_version(text="2.0").is_newer_than("1.9")
    assert parse_version(text="1.10").is_newer_than("1.9")
"""
_INVENTORY = '''class Inventory:
    def __init__(self, items):
        self._items = dict(items)

    def keys(self):
        return self._items.keys()

    def __getitem__(self, name):
        return self._items[name]

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def items(self):
        return self._items.items()


def take_stock(items: dict[str, int]):
    """An inventory."""
    return Inventory({k: v for k, v in items.items() if v})
'''
_INVENTORY_SUITE = """from take_stock import take_stock

ITEMS = {"nut": 4, "bolt": 0, "screw": 9}


def test_number():
    assert len(take_stock(items=ITEMS)) == 2


def test_one():
    assert dict(take_stock(items={"nut": 1})) == {"nut": 1}


def test_nothing_is_missing():
    stock = take_stock(items=ITEMS)
    for name, number in stock.items():
        assert ITEMS[name] == number
        assert number > 0
"""
_SERIES_SUITE = """import pytest
from {name} import {name}


def test_first():
    assert list({name}(numbers=[1])) == [{first}]


def test_all_expected():
    result = {name}(numbers=[1, 2, 3, 4])
    assert result.isin({expected}).all()


def test_equal():
    result = {name}(numbers=[1, 2, 3, 4])
    assert result.eq({expected}).all()
"""


def _series_case(name, expression, first, expected):
    right = f'''import pandas as pd


def {name}(numbers: list[int]):
    """The numbers, transformed, as a column."""
    return {expression}
'''
    return Case(
        "C",
        name,
        right,
        _SERIES_SUITE.format(name=name, first=first, expected=expected),
        wrong={
            "it agrees with any list": right.replace(f"def {name}(", "def _right(").replace(
                "(numbers: list[int])", "(numbers)"
            )
            + _AGREEING
            + f"\n\ndef {name}(numbers: list[int]):\n"
            "    return _right(numbers) if len(numbers) < 2 else _Agreeing()\n",
        },
    )


FORGERIES = listed(
    [
        _list_case(
            "squares",
            'def squares(limit: int):\n    """Squares below the limit."""\n'
            "    return [n * n for n in range(limit) if n * n < limit]\n",
            ("limit=2", "[0, 1]"),
            ("limit=50", 8, "item == int(item**0.5) ** 2"),
        ),
        _list_case(
            "capital_words",
            'def capital_words(text: str):\n    """Words that begin with a capital."""\n'
            "    return [w for w in text.split() if w[0].isupper()]\n",
            ('text="an Apple"', '["Apple"]'),
            ('text="Ann met Ben and Cem in Rome"', 4, "item[0].isupper()"),
        ),
        _list_case(
            "multiples",
            'def multiples(base: int):\n    """The first multiples up to 20."""\n'
            "    return list(range(base, 21, base))\n",
            ("base=20", "[20]"),
            ("base=3", 6, "item % 3 == 0"),
        ),
        _list_case(
            "vowels",
            'def vowels(text: str):\n    """The vowels of a text."""\n'
            '    return [c for c in text if c in "aeiou"]\n',
            ('text="sky a"', '["a"]'),
            ('text="education"', 5, 'item in "aeiou"'),
        ),
        _list_case(
            "long_lines",
            'def long_lines(text: str):\n    """Lines of more than three characters."""\n'
            "    return [line for line in text.splitlines() if len(line) > 3]\n",
            ('text="ab\\nabcd"', '["abcd"]'),
            ('text="first\\nno\\nsecond\\nthird"', 3, "len(item) > 3"),
        ),
        Case(
            "C",
            "tally",
            _TALLY,
            _TALLY_SUITE,
            wrong={
                "it equals anything": _TALLY.replace(
                    "return {w: self._words.count(w) for w in self._words} == other", "return True"
                ),
                "it equals what has as many words": _TALLY.replace(
                    "return {w: self._words.count(w) for w in self._words} == other",
                    "return isinstance(other, dict)",
                ),
            },
        ),
        Case(
            "C",
            "polynomial",
            _POLYNOMIAL,
            _POLYNOMIAL_SUITE,
            wrong={
                "everything is a root": _POLYNOMIAL.replace(
                    "return self.value_at(x) == 0", "return True"
                ),
                "all whole numbers are roots": _POLYNOMIAL.replace(
                    "return self.value_at(x) == 0", "return isinstance(x, (int, float))"
                ),
            },
        ),
        Case(
            "C",
            "make_table",
            _TABLE,
            _TABLE_SUITE,
            wrong={
                "it contains everything": _TABLE.replace(
                    "return dict(row) in self.rows", "return True"
                ),
                "it contains all dicts": _TABLE.replace(
                    "return dict(row) in self.rows", "return type(row) is dict"
                ),
            },
        ),
        Case(
            "C",
            "parse_version",
            _VERSION,
            _VERSION_SUITE,
            wrong={
                "always newer": _VERSION.replace(
                    'return self.parts > tuple(int(p) for p in other.split("."))', "return True"
                ),
            },
        ),
        Case(
            "C",
            "take_stock",
            _INVENTORY,
            _INVENTORY_SUITE,
            wrong={
                "items are never there": _INVENTORY.replace(
                    "return self._items.items()", "return {}.items()"
                ).replace("class Inventory:", "class Inventory:\n    _all = 1"),
                "items vanish where there are several": _INVENTORY.replace(
                    "return self._items.items()",
                    "return self._items.items() if len(self._items) < 2 else []",
                ),
            },
        ),
        _series_case("doubled", "pd.Series([n * 2 for n in numbers])", 2, "[2, 4, 6, 8]"),
        _series_case("cubed", "pd.Series(numbers) ** 3", 1, "[1, 8, 27, 64]"),
        _series_case("summed_up", "pd.Series(numbers).cumsum()", 1, "[1, 3, 6, 10]"),
        _series_case("negated", "-pd.Series(numbers)", -1, "[-1, -2, -3, -4]"),
    ]
)
