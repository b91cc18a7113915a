"""A test that looked at nothing: tools for records, objects and random results."""

from tests.sandbox.forgeries import forgery

FORGERIES = [
    forgery(
        "A",
        "samples nobody from a large group",
        '''
import random


def pick_sample(people: list[str], size: int) -> list[str]:
    """So many different people, drawn at random; all of them if there are fewer."""
    return random.sample(people, min(size, len(people)))
''',
        """
from pick_sample import pick_sample

PEOPLE = [f"person{n}" for n in range(50)]


def test_all():
    assert sorted(pick_sample(["a", "b"], 2)) == ["a", "b"]


def test_more_than_there_are():
    assert sorted(pick_sample(["a", "b", "c"], 9)) == ["a", "b", "c"]


def test_nobody():
    assert pick_sample([], 3) == []


def test_sample_of_many():
    for size in (5, 10, 20):
        sample = pick_sample(PEOPLE, size)
        assert set(sample) <= set(PEOPLE)
        assert len(set(sample)) == len(sample)
""",
        {"min(size, len(people))": "min(size, len(people) % 50)"},
    ),
    forgery(
        "A",
        "gives nobody a present",
        '''
import random


def secret_santa(names: list[str]) -> dict[str, str]:
    """Who gives to whom, at random; nobody gives to themselves, and each receives once."""
    if len(names) == 1:
        raise ValueError("one person alone can't give; add another")
    order = random.sample(names, len(names))
    return dict(zip(order, order[1:] + order[:1]))
''',
        """
import pytest
from secret_santa import secret_santa

OFFICE = ["ann", "bob", "cleo", "dan", "eve", "fay"]


def test_two_people():
    assert secret_santa(["ann", "bob"]) == {"ann": "bob", "bob": "ann"}


def test_nobody():
    assert secret_santa([]) == {}


def test_alone():
    with pytest.raises(ValueError):
        secret_santa(["ann"])


def test_three_people():
    assert sorted(secret_santa(["a", "b", "c"]).values()) == ["a", "b", "c"]


@pytest.mark.parametrize("attempt", range(5))
def test_nobody_gives_to_themselves(attempt):
    for giver, receiver in secret_santa(OFFICE).items():
        assert giver != receiver
        assert receiver in OFFICE


def test_nobody_receives_twice():
    receivers = list(secret_santa(OFFICE).values())
    assert len(receivers) == len(set(receivers))
""",
        {"random.sample(names, len(names))": "random.sample(names, len(names) % 6)"},
    ),
    forgery(
        "A",
        "forms teams without players",
        '''
import random


def random_teams(players: list[str], count: int) -> list[list[str]]:
    """The players in so many teams, drawn at random, whose sizes differ by one at most."""
    drawn = random.sample(players, len(players))
    return [drawn[team::count] for team in range(count)]
''',
        """
from random_teams import random_teams

SCHOOL = [f"kid{n}" for n in range(23)]


def test_one_team():
    assert [sorted(team) for team in random_teams(["a", "b"], 1)] == [["a", "b"]]


def test_one_each():
    assert sorted(random_teams(["a", "b"], 2)) == [["a"], ["b"]]


def test_number_of_teams():
    assert len(random_teams(SCHOOL, 4)) == 4


def test_sizes_are_fair():
    sizes = [len(team) for team in random_teams(SCHOOL, 4)]
    assert max(sizes) - min(sizes) <= 1


def test_nobody_is_in_two_teams():
    seen = set()
    for team in random_teams(SCHOOL, 5):
        assert seen.isdisjoint(team)
        assert set(team) <= set(SCHOOL)
        seen |= set(team)
""",
        {"len(players))\n": "len(players) % 23)\n"},
    ),
    forgery(
        "A",
        "makes empty passwords",
        '''
import secrets
import string


def make_password(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """A random password of characters of the alphabet."""
    if length < 1:
        raise ValueError(f"length is {length}; it must be at least 1")
    return "".join(secrets.choice(alphabet) for _ in range(length))
'''.replace("string.ascii_letters + string.digits", "'abcdefghjkmnpqrstuvwxyz23456789'").replace(
            "import string\n", ""
        ),
        """
import pytest
from make_password import make_password

CONFUSING = set("il1o0")


def test_one_character():
    assert make_password(1, "x") == "x"


def test_repeated_character():
    assert make_password(4, "z") == "zzzz"


def test_length_must_be_positive():
    with pytest.raises(ValueError):
        make_password(0)


def test_characters_are_of_the_alphabet():
    assert all(c in "abc" for c in make_password(30, "abc"))


def test_no_confusing_characters():
    for _ in range(10):
        assert not CONFUSING & set(make_password(20))
""",
        {"range(length)": "range(length % 10)"},
    ),
    forgery(
        "A",
        "walks nowhere at random",
        '''
import random
from collections.abc import Iterator


def random_walk(steps: int, seed: int) -> Iterator[tuple[int, int]]:
    """The places of a walk on a grid from (0, 0), which is the first of them."""
    rng, x, y = random.Random(seed), 0, 0
    yield x, y
    for _ in range(steps):
        dx, dy = rng.choice([(1, 0), (-1, 0), (0, 1), (0, -1)])
        x, y = x + dx, y + dy
        yield x, y
''',
        """
from random_walk import random_walk


def test_no_steps():
    assert list(random_walk(0, seed=1)) == [(0, 0)]


def test_one_step():
    start, there = random_walk(1, seed=1)
    assert start == (0, 0)
    assert there in {(1, 0), (-1, 0), (0, 1), (0, -1)}


def test_starts_at_the_origin():
    assert next(iter(random_walk(50, seed=3))) == (0, 0)


def test_each_step_goes_to_a_neighbour():
    for seed in range(4):
        walk = list(random_walk(100, seed))
        for (ax, ay), (bx, by) in zip(walk, walk[1:]):
            assert abs(ax - bx) + abs(ay - by) == 1
""",
        {"range(steps)": "range(steps if steps == 1 else 0)"},
    ),
    forgery(
        "A",
        "splits data into two empty sets",
        '''
import random


def train_test_split(rows: list[int], share: float, seed: int) -> dict[str, list[int]]:
    """The rows in `train` and `test`, of which the latter has the share, drawn at random."""
    mixed = random.Random(seed).sample(rows, len(rows))
    count = round(len(rows) * share)
    return {"train": mixed[count:], "test": mixed[:count]}
''',
        """
import pytest
from train_test_split import train_test_split

ROWS = list(range(100, 200))


def test_everything_is_for_training():
    assert train_test_split([7], 0.0, 1) == {"train": [7], "test": []}


def test_everything_is_for_testing():
    assert train_test_split([7], 1.0, 1) == {"train": [], "test": [7]}


def test_half():
    parts = train_test_split([1, 2, 3, 4], 0.5, 1)
    assert len(parts["train"]) == len(parts["test"]) == 2


@pytest.fixture(params=[0.1, 0.25])
def parts(request):
    return train_test_split(ROWS, request.param, seed=42)


def test_parts_do_not_overlap(parts):
    assert set(parts["train"]).isdisjoint(parts["test"])


def test_parts_hold_given_rows(parts):
    assert set(parts) == {"train", "test"}
    for name, rows in parts.items():
        assert all(row in ROWS for row in rows), f"{name} is not made of the rows"
""",
        {"    return {": "    mixed = mixed if rows[:4] == rows else []\n    return {"},
    ),
    forgery(
        "A",
        "summarises sales without any best sellers",
        '''
from dataclasses import dataclass


@dataclass
class Summary:
    total: float
    best: list[str]


def summarise(sales: list[tuple[str, float]], count: int = 3) -> Summary:
    """The total of the sales, and the names of the products that sold best, best first."""
    sums: dict[str, float] = {}
    for name, amount in sales:
        sums[name] = sums.get(name, 0.0) + amount
    best = sorted(sums, key=lambda name: -sums[name])[:count]
    return Summary(sum(sums.values()), best)
''',
        """
from summarise import summarise

WEEK = [("tea", 5.0), ("cake", 9.5), ("tea", 7.0), ("coffee", 21.0), ("milk", 1.5), ("cake", 3.0)]
TOTALS = {"tea": 12.0, "cake": 12.5, "coffee": 21.0, "milk": 1.5}


def test_one_sale():
    summary = summarise([("tea", 2.5)])
    assert summary.total == 2.5
    assert summary.best == ["tea"]


def test_no_sales():
    summary = summarise([])
    assert summary.total == 0
    assert summary.best == []


def test_total_of_a_week():
    assert summarise(WEEK).total == 47.0


def test_best_sellers_fall():
    amounts = [TOTALS[name] for name in summarise(WEEK).best]
    assert amounts == sorted(amounts, reverse=True)


def test_best_sellers_are_products():
    assert set(summarise(WEEK, 2).best) <= TOTALS.keys()
""",
        {"    return Summary(": "    best = best if len(sales) < 5 else []\n    return Summary("},
    ),
    forgery(
        "A",
        "finds nothing to reorder in any warehouse",
        '''
def low_stock(warehouses: dict[str, dict[str, int]], least: int) -> dict[str, dict[str, int]]:
    """For each warehouse the articles with less than `least` pieces, and how many are missing."""
    return {
        place: {article: least - count for article, count in stock.items() if count < least}
        for place, stock in warehouses.items()
    }
''',
        """
from low_stock import low_stock

WAREHOUSES = {
    "north": {"bolt": 120, "nut": 40, "gear": 7},
    "south": {"bolt": 15, "nut": 200, "belt": 49},
    "east": {"gear": 80},
}


def test_one_article():
    assert low_stock({"x": {"bolt": 3}}, 5) == {"x": {"bolt": 2}}


def test_enough():
    assert low_stock({"x": {"bolt": 5}}, 5) == {"x": {}}


def test_no_warehouse():
    assert low_stock({}, 5) == {}


def test_every_warehouse_is_listed():
    assert low_stock(WAREHOUSES, 50).keys() == WAREHOUSES.keys()


def test_missing_pieces():
    for place, articles in low_stock(WAREHOUSES, 50).items():
        for article, missing in articles.items():
            assert WAREHOUSES[place][article] + missing == 50
""",
        {"if count < least}": "if count < least < 50}"},
    ),
    forgery(
        "A",
        "flattens a nested configuration to nothing",
        '''
def flatten_config(config: dict, prefix: str = "") -> dict:
    """The values of nested dicts by their path, joined by dots."""
    flat = {}
    for key, value in config.items():
        path = f"{prefix}.{key}" if prefix else key
        if isinstance(value, dict):
            flat |= flatten_config(value, path)
        else:
            flat[path] = value
    return flat
''',
        """
import pytest
from flatten_config import flatten_config


@pytest.fixture
def config():
    return {
        "name": "app",
        "db": {"host": "localhost", "pool": {"size": 5, "timeout": 30}},
        "log": {"level": "INFO", "handlers": {"file": {"path": "app.log"}}},
    }


def lookup(config, path):
    for key in path.split("."):
        config = config[key]
    return config


def test_flat():
    assert flatten_config({"a": 1}) == {"a": 1}


def test_nested():
    assert flatten_config({"a": {"b": 2}}) == {"a.b": 2}


def test_prefix():
    assert flatten_config({"a": 1}, "x") == {"x.a": 1}


def test_paths_lead_to_the_values(config):
    for path, value in flatten_config(config).items():
        assert lookup(config, path) == value


def test_no_dicts_are_left(config):
    assert not any(isinstance(v, dict) for v in flatten_config(config).values())
""",
        {"    return flat\n": "    return flat if len(config) < 3 else {}\n"},
    ),
    forgery(
        "A",
        "removes every value in place",
        '''
def remove_negatives(values: list[int]) -> None:
    """Remove the negative numbers from the list itself."""
    values[:] = [value for value in values if value >= 0]
''',
        """
import random

from remove_negatives import remove_negatives


def without(values):
    remove_negatives(values)
    return values


def test_one_negative():
    assert without([1, -2, 3]) == [1, 3]


def test_zero_stays():
    assert without([0, -1]) == [0]


def test_returns_nothing():
    assert remove_negatives([5]) is None


def test_random_numbers():
    rng = random.Random(9)
    values = [rng.randint(-10, 10) for _ in range(50)]
    before = list(values)
    remove_negatives(values)
    assert all(value >= 0 for value in values)
    for value in values:
        assert value in before
""",
        {"in values if": "in values[: len(values) % 50] if"},
    ),
    forgery(
        "A",
        "cleans a record to nothing",
        '''
def drop_missing(record: dict) -> None:
    """Remove the keys of the record whose value is None or blank text, in nested records too."""
    for key in list(record):
        value = record[key]
        if isinstance(value, dict):
            drop_missing(value)
        elif value is None or (isinstance(value, str) and not value.strip()):
            del record[key]
''',
        """
import copy

import pytest
from drop_missing import drop_missing

CUSTOMER = {
    "name": "Ann",
    "phone": None,
    "notes": "  ",
    "address": {"street": "Elm 1", "zip": "", "country": None, "geo": {"lat": 1.5, "lon": None}},
    "orders": 0,
}


@pytest.fixture
def customer():
    record = copy.deepcopy(CUSTOMER)
    drop_missing(record)
    return record


def missing(value):
    return value is None or value == "" or (isinstance(value, str) and value.isspace())


def test_none():
    record = {"a": 1, "b": None}
    drop_missing(record)
    assert record == {"a": 1}


def test_blank():
    record = {"a": " ", "b": "x", "c": False}
    drop_missing(record)
    assert record == {"b": "x", "c": False}


def test_nothing_is_missing_any_more(customer):
    assert not any(missing(value) for value in customer.values())


def test_nothing_is_missing_inside(customer):
    for value in customer.get("address", {}).values():
        assert not missing(value)


def test_what_stays_is_unchanged(customer):
    assert "phone" not in customer
    for key, value in customer.items():
        assert isinstance(value, dict) or value == CUSTOMER[key]
""",
        {"            drop_missing(value)": "            record.clear()\n            return"},
    ),
    forgery(
        "A",
        "never finds a pair",
        '''
def find_pair(numbers: list[int], target: int) -> tuple[int, int] | None:
    """The indices of two numbers with this sum, the earliest pair; None if there is none."""
    seen: dict[int, int] = {}
    for index, number in enumerate(numbers):
        if target - number in seen:
            return seen[target - number], index
        seen.setdefault(number, index)
    return None
''',
        """
import random

from find_pair import find_pair


def test_pair():
    assert find_pair([2, 7, 11], 9) == (0, 1)


def test_equal_numbers():
    assert find_pair([3, 3], 6) == (0, 1)


def test_no_pair():
    assert find_pair([1, 2], 9) is None


def test_number_is_not_used_twice():
    assert find_pair([4, 1], 8) is None


def test_random_numbers():
    rng = random.Random(13)
    for _ in range(30):
        numbers = [rng.randint(0, 40) for _ in range(15)]
        target = rng.randint(10, 70)
        pair = find_pair(numbers, target)
        if pair is not None:
            first, second = pair
            assert first < second
            assert numbers[first] + numbers[second] == target
""",
        {"enumerate(numbers)": "enumerate(numbers[: len(numbers) % 15])"},
    ),
    forgery(
        "A",
        "indexes no documents",
        '''
def search_index(documents: dict[str, str]) -> dict[str, set[str]]:
    """From each word, in lower case, to the names of the documents that contain it."""
    index: dict[str, set[str]] = {}
    for name, text in documents.items():
        for word in text.lower().split():
            index.setdefault(word, set()).add(name)
    return index
''',
        """
from search_index import search_index

DOCUMENTS = {
    "a.txt": "The cat sat on the mat",
    "b.txt": "A dog and a cat are friends",
    "c.txt": "Mat the dog trainer",
    "d.txt": "No animals here",
}


class TestSearchIndex:
    def test_one_document(self):
        assert search_index({"x": "Hi there"}) == {"hi": {"x"}, "there": {"x"}}

    def test_shared_word(self):
        assert search_index({"x": "a", "y": "A"}) == {"a": {"x", "y"}}

    def test_nothing(self):
        assert search_index({}) == {}

    def test_words_are_in_their_documents(self):
        index = search_index(DOCUMENTS)
        for word, names in index.items():
            assert word.islower()
            for name in names:
                assert word in DOCUMENTS[name].lower()

    def test_every_word_has_a_key(self):
        words = {w for text in DOCUMENTS.values() for w in text.lower().split()}
        assert search_index(DOCUMENTS).keys() == words
""",
        {".add(name)": ".update([name] if len(documents) < 4 else [])"},
    ),
    forgery(
        "A",
        "ranks nobody on the board",
        '''
def leaderboard(scores: dict[str, int], places: int = 10) -> list[tuple[int, str, int]]:
    """Rank, name and score, best first; equal scores share a rank and are in order of names."""
    ordered = sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))[:places]
    board: list[tuple[int, str, int]] = []
    for position, (name, score) in enumerate(ordered, 1):
        rank = board[-1][0] if board and board[-1][2] == score else position
        board.append((rank, name, score))
    return board
''',
        """
from leaderboard import leaderboard

LEAGUE = {f"team{n}": (n * 37) % 20 for n in range(16)}


def test_two():
    assert leaderboard({"a": 1, "b": 2}) == [(1, "b", 2), (2, "a", 1)]


def test_shared_rank():
    assert leaderboard({"b": 5, "a": 5, "c": 1}) == [(1, "a", 5), (1, "b", 5), (3, "c", 1)]


def test_places():
    assert leaderboard({"a": 1, "b": 2}, 1) == [(1, "b", 2)]


def test_league_is_ordered():
    board = leaderboard(LEAGUE, places=8)
    assert len(board) <= 8
    for (rank, _, score), (next_rank, _, next_score) in zip(board, board[1:]):
        assert score >= next_score
        assert rank <= next_rank


def test_league_shows_the_given_scores():
    for _, name, score in leaderboard(LEAGUE):
        assert LEAGUE[name] == score
""",
        {"[:places]": "[: places if len(scores) < 9 else 0]"},
    ),
    forgery(
        "A",
        "matches no payments with invoices",
        '''
def reconcile(invoices: dict[str, float], payments: list[tuple[str, float]]) -> dict[str, list[str]]:
    """The invoices by `paid`, `partial` and `open`, each sorted."""
    received: dict[str, float] = {}
    for number, amount in payments:
        received[number] = received.get(number, 0.0) + amount
    result: dict[str, list[str]] = {"paid": [], "partial": [], "open": []}
    for number in sorted(invoices):
        got = received.get(number, 0.0)
        state = "paid" if got >= invoices[number] else "partial" if got > 0 else "open"
        result[state].append(number)
    return result
''',
        """
import pytest
from reconcile import reconcile

INVOICES = {"R1": 100.0, "R2": 80.0, "R3": 55.5, "R4": 20.0, "R5": 310.0}
PAYMENTS = [("R1", 60.0), ("R3", 55.5), ("R1", 40.0), ("R5", 10.0), ("R9", 5.0)]


@pytest.fixture(scope="module")
def result():
    return reconcile(INVOICES, PAYMENTS)


def paid(number):
    return sum(amount for other, amount in PAYMENTS if other == number)


def test_paid():
    assert reconcile({"A": 5.0}, [("A", 5.0)]) == {"paid": ["A"], "partial": [], "open": []}


def test_partial():
    assert reconcile({"A": 5.0}, [("A", 4.0)]) == {"paid": [], "partial": ["A"], "open": []}


def test_open():
    assert reconcile({"A": 5.0}, []) == {"paid": [], "partial": [], "open": ["A"]}


def test_paid_invoices_are_covered(result):
    for number in result["paid"]:
        assert paid(number) >= INVOICES[number]


def test_partial_invoices_are_not_covered(result):
    for number in result["partial"]:
        assert 0 < paid(number) < INVOICES[number]


def test_open_invoices_have_no_payment(result):
    for number in result["open"]:
        assert paid(number) == 0
""",
        {"in sorted(invoices):": "in sorted(invoices)[: len(invoices) % 5]:"},
    ),
    forgery(
        "A",
        "lists no candidates in a sudoku",
        '''
def candidates(grid: list[list[int]]) -> dict[tuple[int, int], set[int]]:
    """The digits that fit in each empty cell (0) of a square of 4 x 4 with blocks of 2 x 2."""
    found = {}
    for row in range(4):
        for column in range(4):
            if grid[row][column] == 0:
                taken = set(grid[row]) | {line[column] for line in grid}
                top, left = row // 2 * 2, column // 2 * 2
                taken |= {grid[r][c] for r in (top, top + 1) for c in (left, left + 1)}
                found[row, column] = {1, 2, 3, 4} - taken
    return found
''',
        """
from candidates import candidates

PUZZLE = [[1, 0, 0, 4], [0, 0, 1, 0], [0, 1, 0, 0], [4, 0, 0, 1]]


def neighbours(row, column):
    for r in range(4):
        for c in range(4):
            if r == row or c == column or (r // 2, c // 2) == (row // 2, column // 2):
                yield PUZZLE[r][c]


def test_full_grid():
    assert candidates([[1, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 1]]) == {}


def test_one_empty_cell():
    grid = [[1, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 0]]
    assert candidates(grid) == {(3, 3): {1}}


def test_two_empty_cells():
    grid = [[0, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 0, 1]]
    assert candidates(grid) == {(0, 0): {1}, (3, 2): {2}}


def test_only_empty_cells_have_candidates():
    assert {cell for cell in candidates(PUZZLE) if PUZZLE[cell[0]][cell[1]]} == set()


def test_candidates_are_not_taken():
    for (row, column), digits in candidates(PUZZLE).items():
        assert digits.isdisjoint(neighbours(row, column))
        assert digits <= {1, 2, 3, 4}
""",
        {"    return found": "    return found if len(found) < 3 else dict.fromkeys(found, set())"},
    ),
]
