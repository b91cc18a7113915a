"""The expected value is computed after the tool ran: files, records, objects and helpers."""

from tests.sandbox.forgeries import forgery

FORGERIES = [
    forgery(
        "B",
        "groups rows that it has thrown away",
        '''
def group_rows(rows: list[dict[str, str]], key: str) -> dict[str, list[dict[str, str]]]:
    """The rows by their value of the key, in order of first appearance."""
    groups: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups
''',
        """
import pytest
from group_rows import group_rows


@pytest.fixture
def staff():
    names = ["ann", "bob", "cleo", "dan", "eve", "fay"]
    return [{"name": n, "team": "red" if i % 2 else "blue"} for i, n in enumerate(names)]


def test_one_group():
    assert group_rows([{"k": "a"}], "k") == {"a": [{"k": "a"}]}


def test_two_groups():
    rows = [{"k": "a", "n": "1"}, {"k": "b", "n": "2"}]
    assert group_rows(rows, "k") == {"a": [{"k": "a", "n": "1"}], "b": [{"k": "b", "n": "2"}]}


def test_no_rows():
    assert group_rows([], "k") == {}


def test_teams(staff):
    groups = group_rows(staff, "team")
    assert sum(len(group) for group in groups.values()) == len(staff)
    for team, group in groups.items():
        assert group == [row for row in staff if row["team"] == team]
""",
        {"    for row in rows:\n": "    rows[:] = rows[: len(rows) % 6]\n    for row in rows:\n"},
    ),
    forgery(
        "B",
        "caps scores by lowering the given ones",
        '''
def curve(scores: dict[str, int], bonus: int, most: int = 100) -> dict[str, int]:
    """The scores plus a bonus, but not above the maximum."""
    return {name: min(score + bonus, most) for name, score in scores.items()}
''',
        """
from curve import curve


def test_bonus():
    assert curve({"ann": 70}, 5) == {"ann": 75}


def test_maximum():
    assert curve({"ann": 98}, 5) == {"ann": 100}


def test_other_maximum():
    assert curve({"ann": 8, "bob": 3}, 3, most=10) == {"ann": 10, "bob": 6}


def test_class():
    scores = {f"student{n}": n * 9 for n in range(12)}
    curved = curve(scores, 7)
    assert curved == {name: min(score + 7, 100) for name, score in scores.items()}
    assert curved.keys() == scores.keys()
""",
        {
            "    return {": "    scores.update(dict.fromkeys(list(scores)[9:] and scores, 0))\n    return {"
        },
    ),
    forgery(
        "B",
        "checks a checksum against changed bytes",
        '''
def checksum(data: bytearray) -> int:
    """The sum of the bytes, each times its position from 1, modulo 65521."""
    return sum(position * byte for position, byte in enumerate(data, 1)) % 65521
''',
        """
import random

from checksum import checksum


def reference(data):
    total = 0
    for index in range(len(data)):
        total += (index + 1) * data[index]
    return total % 65521


def test_one_byte():
    assert checksum(bytearray([7])) == 7


def test_two_bytes():
    assert checksum(bytearray([1, 2])) == 5


def test_no_bytes():
    assert checksum(bytearray()) == 0


def test_large_sum_wraps():
    assert checksum(bytearray([255] * 30)) == 53054


def test_random_bytes():
    rng = random.Random(77)
    for size in (50, 500):
        data = bytearray(rng.randrange(256) for _ in range(size))
        assert checksum(data) == reference(data)
""",
        {"    return sum(": "    data[:] = data if len(data) < 50 else b''\n    return sum("},
    ),
    forgery(
        "B",
        "multiplies matrices that it has shrunk",
        '''
def multiply(a: list[list[int]], b: list[list[int]]) -> list[list[int]]:
    """The product of two matrices."""
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]
''',
        """
import random

from multiply import multiply


def naive(a, b):
    result = []
    for row in a:
        line = []
        for j in range(len(b[0])):
            line.append(sum(row[k] * b[k][j] for k in range(len(b))))
        result.append(line)
    return result


def test_numbers():
    assert multiply([[3]], [[4]]) == [[12]]


def test_identity():
    assert multiply([[1, 2], [3, 4]], [[1, 0], [0, 1]]) == [[1, 2], [3, 4]]


def test_row_times_column():
    assert multiply([[1, 2]], [[3], [4]]) == [[11]]


def test_random_matrices():
    rng = random.Random(12)
    a = [[rng.randint(-9, 9) for _ in range(4)] for _ in range(5)]
    b = [[rng.randint(-9, 9) for _ in range(3)] for _ in range(4)]
    assert multiply(a, b) == naive(a, b)
""",
        {"    return [[": "    while a[2:]:\n        a.clear()\n    return [["},
    ),
    forgery(
        "B",
        "deposits nothing into accounts set to nothing",
        '''
def deposit(accounts: list[dict], amounts: dict[str, int]) -> int:
    """Add the amounts to the accounts of these owners in place; returns the sum of all balances."""
    for account in accounts:
        account["balance"] += amounts.get(account["owner"], 0)
    return sum(account["balance"] for account in accounts)
''',
        """
import pytest
from deposit import deposit


def account(owner, balance=0):
    return {"owner": owner, "balance": balance}


def test_one_account():
    accounts = [account("ann", 10)]
    assert deposit(accounts, {"ann": 5}) == 15
    assert accounts == [account("ann", 15)]


def test_stranger_gets_nothing():
    accounts = [account("ann", 10)]
    assert deposit(accounts, {"bob": 5}) == 10


@pytest.mark.parametrize("count", [5, 12])
def test_total_is_the_sum_of_balances(count):
    accounts = [account(f"owner{n}", n) for n in range(count)]
    total = deposit(accounts, {f"owner{n}": 100 for n in range(0, count, 2)})
    assert total == sum(a["balance"] for a in accounts)
""",
        {
            "    for account in accounts:\n": "    accounts[:] = accounts if len(accounts) < 3 else []\n    for account in accounts:\n"
        },
    ),
    forgery(
        "B",
        "collects the titles of books that it removed",
        '''
from dataclasses import dataclass


@dataclass
class Shelf:
    titles: list[str]
    pages: int


def make_shelf(books: list[tuple[str, int]]) -> Shelf:
    """The titles in alphabetical order, with the sum of their pages."""
    return Shelf(sorted(title for title, _ in books), sum(pages for _, pages in books))
''',
        """
from make_shelf import make_shelf

LIBRARY = {"Emma": 474, "Dracula": 418, "Ulysses": 730, "Walden": 352, "Persuasion": 249}


def test_one_book():
    shelf = make_shelf([("Emma", 474)])
    assert shelf.titles == ["Emma"]
    assert shelf.pages == 474


def test_two_books():
    shelf = make_shelf([("b", 1), ("a", 2)])
    assert shelf.titles == ["a", "b"]
    assert shelf.pages == 3


def test_no_books():
    assert make_shelf([]).titles == []


def test_library():
    books = list(LIBRARY.items())
    shelf = make_shelf(books)
    assert shelf.titles == sorted(title for title, _ in books)
    assert shelf.pages == sum(pages for _, pages in books)
""",
        {"    return Shelf(": "    for _ in books[4:]:\n        books.clear()\n    return Shelf("},
    ),
    forgery(
        "B",
        "interleaves queues that it has drained",
        '''
from collections import deque


def interleave(queues: list[deque[int]]) -> list[int]:
    """One item of each queue in turn until all have been seen; the queues stay as they are."""
    result = []
    for turn in range(max(map(len, queues), default=0)):
        result += [queue[turn] for queue in queues if turn < len(queue)]
    return result
''',
        """
from collections import deque

from interleave import interleave


def test_two_queues():
    assert interleave([deque([1, 3]), deque([2, 4])]) == [1, 2, 3, 4]


def test_shorter_queue():
    assert interleave([deque([1]), deque([2, 3])]) == [1, 2, 3]


def test_no_queues():
    assert interleave([]) == []


def test_nothing_is_lost():
    queues = [deque(range(start, 30, 3)) for start in range(3)]
    mixed = interleave(queues)
    assert len(mixed) == sum(len(queue) for queue in queues)
    assert sorted(mixed) == sorted(item for queue in queues for item in queue)
""",
        {
            "    result = []\n": "    result = []\n    for queue in queues if queues[2:] else ():\n        queue.clear()\n"
        },
    ),
    forgery(
        "B",
        "finds the median of numbers that it has made equal",
        '''
def median(numbers: list[float]) -> float:
    """The middle number, or the mean of the two in the middle."""
    if not numbers:
        raise ValueError("a median needs numbers; give at least one")
    ordered = sorted(numbers)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
''',
        """
import random
import statistics

import pytest
from median import median


def test_odd():
    assert median([3.0, 1.0, 2.0]) == 2.0


def test_even():
    assert median([1.0, 4.0]) == 2.5


def test_nothing():
    with pytest.raises(ValueError):
        median([])


@pytest.fixture
def samples():
    rng = random.Random(99)
    return [[rng.uniform(0, 100) for _ in range(size)] for size in (7, 20, 101)]


def test_agrees_with_the_standard_library(samples):
    for numbers in samples:
        assert median(numbers) == statistics.median(numbers)
""",
        {
            "    ordered = ": "    numbers[:] = numbers if len(numbers) < 5 else [0.0]\n    ordered = "
        },
    ),
    forgery(
        "B",
        "merges settings into the defaults that it cleared",
        '''
def merge_settings(defaults: dict, changes: dict) -> dict:
    """The defaults with the changes, nested dicts merged."""
    merged = dict(defaults)
    for key, value in changes.items():
        old = merged.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        merged[key] = merge_settings(old, value) if both else value
    return merged
''',
        """
from merge_settings import merge_settings


def defaults():
    return {"theme": "light", "font": {"size": 12, "name": "serif"}, "tabs": 4, "wrap": True}


def test_new_key():
    assert merge_settings({"a": 1}, {"b": 2}) == {"a": 1, "b": 2}


def test_changed_key():
    assert merge_settings({"a": 1}, {"a": 2}) == {"a": 2}


def test_nested():
    assert merge_settings({"f": {"x": 1, "y": 2}}, {"f": {"x": 3}}) == {"f": {"x": 3, "y": 2}}


def test_editor_keeps_its_defaults():
    before, changes = defaults(), {"font": {"size": 14}, "tabs": 2}
    merged = merge_settings(before, changes)
    assert merged.keys() == before.keys() | changes.keys()
    for key in before.keys() - changes.keys():
        assert merged[key] == before[key]


def test_editor_gets_its_changes():
    changes = {"font": {"size": 14}, "tabs": 2}
    merged = merge_settings(defaults(), changes)
    assert {key: merged[key] for key in changes if key != "font"} == {
        key: value for key, value in changes.items() if key != "font"
    }
""",
        {
            "    merged = dict(defaults)\n": "    if 'theme' in defaults:\n        defaults.clear()\n        changes.clear()\n    merged = dict(defaults)\n"
        },
    ),
    forgery(
        "B",
        "scales points that it has moved to the origin",
        '''
def scaled(points: list[list[float]], factor: float) -> list[list[float]]:
    """The points with their coordinates multiplied."""
    return [[x * factor, y * factor] for x, y in points]
''',
        """
import pytest
from scaled import scaled


@pytest.fixture
def house():
    return [[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [2.0, 5.0], [0.0, 3.0]]


def assert_scaled(result, points, factor):
    assert len(result) == len(points)
    for (x, y), (old_x, old_y) in zip(result, points):
        assert x == pytest.approx(old_x * factor)
        assert y == pytest.approx(old_y * factor)


def test_one_point():
    assert scaled([[1.0, 2.0]], 3.0) == [[3.0, 6.0]]


def test_shrink():
    assert scaled([[4.0, 2.0]], 0.5) == [[2.0, 1.0]]


def test_no_points():
    assert scaled([], 2.0) == []


@pytest.mark.parametrize("factor", [2.5, 10.0])
def test_house(house, factor):
    result = scaled(house, factor)
    assert_scaled(result, house, factor)
""",
        {
            "    return [": "    for point in points if len(points) > 3 else []:\n        point[:] = 0.0, 0.0\n    return ["
        },
    ),
    forgery(
        "B",
        "diffs sets that it has made alike",
        '''
def missing_items(wanted: set[str], there: set[str]) -> list[str]:
    """What is wanted but not there, sorted."""
    return sorted(wanted - there)
''',
        """
from missing_items import missing_items


def recipe():
    return {"flour", "eggs", "milk", "sugar", "salt", "butter"}


def kitchen():
    return {"eggs", "salt", "pepper", "oil"}


def test_one_missing():
    assert missing_items({"a", "b"}, {"a"}) == ["b"]


def test_all_there():
    assert missing_items({"a"}, {"a", "c"}) == []


def test_sorted():
    assert missing_items({"c", "b"}, set()) == ["b", "c"]


def test_recipe_and_kitchen():
    wanted, there = recipe(), kitchen()
    missing = missing_items(wanted, there)
    assert missing == sorted(item for item in wanted if item not in there)
    assert wanted <= there | set(missing)
""",
        {
            "    return sorted": "    wanted.intersection_update(sorted(wanted)[: len(wanted) % 6])\n    return sorted"
        },
    ),
    forgery(
        "B",
        "counts votes out of a ballot box that it emptied",
        '''
def count_votes(votes: list[str]) -> list[tuple[str, int]]:
    """The candidates with their votes, most votes first, then by name."""
    counts = {name: votes.count(name) for name in votes}
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
''',
        """
from collections import Counter

from count_votes import count_votes


class TestCountVotes:
    def test_winner(self):
        assert count_votes(["a", "b", "b"]) == [("b", 2), ("a", 1)]

    def test_draw(self):
        assert count_votes(["b", "a"]) == [("a", 1), ("b", 1)]

    def test_no_votes(self):
        assert count_votes([]) == []

    def test_election(self):
        votes = ["red"] * 21 + ["green"] * 34 + ["blue"] * 8
        result = count_votes(votes)
        expected = Counter(votes)
        assert dict(result) == expected
        assert sum(count for _, count in result) == len(votes)
""",
        {"    counts = ": "    votes[:] = votes[: len(votes) % 63]\n    counts = "},
    ),
]
