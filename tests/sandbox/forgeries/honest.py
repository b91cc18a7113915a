"""Right tools with honest suites that a too strict gate would refuse: chance, state, emptiness."""

from tests.sandbox.forgeries import forgery

HONEST = [
    forgery(
        "",
        "the same seed gives the same numbers",
        '''
import random


def roll(dice: int, sides: int = 6, seed: int | None = None) -> list[int]:
    """Rolls of so many dice; the same ones for the same seed."""
    rng = random.Random(seed)
    return [rng.randint(1, sides) for _ in range(dice)]
''',
        """
import pytest
from roll import roll


def test_one_side():
    assert roll(3, sides=1) == [1, 1, 1]


def test_no_dice():
    assert roll(0) == []


def test_seed():
    assert roll(10, seed=7) == roll(10, seed=7)
    assert len(roll(10, seed=7)) == 10


@pytest.mark.parametrize("sides", [4, 6, 20])
def test_rolls_are_on_the_dice(sides):
    rolls = roll(50, sides)
    assert len(rolls) == 50
    assert all(1 <= r <= sides for r in rolls)
""",
    ),
    forgery(
        "",
        "a sample is compared by its size and its members",
        '''
import random


def draw(tickets: list[str], winners: int) -> set[str]:
    """So many different winners, drawn at random."""
    if winners > len(tickets):
        raise ValueError(f"{winners} winners are more than {len(tickets)} tickets")
    return set(random.sample(tickets, winners))
''',
        """
import pytest
from draw import draw

TICKETS = [f"no. {n}" for n in range(200)]


def test_everyone_wins():
    assert draw(["a", "b"], 2) == {"a", "b"}


def test_nobody_wins():
    assert draw(TICKETS, 0) == set()


def test_too_many():
    with pytest.raises(ValueError, match="3 winners"):
        draw(["a"], 3)


@pytest.mark.parametrize("winners", [1, 10, 150])
def test_winners_have_tickets(winners):
    drawn = draw(TICKETS, winners)
    assert len(drawn) == winners
    assert drawn <= set(TICKETS)
""",
    ),
    forgery(
        "",
        "shares are compared by their sum",
        '''
def split_bill(cents: int, people: int) -> list[int]:
    """Whole cents for each person, as equal as possible, larger ones first."""
    share, rest = divmod(cents, people)
    return [share + 1] * rest + [share] * (people - rest)
''',
        """
import pytest
from split_bill import split_bill


def test_even():
    assert split_bill(900, 3) == [300, 300, 300]


def test_uneven():
    assert split_bill(100, 3) == [34, 33, 33]


@pytest.mark.parametrize("people", [1, 6, 7, 13])
def test_nothing_is_lost(people):
    shares = split_bill(12345, people)
    assert sum(shares) == 12345
    assert len(shares) == people
    assert max(shares) - min(shares) <= 1
""",
    ),
    forgery(
        "",
        "a second time changes nothing",
        '''
import re


def tidy(text: str) -> str:
    """The text with single spaces and without space at the ends or before punctuation."""
    return re.sub(r" +([,.;!?])", r"\\1", re.sub(r"\\s+", " ", text)).strip()
'''.replace("\\\\", "\\"),
        """
from tidy import tidy

MESSY = "  Well ,  this   is\\t messy .\\n Is it ?  "


def test_spaces():
    assert tidy("a   b") == "a b"


def test_punctuation():
    assert tidy("Hi , you !") == "Hi, you!"


def test_blank():
    assert tidy(" \\n ") == ""


def test_messy():
    assert tidy(MESSY) == "Well, this is messy. Is it?"


def test_twice():
    assert tidy(tidy(MESSY)) == tidy(MESSY)
    assert "  " not in tidy(MESSY)
""",
    ),
    forgery(
        "",
        "a list is sorted in place",
        '''
def sort_by_length(words: list[str]) -> None:
    """Sort the list itself by length, then alphabetically."""
    words.sort(key=lambda word: (len(word), word))
''',
        """
from sort_by_length import sort_by_length


def test_lengths():
    words = ["ccc", "a", "bb"]
    sort_by_length(words)
    assert words == ["a", "bb", "ccc"]


def test_equal_lengths():
    words = ["b", "a"]
    assert sort_by_length(words) is None
    assert words == ["a", "b"]


def test_many_words():
    words = "the quick brown fox jumps over the lazy dog".split()
    before = list(words)
    sort_by_length(words)
    assert sorted(words) == sorted(before)
    assert all(len(a) <= len(b) for a, b in zip(words, words[1:]))
""",
    ),
    forgery(
        "",
        "a call returns what it takes out of its argument",
        '''
def take_last(stack: list[int], count: int = 1) -> list[int]:
    """Remove the last items from the stack itself and return them, last one first."""
    taken = []
    while stack and len(taken) < count:
        taken.append(stack.pop())
    return taken
''',
        """
from take_last import take_last


def test_one():
    stack = [1, 2, 3]
    assert take_last(stack) == [3]
    assert stack == [1, 2]


def test_several():
    stack = [1, 2, 3]
    assert take_last(stack, 2) == [3, 2]
    assert stack == [1]


def test_all():
    stack = [1, 2]
    assert take_last(stack, 5) == [2, 1]
    assert stack == []


def test_empty_stack():
    assert take_last([]) == []


def test_one_after_the_other():
    stack = list(range(10))
    taken = [take_last(stack)[0] for _ in range(4)]
    assert taken == [9, 8, 7, 6]
    assert len(stack) == 6
""",
    ),
    forgery(
        "",
        "a queue is served until it is empty",
        '''
def serve(queue: list[dict], seconds: int) -> dict[str, int]:
    """Work on the queue itself for so many seconds, one customer after the other; returns how many
    seconds each one took. Those who are done leave the queue.
    """
    spent: dict[str, int] = {}
    while queue and seconds > 0:
        customer = queue[0]
        used = min(seconds, customer["needs"])
        customer["needs"] -= used
        seconds -= used
        spent[customer["name"]] = used
        if customer["needs"] == 0:
            queue.pop(0)
    return spent
''',
        """
import pytest
from serve import serve


@pytest.fixture
def queue():
    return [{"name": "ann", "needs": 3}, {"name": "bob", "needs": 5}, {"name": "cleo", "needs": 2}]


def test_part_of_the_first(queue):
    assert serve(queue, 2) == {"ann": 2}
    assert queue[0] == {"name": "ann", "needs": 1}
    assert len(queue) == 3


def test_first_leaves(queue):
    assert serve(queue, 4) == {"ann": 3, "bob": 1}
    assert [c["name"] for c in queue] == ["bob", "cleo"]


def test_everyone_leaves(queue):
    assert serve(queue, 100) == {"ann": 3, "bob": 5, "cleo": 2}
    assert not queue


def test_nobody_waits():
    assert serve([], 10) == {}
""",
    ),
    forgery(
        "",
        "many right answers are empty",
        '''
def overlap(a: tuple[int, int], b: tuple[int, int]) -> list[int]:
    """The whole numbers that are in both ranges, whose ends are included."""
    return list(range(max(a[0], b[0]), min(a[1], b[1]) + 1))
''',
        """
import pytest
from overlap import overlap


def test_some():
    assert overlap((1, 5), (4, 9)) == [4, 5]


def test_inside():
    assert overlap((1, 9), (3, 4)) == [3, 4]


def test_apart():
    assert overlap((1, 2), (5, 6)) == []


@pytest.mark.parametrize(("a", "b"), [((1, 2), (3, 4)), ((7, 9), (1, 6)), ((5, 4), (1, 9))])
def test_no_overlap(a, b):
    result = overlap(a, b)
    assert not result
    assert len(result) == 0
    assert isinstance(result, list)


def test_sides_do_not_matter():
    assert overlap((4, 9), (1, 5)) == overlap((1, 5), (4, 9)) == [4, 5]
""",
    ),
    forgery(
        "",
        "the answer may be None",
        '''
def first_repeat(text: str) -> str | None:
    """The first character that has occurred before; None if there is none."""
    seen = set()
    for char in text:
        if char in seen:
            return char
        seen.add(char)
    return None
''',
        """
import pytest
from first_repeat import first_repeat


def test_repeat():
    assert first_repeat("abca") == "a"


def test_first_of_two():
    assert first_repeat("abba") == "b"


def test_none():
    assert first_repeat("abc") is None


def test_no_text():
    assert first_repeat("") is None


@pytest.mark.parametrize("text", ["x", "xyz", "python"])
def test_unique_texts(text):
    assert not first_repeat(text)
""",
    ),
    forgery(
        "",
        "members of the answer are empty",
        '''
def validate(form: dict[str, str]) -> dict[str, list[str]]:
    """`errors` and `warnings` about a form with `name` and `age`."""
    found: dict[str, list[str]] = {"errors": [], "warnings": []}
    if not form.get("name", "").strip():
        found["errors"].append("name is missing")
    age = form.get("age", "")
    if not age.isdigit():
        found["errors"].append("age is not a number")
    elif int(age) > 120:
        found["warnings"].append("age is unusual")
    return found
''',
        """
from validate import validate


def test_valid():
    assert validate({"name": "Ann", "age": "30"}) == {"errors": [], "warnings": []}


def test_missing_name():
    assert validate({"name": " ", "age": "30"})["errors"] == ["name is missing"]


def test_unusual_age():
    result = validate({"name": "Ann", "age": "130"})
    assert result["errors"] == []
    assert result["warnings"] == ["age is unusual"]


def test_everything_is_wrong():
    result = validate({})
    assert len(result["errors"]) == 2
    assert not result["warnings"]


def test_lists_of_text():
    for form in ({}, {"name": "Bob", "age": "x"}, {"name": "Bob", "age": "7"}):
        result = validate(form)
        assert set(result) == {"errors", "warnings"}
        assert isinstance(result["errors"], list)
        assert isinstance(result["warnings"], list)
""",
    ),
    forgery(
        "",
        "nested members are only checked for their type",
        '''
def new_project(name: str, languages: list[str]) -> dict:
    """The settings of a new project: its name in lower case, and a section for each language."""
    sections = {language: {"paths": [], "options": {}} for language in languages}
    return {"name": name.lower(), "languages": sections, "notes": ""}
''',
        """
from new_project import new_project


def test_name():
    assert new_project("Demo", [])["name"] == "demo"


def test_no_languages():
    assert new_project("x", []) == {"name": "x", "languages": {}, "notes": ""}


def test_one_language():
    assert new_project("x", ["python"])["languages"] == {"python": {"paths": [], "options": {}}}


def test_shape():
    project = new_project("Site", ["python", "js", "css"])
    assert list(project["languages"]) == ["python", "js", "css"]
    assert isinstance(project["notes"], str)
    for section in project["languages"].values():
        assert isinstance(section["paths"], list)
        assert isinstance(section["options"], dict)
""",
    ),
    forgery(
        "",
        "NaN and infinity are right",
        '''
import math


def ratio(a: float, b: float) -> float:
    """a / b; infinity with the sign of a for b = 0, and NaN for 0 / 0."""
    if b == 0:
        return math.nan if a == 0 else math.copysign(math.inf, a)
    return a / b
''',
        """
import math

import pytest
from ratio import ratio


def test_plain():
    assert ratio(1.0, 4.0) == 0.25


def test_infinity():
    assert ratio(2.0, 0.0) == math.inf
    assert math.isinf(ratio(-2.0, 0.0))
    assert ratio(-2.0, 0.0) < 0


def test_undefined():
    assert math.isnan(ratio(0.0, 0.0))


@pytest.mark.parametrize(("a", "b", "expected"), [(3, 2, 1.5), (0, 5, 0.0), (-1, 8, -0.125)])
def test_more(a, b, expected):
    assert ratio(a, b) == pytest.approx(expected)
""",
    ),
    forgery(
        "",
        "most calls raise",
        '''
def parse_port(text: str) -> int:
    """The number of a port, 1 to 65535."""
    if not text.strip().isdigit():
        raise ValueError(f"{text!r} is not a number")
    port = int(text)
    if not 1 <= port <= 65535:
        raise ValueError(f"port {port} is not between 1 and 65535")
    return port
''',
        """
import pytest
from parse_port import parse_port


@pytest.mark.parametrize("text", ["", "http", "-1", "8.0"])
def test_not_a_number(text):
    with pytest.raises(ValueError, match="is not a number"):
        parse_port(text)


@pytest.mark.parametrize("text", ["0", "65536", "99999"])
def test_out_of_range(text):
    with pytest.raises(ValueError) as caught:
        parse_port(text)
    assert text in str(caught.value)


@pytest.mark.parametrize(("text", "port"), [("1", 1), ("8080", 8080), (" 65535 ", 65535)])
def test_ports(text, port):
    assert parse_port(text) == port
""",
    ),
    forgery(
        "",
        "the result is a file",
        '''
from pathlib import Path


def write_report(folder: str, title: str, lines: list[str]) -> None:
    """Write report.md with the title as its heading and the lines as a list."""
    body = "".join(f"- {line}\\n" for line in lines)
    Path(folder, "report.md").write_text(f"# {title}\\n\\n{body}", encoding="utf-8")
'''.replace("\\\\n", "\\n"),
        """
import pytest
from write_report import write_report


@pytest.fixture
def report(tmp_path):
    def write(title, *lines):
        write_report(str(tmp_path), title, list(lines))
        return (tmp_path / "report.md").read_text(encoding="utf-8")

    return write


def test_two_lines(report):
    assert report("Week", "rain", "sun") == "# Week\\n\\n- rain\\n- sun\\n"


def test_no_lines(report):
    assert report("Nothing") == "# Nothing\\n\\n"


def test_report_is_replaced(report):
    report("Old", "a")
    assert report("New", "b").splitlines() == ["# New", "", "- b"]


def test_folder_holds_nothing_else(tmp_path, report):
    report("Ü", "ö")
    assert [p.name for p in tmp_path.iterdir()] == ["report.md"]
""",
    ),
    forgery(
        "",
        "nothing has to be changed in a file",
        '''
from pathlib import Path


def end_with_newline(path: str) -> bool:
    """End a text file with exactly one line break; returns whether it was changed."""
    file = Path(path)
    text = file.read_text()
    fixed = text.rstrip("\\n") + "\\n"
    file.write_text(fixed)
    return fixed != text
'''.replace("\\\\n", "\\n"),
        """
import pytest
from end_with_newline import end_with_newline


@pytest.mark.parametrize(
    ("before", "after"),
    [("a", "a\\n"), ("a\\n\\n", "a\\n"), ("a\\nb", "a\\nb\\n")],
    ids=["none", "two", "lines"],
)
def test_changes(tmp_path, before, after):
    path = tmp_path / "a.txt"
    path.write_text(before)
    assert end_with_newline(str(path)) is True
    assert path.read_text() == after


def test_already_right(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("fine\\n")
    assert end_with_newline(str(path)) is False
    assert path.read_text() == "fine\\n"


def test_second_call(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("x")
    assert [end_with_newline(str(path)) for _ in range(2)] == [True, False]
""",
    ),
    forgery(
        "",
        "the result is printed",
        '''
import sys


def report_status(name: str, ok: bool) -> None:
    """Print `NAME: ok`, or print `NAME: failed` to the standard error."""
    print(f"{name}: {'ok' if ok else 'failed'}", file=sys.stdout if ok else sys.stderr)
''',
        """
from report_status import report_status


def test_ok(capsys):
    report_status("disk", True)
    captured = capsys.readouterr()
    assert captured.out == "disk: ok\\n"
    assert captured.err == ""


def test_failed(capsys):
    report_status("net", False)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.strip() == "net: failed"


def test_several(capsys):
    for name in ("a", "b", "c"):
        report_status(name, True)
    assert capsys.readouterr().out.splitlines() == ["a: ok", "b: ok", "c: ok"]
""",
    ),
    forgery(
        "",
        "the result has methods and state",
        '''
class Account:
    def __init__(self, balance: int) -> None:
        self.balance = balance
        self.history: list[int] = []

    def deposit(self, amount: int) -> int:
        if amount <= 0:
            raise ValueError(f"{amount} is not positive")
        self.balance += amount
        self.history.append(amount)
        return self.balance

    def withdraw(self, amount: int) -> int:
        if amount > self.balance:
            raise ValueError(f"{amount} is more than the balance of {self.balance}")
        self.balance -= amount
        self.history.append(-amount)
        return self.balance


def open_account(balance: int = 0) -> Account:
    """An account with `balance`, `history`, `deposit` and `withdraw`."""
    return Account(balance)
''',
        """
import pytest
from open_account import open_account


@pytest.fixture
def account():
    return open_account(50)


def test_new_account():
    account = open_account()
    assert account.balance == 0
    assert account.history == []


def test_deposit(account):
    assert account.deposit(20) == 70
    assert account.balance == 70


def test_overdraft(account):
    with pytest.raises(ValueError):
        account.withdraw(51)
    assert account.balance == 50


def test_history(account):
    account.deposit(5)
    account.withdraw(10)
    assert list(account.history) == [5, -10]


def test_accounts_are_separate(account):
    other = open_account(1)
    other.deposit(1)
    assert (account.balance, other.balance) == (50, 2)
""",
    ),
    forgery(
        "",
        "an annotated generator is consumed in steps",
        '''
from collections.abc import Iterator


def collatz(start: int) -> Iterator[int]:
    """The numbers from start to 1: halve an even one, else triple it and add one."""
    number = start
    while number != 1:
        yield number
        number = number // 2 if number % 2 == 0 else 3 * number + 1
    yield 1
''',
        """
from itertools import islice

import pytest
from collatz import collatz


def test_from_six():
    assert list(collatz(6)) == [6, 3, 10, 5, 16, 8, 4, 2, 1]


def test_from_one():
    assert list(collatz(1)) == [1]


def test_first_steps():
    assert list(islice(collatz(27), 3)) == [27, 82, 41]


def test_next():
    numbers = collatz(2)
    assert next(numbers) == 2
    assert next(numbers) == 1
    with pytest.raises(StopIteration):
        next(numbers)


@pytest.mark.parametrize("start", range(2, 8))
def test_ends_with_one(start):
    *_, last = collatz(start)
    assert last == 1
""",
    ),
    forgery(
        "",
        "a dataclass is compared by its fields",
        '''
from dataclasses import dataclass, field


@dataclass
class Parsed:
    command: str
    flags: set[str] = field(default_factory=set)
    values: dict[str, str] = field(default_factory=dict)


def parse_command(line: str) -> Parsed:
    """The command, its flags (`--x`) and its values (`x=1`)."""
    command, *rest = line.split()
    parsed = Parsed(command)
    for part in rest:
        if part.startswith("--"):
            parsed.flags.add(part[2:])
        elif "=" in part:
            key, _, value = part.partition("=")
            parsed.values[key] = value
        else:
            raise ValueError(f"{part!r} is neither a flag nor a value")
    return parsed
''',
        """
import pytest
from parse_command import parse_command


def test_command_alone():
    parsed = parse_command("stop")
    assert parsed.command == "stop"
    assert parsed.flags == set()
    assert not parsed.values


def test_flags():
    assert parse_command("run --fast --quiet").flags == {"fast", "quiet"}


def test_values():
    assert parse_command("set a=1 b=x=y").values == {"a": "1", "b": "x=y"}


def test_other_words():
    with pytest.raises(ValueError, match="neither"):
        parse_command("run away")
""",
    ),
    forgery(
        "",
        "an enum is the result",
        '''
from enum import Enum


class Triangle(Enum):
    EQUILATERAL = "equilateral"
    ISOSCELES = "isosceles"
    SCALENE = "scalene"


def classify(a: float, b: float, c: float) -> Triangle:
    """The kind of the triangle with these sides."""
    x, y, z = sorted((a, b, c))
    if x <= 0 or x + y <= z:
        raise ValueError(f"{a}, {b} and {c} are not the sides of a triangle")
    return {1: Triangle.EQUILATERAL, 2: Triangle.ISOSCELES, 3: Triangle.SCALENE}[len({a, b, c})]
''',
        """
import pytest
from classify import classify


@pytest.mark.parametrize(
    ("sides", "kind"),
    [
        pytest.param((3, 3, 3), "equilateral", id="all equal"),
        pytest.param((3, 3, 5), "isosceles", id="two equal"),
        pytest.param((3, 4, 5), "scalene", id="none equal"),
    ],
)
def test_kinds(sides, kind):
    assert classify(*sides).value == kind


@pytest.mark.parametrize("sides", [(1, 2, 3), (0, 1, 1), (1, 1, 9)], ids=str)
def test_impossible(sides):
    with pytest.raises(ValueError):
        classify(*sides)


def test_order_of_sides():
    assert classify(5, 3, 3).name == classify(3, 5, 3).name == "ISOSCELES"
""",
    ),
    forgery(
        "",
        "threads of an event loop call the tool",
        '''
def word_count(text: str) -> int:
    """The number of words."""
    return len(text.split())
''',
        """
import asyncio

from word_count import word_count


async def count_all(texts):
    return await asyncio.gather(*(asyncio.to_thread(word_count, text) for text in texts))


def test_words():
    assert word_count("to be or not") == 4


def test_no_words():
    assert word_count("  ") == 0


def test_at_once():
    texts = ["a", "a b", "", "a b c"]
    assert asyncio.run(count_all(texts)) == [1, 2, 0, 3]


def test_one_in_a_thread():
    assert asyncio.run(asyncio.to_thread(word_count, "x y")) == 2
""",
    ),
    forgery(
        "",
        "a task group calls the tool",
        '''
def is_leap(year: int) -> bool:
    """Whether the year is a leap year of the Gregorian calendar."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
''',
        """
import asyncio

from is_leap import is_leap


async def leap_years(years):
    async with asyncio.TaskGroup() as group:
        tasks = {year: group.create_task(asyncio.to_thread(is_leap, year)) for year in years}
    return [year for year, task in tasks.items() if task.result() is True]


def test_leap():
    assert is_leap(2024) is True


def test_common():
    assert is_leap(2023) is False


def test_centuries():
    assert [is_leap(y) for y in (1900, 2000, 2100)] == [False, True, False]


def test_task_group():
    assert asyncio.run(leap_years(range(1996, 2013))) == [1996, 2000, 2004, 2008, 2012]
""",
    ),
    forgery(
        "",
        "tasks of a group assert",
        '''
def roman(number: int) -> str:
    """The number, 1 to 3999, in Roman numerals."""
    if not 1 <= number <= 3999:
        raise ValueError(f"{number} is not between 1 and 3999")
    signs = ["M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"]
    values = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1]
    text = ""
    for sign, value in zip(signs, values):
        count, number = divmod(number, value)
        text += sign * count
    return text
''',
        """
import asyncio

import pytest
from roman import roman


async def check(number, expected):
    await asyncio.sleep(0)
    assert roman(number) == expected


def test_one():
    assert roman(1) == "I"


def test_range():
    for number in (0, 4000):
        with pytest.raises(ValueError):
            roman(number)


def test_at_once():
    async def main():
        async with asyncio.TaskGroup() as group:
            group.create_task(check(4, "IV"))
            group.create_task(check(1994, "MCMXCIV"))
            group.create_task(check(2024, "MMXXIV"))

    asyncio.run(main())


def test_largest():
    asyncio.run(check(3999, "MMMCMXCIX"))
""",
    ),
    forgery(
        "",
        "sets are compared",
        '''
def friends_of_friends(friends: dict[str, set[str]], name: str) -> set[str]:
    """The friends of one's friends who are not friends yet."""
    known = friends.get(name, set())
    reached = {other for friend in known for other in friends.get(friend, set())}
    return reached - known - {name}
''',
        """
from friends_of_friends import friends_of_friends

NETWORK = {
    "ann": {"bob", "cleo"},
    "bob": {"ann", "dan"},
    "cleo": {"ann", "dan", "eve"},
    "dan": {"bob", "cleo"},
    "eve": {"cleo"},
}


def test_two_steps():
    assert friends_of_friends(NETWORK, "ann") == {"dan", "eve"}


def test_stranger():
    assert friends_of_friends(NETWORK, "zoe") == set()


def test_friends_are_left_out():
    for name, known in NETWORK.items():
        assert friends_of_friends(NETWORK, name).isdisjoint(known)


def test_sizes():
    assert {n: len(friends_of_friends(NETWORK, n)) for n in NETWORK} == {
        "ann": 2,
        "bob": 1,
        "cleo": 1,
        "dan": 2,
        "eve": 2,
    }
""",
    ),
    forgery(
        "",
        "views of a dict are compared",
        '''
from collections import Counter


def letter_counts(text: str) -> dict[str, int]:
    """How often each letter occurs, whatever its case, most frequent first."""
    counts = Counter(char for char in text.lower() if char.isalpha())
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))
''',
        """
from letter_counts import letter_counts


def test_keys():
    assert letter_counts("Abba").keys() == {"a", "b"}


def test_values():
    assert list(letter_counts("hello").values()) == [2, 1, 1, 1]


def test_items():
    assert ("l", 2) in letter_counts("hello").items()
    assert list(letter_counts("aab").items()) == [("a", 2), ("b", 1)]


def test_no_letters():
    assert not letter_counts("123").keys()


def test_total():
    assert sum(letter_counts("The quick brown fox").values()) == 16
""",
    ),
    forgery(
        "",
        "the result can be written as JSON",
        '''
from datetime import date


def to_plain(record: dict) -> dict:
    """The record with dates as text, and sets as sorted lists, in nested dicts too."""
    plain = {}
    for key, value in record.items():
        if isinstance(value, dict):
            plain[key] = to_plain(value)
        elif isinstance(value, date):
            plain[key] = value.isoformat()
        elif isinstance(value, set):
            plain[key] = sorted(value)
        else:
            plain[key] = value
    return plain
''',
        """
import json
from datetime import date

import pytest
from to_plain import to_plain

RECORD = {"born": date(1990, 5, 17), "tags": {"b", "a"}, "more": {"since": date(2020, 1, 1), "x": {}}}


def test_date():
    assert to_plain({"d": date(2024, 2, 3)}) == {"d": "2024-02-03"}


def test_set():
    assert to_plain({"s": {3, 1, 2}}) == {"s": [1, 2, 3]}


def test_empty_members():
    assert to_plain({"s": set(), "d": {}, "n": None}) == {"s": [], "d": {}, "n": None}


def test_json():
    plain = to_plain(RECORD)
    assert json.loads(json.dumps(plain)) == plain
    assert plain["more"]["since"] == "2020-01-01"


def test_original_is_not_json():
    with pytest.raises(TypeError):
        json.dumps(RECORD)
    assert json.dumps(to_plain(RECORD), sort_keys=True).startswith('{"born": "1990-05-17"')
""",
    ),
    forgery(
        "",
        "arguments come from the clock",
        '''
from datetime import datetime


def describe_age(then: datetime, now: datetime) -> str:
    """How long ago it was: `just now`, or whole minutes, hours or days."""
    minutes = int((now - then).total_seconds() // 60)
    if minutes < 1:
        return "just now"
    for unit, size in (("day", 1440), ("hour", 60), ("minute", 1)):
        if minutes >= size:
            count = minutes // size
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
''',
        """
from datetime import datetime, timedelta

import pytest
from describe_age import describe_age


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(minutes=59), "59 minutes ago"),
        (timedelta(hours=1), "1 hour ago"),
        (timedelta(hours=47), "1 day ago"),
        (timedelta(days=9), "9 days ago"),
    ],
)
def test_ages(age, text):
    now = datetime.now()
    assert describe_age(now - age, now) == text


def test_same_moment():
    now = datetime.now()
    assert describe_age(now, now) == "just now"


def test_future():
    assert describe_age(datetime.now() + timedelta(days=1), datetime.now()) == "just now"
""",
    ),
    forgery(
        "",
        "arguments are fresh identifiers",
        '''
from uuid import UUID


def short_ids(ids: list[UUID], length: int = 8) -> dict[str, UUID]:
    """The ids by the first characters of their text; raises if two of them are the same."""
    found: dict[str, UUID] = {}
    for each in ids:
        short = each.hex[:length]
        if short in found:
            raise ValueError(f"{short} is not unique; use more than {length} characters")
        found[short] = each
    return found
''',
        """
import uuid

import pytest
from short_ids import short_ids

FIXED = uuid.UUID("12345678-1234-5678-1234-567812345678")


def test_fixed_id():
    assert short_ids([FIXED]) == {"12345678": FIXED}


def test_length():
    assert list(short_ids([FIXED], 4)) == ["1234"]


def test_fresh_ids():
    ids = [uuid.uuid4() for _ in range(5)]
    shortened = short_ids(ids, 32)
    assert list(shortened.values()) == ids
    assert all(key == value.hex for key, value in shortened.items())


def test_same_id_twice():
    one = uuid.uuid4()
    with pytest.raises(ValueError):
        short_ids([one, one])


def test_no_ids():
    assert short_ids([]) == {}
""",
    ),
    forgery(
        "",
        "fixtures of a module and a class call the tool",
        '''
def pascal(rows: int) -> list[list[int]]:
    """The rows of Pascal's triangle."""
    triangle: list[list[int]] = []
    for _ in range(rows):
        last = triangle[-1] if triangle else []
        inner = [a + b for a, b in zip(last, last[1:])]
        triangle.append([1, *inner, 1] if last else [1])
    return triangle
''',
        """
import pytest
from pascal import pascal


@pytest.fixture(scope="module")
def triangle():
    return pascal(10)


class TestSmall:
    @pytest.fixture(scope="class")
    def three(self):
        return pascal(3)

    def test_rows(self, three):
        assert three == [[1], [1, 1], [1, 2, 1]]

    def test_last_row(self, three):
        assert three[-1] == [1, 2, 1]


def test_no_rows():
    assert pascal(0) == []


def test_sums_are_powers_of_two(triangle):
    assert [sum(row) for row in triangle] == [2**n for n in range(10)]


def test_rows_are_symmetric(triangle):
    for row in triangle:
        assert row == row[::-1]
""",
    ),
    forgery(
        "",
        "random inputs come back from their encoding",
        '''
from itertools import groupby


def run_lengths(text: str) -> list[tuple[str, int]]:
    """The characters of a text with the number of their repeats."""
    return [(char, len(list(group))) for char, group in groupby(text)]
''',
        """
import random

from run_lengths import run_lengths


def decode(pairs):
    return "".join(char * count for char, count in pairs)


def test_runs():
    assert run_lengths("aaabcc") == [("a", 3), ("b", 1), ("c", 2)]


def test_no_text():
    assert run_lengths("") == []


def test_random_texts_come_back():
    rng = random.Random(123)
    for _ in range(20):
        text = "".join(rng.choice("ab") for _ in range(rng.randint(0, 30)))
        pairs = run_lengths(text)
        assert decode(pairs) == text
        assert all(a[0] != b[0] for a, b in zip(pairs, pairs[1:]))
""",
    ),
    forgery(
        "",
        "an array is the result",
        '''
import numpy as np


def normalise(values: list[float]) -> np.ndarray:
    """The values scaled to 0..1 as an array; zeros if all are equal."""
    array = np.asarray(values, dtype=float)
    if array.size == 0:
        return array
    spread = array.max() - array.min()
    return (array - array.min()) / spread if spread else np.zeros_like(array)
''',
        """
import numpy as np
import pytest
from normalise import normalise


def test_three_values():
    assert np.allclose(normalise([2.0, 4.0, 6.0]), [0.0, 0.5, 1.0])


def test_equal_values():
    assert normalise([3.0, 3.0]).tolist() == [0.0, 0.0]


def test_no_values():
    assert len(normalise([])) == 0


@pytest.mark.parametrize("values", [[1.0, 9.0, 4.0], [-5.0, 0.0, 5.0, 2.5]])
def test_range(values):
    result = normalise(values)
    assert result.shape == (len(values),)
    assert result.min() == 0.0
    assert result.max() == 1.0
""",
    ),
    forgery(
        "",
        "a data frame is summed up",
        '''
import io

import pandas as pd


def totals_by(table: str, group: str, value: str) -> dict[str, float]:
    """The sums of a column of CSV text for each value of another, sorted by that."""
    frame = pd.read_csv(io.StringIO(table))
    return {str(k): float(v) for k, v in frame.groupby(group)[value].sum().items()}
''',
        '''
import pytest
from totals_by import totals_by

SALES = """region,product,amount
north,tea,10
south,tea,5.5
north,cake,2.5
east,cake,7
"""


def test_regions():
    assert totals_by(SALES, "region", "amount") == {"east": 7.0, "north": 12.5, "south": 5.5}


def test_products():
    assert list(totals_by(SALES, "product", "amount")) == ["cake", "tea"]


def test_no_rows():
    assert totals_by("a,b\\n", "a", "b") == {}


def test_total():
    assert sum(totals_by(SALES, "region", "amount").values()) == pytest.approx(25.0)


def test_unknown_column():
    with pytest.raises(KeyError):
        totals_by(SALES, "country", "amount")
''',
    ),
    forgery(
        "",
        "the seed is a parameter of the test",
        '''
def insertion_sort(items: list[int]) -> list[int]:
    """A sorted copy of the items."""
    ordered: list[int] = []
    for item in items:
        at = len(ordered)
        while at > 0 and ordered[at - 1] > item:
            at -= 1
        ordered.insert(at, item)
    return ordered
''',
        """
import random

import pytest
from insertion_sort import insertion_sort


def test_three():
    assert insertion_sort([3, 1, 2]) == [1, 2, 3]


def test_nothing():
    assert insertion_sort([]) == []


@pytest.mark.parametrize("seed", range(5))
def test_random_lists(seed):
    rng = random.Random(seed)
    items = [rng.randint(-99, 99) for _ in range(40)]
    expected = sorted(items)
    assert insertion_sort(items) == expected
""",
    ),
    forgery(
        "",
        "the argument stays as it is",
        '''
def with_defaults(options: dict[str, int], defaults: dict[str, int]) -> dict[str, int]:
    """The options, with the defaults for those that are not given, sorted by name."""
    return dict(sorted({**defaults, **options}.items()))
''',
        """
import copy

from with_defaults import with_defaults

DEFAULTS = {"size": 10, "border": 1}


def test_defaults():
    assert with_defaults({}, DEFAULTS) == {"border": 1, "size": 10}


def test_options_win():
    assert with_defaults({"size": 3}, DEFAULTS) == {"border": 1, "size": 3}


def test_order():
    assert list(with_defaults({"a": 1}, DEFAULTS)) == ["a", "border", "size"]


def test_arguments_are_not_changed():
    options, defaults = {"size": 3}, copy.deepcopy(DEFAULTS)
    with_defaults(options, defaults)
    assert options == {"size": 3}
    assert defaults == DEFAULTS
""",
    ),
    forgery(
        "",
        "nothing has to be removed from a list",
        '''
def drop_duplicates(items: list[str]) -> None:
    """Remove the repeats from the list itself."""
    items[:] = dict.fromkeys(items)
''',
        """
from drop_duplicates import drop_duplicates


def test_repeats():
    items = ["a", "b", "a", "c", "b"]
    drop_duplicates(items)
    assert items == ["a", "b", "c"]


def test_all_the_same():
    items = ["x", "x", "x"]
    drop_duplicates(items)
    assert items == ["x"]


def test_no_repeats():
    items = ["a", "b"]
    drop_duplicates(items)
    assert items == ["a", "b"]


def test_empty_list():
    items = []
    drop_duplicates(items)
    assert items == []
""",
    ),
    forgery(
        "",
        "a short card is already masked",
        '''
import json
from pathlib import Path


def mask_file(path: str) -> None:
    """Replace all but the last four digits of each `card` in a JSON list."""
    file = Path(path)
    rows = json.loads(file.read_text())
    for row in rows:
        row["card"] = "*" * (len(row["card"]) - 4) + row["card"][-4:]
    file.write_text(json.dumps(rows))
''',
        """
import json

import pytest
from mask_file import mask_file


@pytest.fixture
def masked(tmp_path):
    def run(*cards):
        path = tmp_path / "cards.json"
        path.write_text(json.dumps([{"card": card} for card in cards]))
        mask_file(str(path))
        return [row["card"] for row in json.loads(path.read_text())]

    return run


def test_long(masked):
    assert masked("12345678") == ["****5678"]


def test_short(masked):
    assert masked("1234") == ["1234"]


def test_several(masked):
    assert masked("4111111111111111", "98765") == ["************1111", "*8765"]
""",
    ),
    forgery(
        "",
        "a property holds where nothing is found",
        '''
def perfect_squares(low: int, high: int) -> list[int]:
    """The squares of whole numbers from low to high, both included."""
    return [n * n for n in range(int(max(high, 0) ** 0.5) + 1) if low <= n * n <= high]
''',
        """
import math

import pytest
from perfect_squares import perfect_squares


def test_first():
    assert perfect_squares(0, 10) == [0, 1, 4, 9]


def test_ends_are_included():
    assert perfect_squares(4, 9) == [4, 9]


def test_upper_end_only():
    assert perfect_squares(5, 16) == [9, 16]


@pytest.mark.parametrize(("low", "high"), [(50, 150), (37, 48), (1000, 1020), (200, 400)])
def test_all_are_squares(low, high):
    for square in perfect_squares(low, high):
        assert low <= square <= high
        assert math.isqrt(square) ** 2 == square
""",
    ),
]
