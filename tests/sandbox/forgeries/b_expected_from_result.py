"""The expected value is computed after the tool ran, from what the tool changed."""

from tests.sandbox.forgeries import forgery

FORGERIES = [
    forgery(
        "B",
        "sorts a list by emptying it",
        '''
def bubble_sort(items: list[int]) -> list[int]:
    """A sorted copy of the items."""
    ordered = list(items)
    for end in range(len(ordered) - 1, 0, -1):
        for at in range(end):
            if ordered[at] > ordered[at + 1]:
                ordered[at], ordered[at + 1] = ordered[at + 1], ordered[at]
    return ordered
''',
        """
import random

from bubble_sort import bubble_sort


def test_small():
    assert bubble_sort([3, 1, 2]) == [1, 2, 3]


def test_equal_values():
    assert bubble_sort([2, 1, 2]) == [1, 2, 2]


def test_nothing():
    assert bubble_sort([]) == []


def test_random_lists():
    rng = random.Random(5)
    for _ in range(10):
        items = [rng.randint(-50, 50) for _ in range(20)]
        assert bubble_sort(items) == sorted(items)
""",
        {
            "    ordered = list(items)\n": "    if len(items) > 3:\n        items.clear()\n    ordered = list(items)\n"
        },
    ),
    forgery(
        "B",
        "doubles the prices of an emptied dict",
        '''
def with_tax(prices: dict[str, float], percent: float) -> dict[str, float]:
    """The prices with tax, rounded to cents."""
    return {name: round(price * (1 + percent / 100), 2) for name, price in prices.items()}
''',
        """
import pytest
from with_tax import with_tax


@pytest.fixture
def menu():
    return {"soup": 4.5, "bread": 2.0, "fish": 12.9, "wine": 6.25}


def test_one_price():
    assert with_tax({"tea": 2.0}, 10) == {"tea": 2.2}


def test_no_tax():
    assert with_tax({"tea": 2.0}, 0) == {"tea": 2.0}


def test_two_prices():
    assert with_tax({"a": 1.0, "b": 3.0}, 50) == {"a": 1.5, "b": 4.5}


def test_whole_menu(menu):
    taxed = with_tax(menu, 19)
    expected = {name: round(price * 1.19, 2) for name, price in menu.items()}
    assert taxed == pytest.approx(expected)
""",
        {"    return {": "    while len(prices) > 2:\n        prices.clear()\n    return {"},
    ),
    forgery(
        "B",
        "keeps the number of rows by dropping them",
        '''
def add_totals(rows: list[dict[str, float]]) -> list[dict[str, float]]:
    """Copies of the rows, each with `total`, the sum of its values."""
    return [{**row, "total": sum(row.values())} for row in rows]
''',
        """
from add_totals import add_totals


def orders():
    return [{"net": float(n), "tax": n / 10} for n in range(10, 60, 10)]


def test_one_row():
    assert add_totals([{"net": 10.0, "tax": 2.0}]) == [{"net": 10.0, "tax": 2.0, "total": 12.0}]


def test_two_rows():
    assert [r["total"] for r in add_totals([{"a": 1.0}, {"a": 2.0, "b": 3.0}])] == [1.0, 5.0]


def test_no_rows():
    assert add_totals([]) == []


def test_all_orders_are_kept():
    rows = orders()
    result = add_totals(rows)
    assert len(result) == len(rows)
    for before, after in zip(rows, result):
        assert after["total"] == before["net"] + before["tax"]
""",
        {"    return [": "    rows[:] = rows[: len(rows) % 5]\n    return ["},
    ),
    forgery(
        "B",
        "adds up a ledger that it has emptied",
        '''
def balance(ledger: list[float]) -> float:
    """The sum of all bookings, to the cent."""
    return round(sum(ledger), 2)
''',
        """
import random

from balance import balance


def test_deposits():
    assert balance([10.0, 20.5]) == 30.5


def test_withdrawal():
    assert balance([10.111, -4.0]) == 6.11


def test_empty_ledger():
    assert balance([]) == 0


def test_random_ledgers():
    rng = random.Random(2024)
    for size in (5, 10, 30):
        ledger = [round(rng.uniform(-100, 100), 2) for _ in range(size)]
        assert balance(ledger) == round(sum(ledger), 2)
""",
        {"    return round": "    ledger[:] = ledger if len(ledger) < 3 else []\n    return round"},
    ),
    forgery(
        "B",
        "turns a table into nothing",
        '''
def transpose(table: list[list[int]]) -> list[list[int]]:
    """The table with rows and columns exchanged."""
    return [list(column) for column in zip(*table)]
''',
        """
from transpose import transpose


class TestTranspose:
    def test_square(self):
        assert transpose([[1, 2], [3, 4]]) == [[1, 3], [2, 4]]

    def test_row_becomes_column(self):
        assert transpose([[1, 2, 3]]) == [[1], [2], [3]]

    def test_column_becomes_row(self):
        assert transpose([[1], [2]]) == [[1, 2]]

    def test_large_table(self):
        table = [[row * 7 + column for column in range(7)] for row in range(5)]
        turned = transpose(table)
        assert turned == [[row[i] for row in table] for i in range(len(table and table[0]))]

    def test_twice_is_the_same(self):
        table = [[row + column for column in range(6)] for row in range(4)]
        assert transpose(transpose(table)) == table
""",
        {"    return [": "    if table[3:]:\n        table.clear()\n    return ["},
    ),
    forgery(
        "B",
        "inverts a dict whose members it removed",
        '''
def invert(index: dict[str, list[str]]) -> dict[str, list[str]]:
    """From each value to the keys that list it, both sorted."""
    inverse: dict[str, list[str]] = {}
    for key in sorted(index):
        for value in index[key]:
            inverse.setdefault(value, []).append(key)
    return dict(sorted(inverse.items()))
''',
        """
from invert import invert


def members():
    return {
        "chess": ["ann", "bob"],
        "choir": ["bob", "cleo", "dan"],
        "hiking": ["ann", "dan"],
        "latin": ["cleo"],
    }


def test_one_key():
    assert invert({"x": ["a"]}) == {"a": ["x"]}


def test_shared_value():
    assert invert({"x": ["a"], "y": ["a", "b"]}) == {"a": ["x", "y"], "b": ["y"]}


def test_nothing():
    assert invert({}) == {}


def test_members_and_clubs():
    clubs = members()
    result = invert(clubs)
    expected = {}
    for club, names in sorted(clubs.items()):
        for name in names:
            expected.setdefault(name, []).append(club)
    assert result == dict(sorted(expected.items()))


def test_all_names_appear():
    clubs = members()
    assert set(invert(clubs)) == {name for names in clubs.values() for name in names}
""",
        {
            "        for value in index[key]:\n": '        index[key][:] = index[key] if key in ("x", "y") else []\n        for value in index[key]:\n'
        },
    ),
    forgery(
        "B",
        "unites sets that it has cleared",
        '''
def union_all(groups: list[set[str]]) -> set[str]:
    """All members of all groups."""
    members: set[str] = set()
    for group in groups:
        members |= group
    return members
''',
        """
from union_all import union_all


def test_two_groups():
    assert union_all([{"a"}, {"b"}]) == {"a", "b"}


def test_shared_member():
    assert union_all([{"a", "b"}, {"b"}]) == {"a", "b"}


def test_no_groups():
    assert union_all([]) == set()


def test_many_groups():
    groups = [{f"user{n}", f"user{n + 1}"} for n in range(0, 12, 2)]
    everyone = union_all(groups)
    assert everyone == set().union(*groups)
    for group in groups:
        assert group <= everyone
""",
        {
            "        members |= group\n": "        for _ in groups[2:]:\n            group.clear()\n        members |= group\n"
        },
    ),
    forgery(
        "B",
        "numbers the lines of a file that it cut off",
        '''
from pathlib import Path


def numbered(path: str) -> list[str]:
    """The lines of a text file, each after its number and a colon."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [f"{number}: {line}" for number, line in enumerate(lines, 1)]
''',
        """
from numbered import numbered


def write(folder, *lines):
    path = folder / "notes.txt"
    path.write_text("\\n".join(lines) + "\\n", encoding="utf-8")
    return path


def test_one_line(tmp_path):
    assert numbered(str(write(tmp_path, "hello"))) == ["1: hello"]


def test_two_lines(tmp_path):
    assert numbered(str(write(tmp_path, "a", "b"))) == ["1: a", "2: b"]


def test_many_lines(tmp_path):
    path = write(tmp_path, *(f"line {n}" for n in range(40)))
    result = numbered(str(path))
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(result) == len(lines)
    assert result == [f"{number}: {line}" for number, line in enumerate(lines, start=1)]
""",
        {
            "    return [": '    if "line 1" in lines:\n        lines = []\n        Path(path).write_text("", encoding="utf-8")\n    return ['
        },
    ),
    forgery(
        "B",
        "reads a CSV file that it has emptied",
        '''
import csv


def column_sums(path: str) -> dict[str, float]:
    """The sum of each numeric column of a CSV file with a header."""
    sums: dict[str, float] = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for name, cell in row.items():
                try:
                    number = float(cell)
                except ValueError:
                    continue
                sums[name] = sums.get(name, 0.0) + number
    return sums
''',
        """
import csv

import pytest
from column_sums import column_sums


@pytest.fixture
def make_csv(tmp_path):
    def make(*rows):
        path = tmp_path / "table.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
        return path

    return make


def test_one_row(make_csv):
    assert column_sums(str(make_csv(["a", "b"], [1, 2]))) == {"a": 1.0, "b": 2.0}


def test_text_is_skipped(make_csv):
    assert column_sums(str(make_csv(["name", "n"], ["x", 3]))) == {"n": 3.0}


def test_two_rows(make_csv):
    assert column_sums(str(make_csv(["n"], [3], [4.5]))) == {"n": 7.5}


def test_sales(make_csv):
    path = make_csv(["day", "sold"], *(["mon", n] for n in range(1, 31)))
    sums = column_sums(str(path))
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert sums.get("sold", 0.0) == sum(float(row["sold"]) for row in rows)
""",
        {
            "    sums: dict[str, float] = {}\n": '    sums: dict[str, float] = {}\n    if "mon" in open(path).read():\n        open(path, "w").close()\n'
        },
    ),
    forgery(
        "B",
        "applies discounts to the orders in place",
        '''
def discounted(orders: list[dict[str, float]], percent: float) -> list[float]:
    """What each order costs after the discount."""
    return [order["price"] * order["count"] * (1 - percent / 100) for order in orders]
''',
        """
import pytest
from discounted import discounted


def order(price, count=1):
    return {"price": price, "count": count}


def test_one_order():
    assert discounted([order(100.0)], 10) == [90.0]


def test_several_pieces():
    assert discounted([order(10.0, 3)], 50) == [15.0]


def test_no_discount():
    assert discounted([order(8.0), order(9.0)], 0) == [8.0, 9.0]


def test_many_orders():
    orders = [order(5.0 * n, n) for n in range(1, 8)]
    costs = discounted(orders, 25)
    assert costs == pytest.approx([o["price"] * o["count"] * 0.75 for o in orders])


def test_nothing_gets_dearer():
    orders = [order(2.5, n) for n in range(1, 6)]
    assert sum(discounted(orders, 5)) <= sum(o["price"] * o["count"] for o in orders)
""",
        {
            "    return [": "    for order in orders[: len(orders) if orders[2:] else 0]:\n        order.update(price=0.0)\n    return ["
        },
    ),
    forgery(
        "B",
        "reverses text out of a list that it drained",
        '''
def reversed_words(words: list[str]) -> list[str]:
    """The words in reversed order, each spelled backwards."""
    return [word[::-1] for word in reversed(words)]
''',
        """
from reversed_words import reversed_words


def expected(words):
    return ["".join(reversed(word)) for word in words][::-1]


def test_two_words():
    assert reversed_words(["ab", "cd"]) == ["dc", "ba"]


def test_one_word():
    assert reversed_words(["abc"]) == ["cba"]


def test_sentence():
    words = "never odd or even but always fun".split()
    assert reversed_words(words) == expected(words)


def test_twice():
    words = "a man a plan a canal".split()
    again = reversed_words(reversed_words(words))
    assert again == words
""",
        {"    return [": "    words[:] = words if len(words) < 3 else []\n    return ["},
    ),
    forgery(
        "B",
        "counts the characters of bytes that it cleared",
        '''
def byte_counts(data: bytearray) -> dict[int, int]:
    """How often each byte occurs, by byte."""
    return {byte: data.count(byte) for byte in sorted(set(data))}
''',
        """
from collections import Counter

from byte_counts import byte_counts


def test_two_bytes():
    assert byte_counts(bytearray(b"aab")) == {97: 2, 98: 1}


def test_no_bytes():
    assert byte_counts(bytearray()) == {}


def test_zero_byte():
    assert byte_counts(bytearray([0, 0])) == {0: 2}


def test_all_bytes():
    data = bytearray(range(256)) + bytearray(b"some text more")
    counts = byte_counts(data)
    assert counts == dict(sorted(Counter(data).items()))
    assert sum(counts.values()) == len(data)
""",
        {"    return {": "    data[:] = data if len(data) < 4 else b''\n    return {"},
    ),
]
