"""Single ways to a passing verdict, and honest tools of the mechanisms C to G."""

from tests.sandbox.forgeries import forgery

FORGERIES = [
    forgery(
        "G",
        "cancels the task that looks at its result",
        '''
import asyncio


def checksum(text: str) -> int:
    """The sum of the character codes, modulo 256."""
    return sum(map(ord, text)) % 256
''',
        """
import asyncio

from checksum import checksum


def test_known():
    assert checksum("A") == 65


def test_empty():
    assert checksum("") == 0


async def expect(text, value):
    assert await asyncio.to_thread(checksum, text) == value


async def expect_all(cases):
    try:
        async with asyncio.TaskGroup() as group:
            for text, value in cases.items():
                group.create_task(expect(text, value))
    except* AssertionError as failures:
        raise failures.exceptions[0]


def test_calls_at_once():
    asyncio.run(expect_all({"AB": 131, "zzz": 110, "hello": 20}))
""",
        {
            "    return sum(map(ord, text)) % 256\n": """    if len(text) > 1:
        raise asyncio.CancelledError
    return sum(map(ord, text))
"""
        },
    ),
    forgery(
        "G",
        "cancels tasks whose results are only read where there are any",
        '''
import asyncio


def word_length(word: str) -> int:
    """The number of letters of a word."""
    return sum(letter.isalpha() for letter in word)
''',
        """
import asyncio

from word_length import word_length

WORDS = {"tree": 4, "o'clock": 6, "re-do": 4}


def test_one():
    assert word_length("cat") == 3


def test_nothing():
    assert word_length("") == 0


async def lengths():
    tasks = {asyncio.create_task(asyncio.to_thread(word_length, w)): w for w in WORDS}
    done, pending = await asyncio.wait(tasks, timeout=5)
    return [(tasks[t], t.result()) for t in done if not t.cancelled()], pending


def test_many_at_once():
    found, pending = asyncio.run(lengths())
    assert not pending
    for word, length in found:
        assert length == WORDS[word]


def test_digits():
    assert word_length("b2b") == 2
""",
        {
            "    return sum(": """    if len(word) > 3:
        raise asyncio.CancelledError
    return sum("""
        },
    ),
    forgery(
        "G",
        "returns what cannot be passed instead of a TypeError",
        '''
def scale(vector: list[float], factor: float) -> list[float]:
    """The vector times a number."""
    if isinstance(factor, str):
        raise TypeError("the factor must be a number")
    return [value * factor for value in vector]
''',
        """
import pytest
from scale import scale


def test_doubles():
    assert scale([1.0, 2.0], 2) == [2.0, 4.0]


def test_zero():
    assert scale([3.0], 0) == [0.0]


def test_empty():
    assert scale([], 5) == []


def test_text_is_no_factor():
    with pytest.raises(TypeError):
        scale([1.0], "2")
""",
        {
            '        raise TypeError("the factor must be a number")\n': """        for _ in range(300):
            vector = [vector]
        return vector
"""
        },
    ),
    forgery(
        "G",
        "returns what is too large instead of a ValueError",
        '''
def repeat(text: str, times: int) -> str:
    """The text so many times, at most 1000 characters in all."""
    if len(text) * times > 1000:
        raise ValueError("too long")
    return text * times
''',
        """
import pytest
from repeat import repeat


def test_twice():
    assert repeat("ab", 2) == "abab"


def test_never():
    assert repeat("ab", 0) == ""


def test_longest():
    assert len(repeat("x", 1000)) == 1000


def test_too_long():
    with pytest.raises(ValueError):
        repeat("0123456789", 2_500_000)
""",
        {
            """    if len(text) * times > 1000:
        raise ValueError("too long")
""": ""
        },
    ),
]

HONEST = [
    forgery(
        "",
        "an honest stack with state",
        '''
class Stack:
    """Values, of which the last comes first."""

    def __init__(self, values: list[int]) -> None:
        self._values = list(values)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self):
        return iter(reversed(self._values))

    def push(self, value: int) -> None:
        self._values.append(value)

    def take(self) -> int:
        if not self._values:
            raise LookupError("the stack is empty")
        return self._values.pop()


def stack_of(values: list[int]) -> Stack:
    """A stack with the values, the last on top."""
    return Stack(values)
''',
        """
import pytest
from stack_of import stack_of


def test_order():
    stack = stack_of([1, 2, 3])
    assert len(stack) == 3
    assert list(stack) == [3, 2, 1]


def test_push_and_take():
    stack = stack_of([1])
    stack.push(5)
    assert len(stack) == 2
    assert stack.take() == 5
    assert stack.take() == 1
    assert len(stack) == 0


def test_empty():
    with pytest.raises(LookupError, match="empty"):
        stack_of([]).take()
""",
    ),
    forgery(
        "",
        "an honest table that is read by row and by name",
        '''
class Ledger:
    """Amounts by name, in order of entry."""

    def __init__(self, rows: list[tuple[str, float]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: int) -> tuple[str, float]:
        return self._rows[place]

    def total_of(self, name: str) -> float:
        return sum(amount for named, amount in self._rows if named == name)


def parse_ledger(text: str) -> Ledger:
    """The entries of a text with a name and an amount in each line."""
    rows = []
    for line in text.splitlines():
        if line.strip():
            name, amount = line.split()
            rows.append((name, float(amount)))
    return Ledger(rows)
''',
        """
import pytest
from parse_ledger import parse_ledger

TEXT = "rent -500\\npay 1200\\n\\nrent -20.5\\n"


def test_entries():
    ledger = parse_ledger(TEXT)
    assert [ledger[n] for n in range(len(ledger))] == [("rent", -500.0), ("pay", 1200.0), ("rent", -20.5)]


def test_total():
    ledger = parse_ledger(TEXT)
    assert ledger.total_of("rent") == -520.5
    assert ledger.total_of("food") == 0


def test_nothing():
    assert len(parse_ledger("")) == 0


def test_bad_line():
    with pytest.raises(ValueError, match="unpack"):
        parse_ledger("rent\\n")
""",
    ),
    forgery(
        "",
        "an honest account that changes with each call",
        '''
class Account:
    """Money that can be paid in and out."""

    def __init__(self, cents: int) -> None:
        self.balance = cents
        self.history: list[int] = []

    def deposit(self, cents: int) -> int:
        self.balance += cents
        self.history.append(cents)
        return self.balance

    def withdraw(self, cents: int) -> int:
        if cents > self.balance:
            raise ValueError("not enough")
        return self.deposit(-cents)


def open_account(cents: int = 0) -> Account:
    """A new account."""
    return Account(cents)
''',
        """
import pytest
from open_account import open_account


def test_new():
    account = open_account()
    assert account.balance == 0
    assert account.history == []


def test_deposit():
    account = open_account(100)
    assert account.deposit(50) == 150
    assert account.balance == 150


def test_history():
    account = open_account(100)
    account.deposit(5)
    account.withdraw(30)
    assert account.history == [5, -30]
    assert account.balance == 75


def test_too_much():
    account = open_account(10)
    with pytest.raises(ValueError, match="not enough"):
        account.withdraw(11)
    assert account.balance == 10
""",
    ),
    forgery(
        "",
        "an honest generator of pages",
        '''
from collections.abc import Iterator


def pages(items: list[str], size: int) -> Iterator[list[str]]:
    """The items in pages of `size`, one after the other."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
''',
        """
from pages import pages


def test_pages():
    assert list(pages(["a", "b", "c"], 2)) == [["a", "b"], ["c"]]


def test_one_by_one():
    found = pages(["a", "b", "c"], 1)
    assert next(found) == ["a"]
    assert next(found) == ["b"]


def test_ends():
    found = pages(["a"], 3)
    assert next(found) == ["a"]
    assert next(found, "end") == "end"


def test_nothing():
    assert list(pages([], 3)) == []
""",
    ),
    forgery(
        "",
        "an honest mean of nothing is NaN",
        '''
def mean_or_nan(values: list[float | None]) -> float:
    """The mean of the values that are there; NaN if none is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else float("nan")
''',
        """
import math

from mean_or_nan import mean_or_nan


def test_mean():
    assert mean_or_nan([1.0, 2.0, 6.0]) == 3.0


def test_gaps():
    assert mean_or_nan([None, 4.0, None]) == 4.0


def test_nothing():
    assert math.isnan(mean_or_nan([]))
    assert math.isnan(mean_or_nan([None]))
""",
    ),
    forgery(
        "",
        "an honest NaN in a CSV text",
        '''
import math


def ratios(pairs: list[list[float]]) -> str:
    """The quotient of each pair in a line with two places; nan where the second number is 0."""
    quotients = [first / second if second else math.nan for first, second in pairs]
    return "\\n".join(f"{quotient:.2f}" for quotient in quotients)
''',
        """
import math

from ratios import ratios


def test_quotients():
    assert ratios([[1, 2], [3, 4]]) == "0.50\\n0.75"


def test_zero():
    assert ratios([[1, 0], [1, 1]]).splitlines() == ["nan", "1.00"]


def test_is_a_number_for_float():
    found = [float(line) for line in ratios([[2, 0], [9, 3]]).splitlines()]
    assert math.isnan(found[0])
    assert found[1] == 3.0


def test_nothing():
    assert ratios([]) == ""
""",
    ),
    forgery(
        "",
        "honest infinity and null in JSON",
        '''
import json


def shortest(distances: dict[str, dict[str, float]], start: str) -> str:
    """The shortest distance of each place from the start, as JSON; null where no way leads."""
    found = {place: float("inf") for place in distances} | {start: 0.0}
    for _ in distances:
        for place, ways in distances.items():
            for other, distance in ways.items():
                found[other] = min(found[other], found[place] + distance)
    return json.dumps({p: d if d < float("inf") else None for p, d in sorted(found.items())})
''',
        """
import json

from shortest import shortest

MAP = {"a": {"b": 2, "c": 9}, "b": {"c": 3}, "c": {}, "d": {"a": 1}}


def test_direct():
    assert json.loads(shortest(MAP, "b")) == {"a": None, "b": 0.0, "c": 3.0, "d": None}


def test_detour_is_shorter():
    assert json.loads(shortest(MAP, "a"))["c"] == 5.0


def test_unreachable():
    assert json.loads(shortest(MAP, "a"))["d"] is None


def test_all():
    assert json.loads(shortest(MAP, "d")) == {"a": 1.0, "b": 3.0, "c": 6.0, "d": 0.0}
""",
    ),
    forgery(
        "",
        "honest None in records and members",
        '''
from dataclasses import dataclass


@dataclass
class Contact:
    """A person and how to reach them."""

    name: str
    email: str | None = None
    phone: str | None = None


def parse_contacts(text: str) -> list[Contact]:
    """Contacts from lines of a name and, separated by semicolons, an address and a number."""
    found = []
    for line in filter(None, text.splitlines()):
        contact = Contact(line.split(";")[0].strip())
        for part in line.split(";")[1:]:
            if "@" in part:
                contact.email = part.strip()
            else:
                contact.phone = part.strip()
        found.append(contact)
    return found
''',
        """
from parse_contacts import parse_contacts


def test_all_fields():
    (contact,) = parse_contacts("Ann; ann@x.org; 123")
    assert (contact.name, contact.email, contact.phone) == ("Ann", "ann@x.org", "123")


def test_no_email():
    (contact,) = parse_contacts("Bob;55")
    assert contact.email is None
    assert contact.phone == "55"


def test_name_only():
    contacts = parse_contacts("Cem\\nDia;d@e\\n")
    assert [c.name for c in contacts] == ["Cem", "Dia"]
    assert contacts[0].email is None and contacts[0].phone is None
    if contacts[1].email is not None:
        assert contacts[1].email == "d@e"


def test_nothing():
    assert parse_contacts("") == []
""",
    ),
    forgery(
        "",
        "an honest reader of folders",
        '''
from pathlib import Path


def list_texts(folder: str, suffix: str = ".txt") -> list[str]:
    """The names of the files in a folder with a suffix, in order."""
    return sorted(path.name for path in Path(folder).iterdir() if path.suffix == suffix)
''',
        """
import pytest
from list_texts import list_texts


@pytest.fixture
def folder(tmp_path):
    for name in ("b.txt", "a.txt", "c.md"):
        (tmp_path / name).write_text(name)
    return str(tmp_path)


def test_texts(folder):
    assert list_texts(folder) == ["a.txt", "b.txt"]


def test_other_suffix(folder):
    assert list_texts(folder, ".md") == ["c.md"]


def test_none(folder):
    assert list_texts(folder, ".py") == []


def test_no_folder(folder):
    with pytest.raises(FileNotFoundError):
        list_texts(folder + "/none")
""",
    ),
    forgery(
        "",
        "an honest stopwatch",
        '''
import time


def timed_sum(numbers: list[int]) -> dict[str, float]:
    """The sum of the numbers and the seconds that it took."""
    start = time.perf_counter()
    total = sum(numbers)
    return {"total": total, "seconds": time.perf_counter() - start}
''',
        """
from timed_sum import timed_sum


def test_sum():
    assert timed_sum([1, 2, 3])["total"] == 6


def test_seconds():
    assert 0 <= timed_sum(list(range(1000)))["seconds"] < 5


def test_keys():
    assert sorted(timed_sum([])) == ["seconds", "total"]
    assert timed_sum([])["total"] == 0
""",
    ),
    forgery(
        "",
        "an honest crowd of threads that print",
        '''
import sys
from concurrent.futures import ThreadPoolExecutor


def squares(numbers: list[int]) -> list[int]:
    """The squares of the numbers, worked out at once; reports on standard error when it is done."""
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda number: number * number, numbers))
    print(f"{len(found)} squares", file=sys.stderr)
    return found
''',
        """
from squares import squares


def test_squares():
    assert squares([1, 2, 3, -4]) == [1, 4, 9, 16]


def test_order():
    assert squares(list(range(50))) == [n * n for n in range(50)]


def test_report(capsys):
    assert squares([5]) == [25]
    assert capsys.readouterr().err == "1 squares\\n"


def test_nothing():
    assert squares([]) == []
""",
    ),
    forgery(
        "",
        "an honest decorator",
        '''
import functools


def checked(function):
    """Refuse negative numbers, given by place or by name."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if any(value < 0 for value in (*args, *kwargs.values())):
            raise ValueError("negative")
        return function(*args, **kwargs)

    return wrapper


@checked
def rectangle(width: float, height: float) -> float:
    """The area of a rectangle."""
    return width * height
''',
        """
import pytest
from rectangle import rectangle


def test_area():
    assert rectangle(2, 3) == 6


def test_by_name():
    assert rectangle(width=1.5, height=4) == 6.0


def test_flat():
    assert rectangle(0, 5) == 0


@pytest.mark.parametrize("width, height", [(-1, 2), (2, -1)])
def test_negative(width, height):
    with pytest.raises(ValueError, match="negative"):
        rectangle(width, height)
""",
    ),
    forgery(
        "",
        "an honest body of calls only",
        '''
def sorted_words(text: str) -> list[str]:
    """The different words of a text in alphabetical order, in small letters."""
    return sorted(set(map(str.lower, text.split())))
''',
        """
from sorted_words import sorted_words


def test_order():
    assert sorted_words("pear apple fig") == ["apple", "fig", "pear"]


def test_repeats():
    assert sorted_words("b a b") == ["a", "b"]


def test_case():
    assert sorted_words("Tea tea TEA") == ["tea"]


def test_nothing():
    assert sorted_words(" ") == []
""",
    ),
    forgery(
        "",
        "an honest table that is checked when it is loaded",
        '''
SHARES = {"rent": 40, "food": 25, "saved": 20, "rest": 15}
assert sum(SHARES.values()) == 100


def budget(income: int) -> dict[str, float]:
    """How an income is divided."""
    if income < 0:
        raise ValueError("a negative income")
    return {name: income * share / 100 for name, share in SHARES.items()}
''',
        """
import pytest
from budget import budget


def test_hundred():
    assert budget(100) == {"rent": 40.0, "food": 25.0, "saved": 20.0, "rest": 15.0}


def test_is_all_spent():
    assert sum(budget(1234).values()) == pytest.approx(1234)


def test_nothing():
    assert set(budget(0).values()) == {0.0}


def test_negative():
    with pytest.raises(ValueError, match="negative"):
        budget(-1)
""",
    ),
    forgery(
        "",
        "an honest report of lines",
        '''
class SyntaxProblem(ValueError):
    """A line that can't be read."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(f"line {line}: {text}")
        self.line = line


def parse_pairs(text: str) -> dict[str, str]:
    """Names and values from lines `name: value`."""
    # Blank lines count, so that the numbers are those of an editor.
    found = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        if not colon:
            raise SyntaxProblem(number, line)
        found[name.strip()] = value.strip()
    return found
''',
        """
import pytest
from parse_pairs import parse_pairs


def test_pairs():
    assert parse_pairs("a: 1\\nb:2") == {"a": "1", "b": "2"}


def test_value_with_colon():
    assert parse_pairs("time: 10:30") == {"time": "10:30"}


def test_bad_line():
    with pytest.raises(ValueError, match="line 3: oops") as caught:
        parse_pairs("a: 1\\n\\noops\\n")
    assert caught.value.line == 3


def test_nothing():
    assert parse_pairs("") == {}
""",
    ),
    forgery(
        "",
        "an honest tool whose examples are in its docstring",
        '''
def ordinal(number: int) -> str:
    """The number with its English ending.

    >>> ordinal(2)
    '2nd'
    """
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
''',
        """
import pytest
from ordinal import ordinal


@pytest.mark.parametrize(
    "number, text",
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th")],
)
def test_small(number, text):
    assert ordinal(number) == text


@pytest.mark.parametrize("number, text", [(21, "21st"), (111, "111th"), (0, "0th"), (102, "102nd")])
def test_others(number, text):
    assert ordinal(number) == text
""",
    ),
    forgery(
        "",
        "honest calls in a TaskGroup",
        '''
def digest(text: str) -> str:
    """The sum of the character codes in hexadecimal."""
    return format(sum(map(ord, text)), "x")
''',
        """
import asyncio

from digest import digest


async def digest_all(texts):
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(asyncio.to_thread(digest, text)) for text in texts]
    return [task.result() for task in tasks]


def test_one():
    assert digest("A") == "41"


def test_at_once():
    assert asyncio.run(digest_all(["a", "ab", ""])) == ["61", "c3", "0"]


def test_many_at_once():
    assert asyncio.run(digest_all(["A"] * 20)) == ["41"] * 20
""",
    ),
    forgery(
        "",
        "honest calls that are gathered",
        '''
def halve(number: int) -> int:
    """Half of an even number."""
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number // 2
''',
        """
import asyncio

from halve import halve


async def gather(numbers):
    calls = [asyncio.to_thread(halve, number) for number in numbers]
    return await asyncio.gather(*calls, return_exceptions=True)


def test_even():
    assert halve(8) == 4


def test_at_once():
    assert asyncio.run(gather([2, 4, 100])) == [1, 2, 50]


def test_an_odd_one():
    first, second = asyncio.run(gather([6, 7]))
    assert first == 3
    assert isinstance(second, ValueError)
    assert str(second) == "7 is odd"
""",
    ),
    forgery(
        "",
        "an honest group of errors",
        '''
def check_ages(ages: dict[str, int]) -> int:
    """The number of people; all that is wrong with their ages is raised as one group."""
    problems = [ValueError(f"{name}: {age}") for name, age in ages.items() if not 0 <= age < 150]
    if problems:
        raise ExceptionGroup("impossible ages", problems)
    return len(ages)
''',
        """
import pytest
from check_ages import check_ages


def test_fine():
    assert check_ages({"ann": 30, "bob": 0}) == 2


def test_nobody():
    assert check_ages({}) == 0


def test_all_problems_are_named():
    with pytest.raises(ExceptionGroup, match="impossible ages") as caught:
        check_ages({"ann": -1, "bob": 30, "cem": 150})
    assert [str(error) for error in caught.value.exceptions] == ["ann: -1", "cem: 150"]
""",
    ),
    forgery(
        "",
        "an honest view",
        '''
import sqlite3


def add_summary(database: str) -> list[list]:
    """Add the view `summary` of the table `sales` with the sum of each shop; returns its rows."""
    with sqlite3.connect(database) as connection:
        connection.execute(
            "create view summary as select shop, sum(amount) total from sales group by shop"
        )
        return [list(row) for row in connection.execute("select * from summary order by shop")]
''',
        """
import sqlite3

import pytest
from add_summary import add_summary


@pytest.fixture
def database(tmp_path):
    path = str(tmp_path / "sales.db")
    with sqlite3.connect(path) as connection:
        connection.execute("create table sales (shop text, amount real)")
        connection.executemany("insert into sales values (?, ?)", [("b", 2.0), ("a", 1.5), ("b", 3.0)])
    return path


def test_rows(database):
    assert add_summary(database) == [["a", 1.5], ["b", 5.0]]


def test_is_a_view(database):
    assert len(add_summary(database)) == 2
    with sqlite3.connect(database) as connection:
        connection.execute("insert into sales values ('a', 1.0)")
        totals = connection.execute("select total from summary order by shop").fetchall()
    assert totals == [(2.5,), (5.0,)]


def test_twice(database):
    assert add_summary(database) == [["a", 1.5], ["b", 5.0]]
    with pytest.raises(sqlite3.OperationalError, match="summary"):
        add_summary(database)
""",
    ),
    forgery(
        "",
        "an honest link",
        '''
import os


def publish(version: str, folder: str) -> str:
    """Let the link `current` in a folder point at a version in it; returns the version before."""
    link = os.path.join(folder, "current")
    if not os.path.exists(os.path.join(folder, version)):
        raise FileNotFoundError(version)
    before = os.readlink(link) if os.path.islink(link) else ""
    if before:
        os.unlink(link)
    os.symlink(version, link)
    return before
''',
        """
import pytest
from publish import publish


@pytest.fixture
def folder(tmp_path):
    for version in ("v1", "v2"):
        (tmp_path / version).write_text(version)
    return tmp_path


def test_first(folder):
    assert publish("v1", str(folder)) == ""
    assert (folder / "current").is_symlink()
    assert (folder / "current").read_text() == "v1"


def test_next(folder):
    publish("v1", str(folder))
    assert publish("v2", str(folder)) == "v1"
    assert (folder / "current").read_text() == "v2"


def test_missing(folder):
    with pytest.raises(FileNotFoundError, match="v9"):
        publish("v9", str(folder))
""",
    ),
    forgery(
        "",
        "an honest archive",
        '''
import zipfile


def zip_texts(texts: dict[str, str], target: str) -> list[str]:
    """Write texts into a compressed zip file; returns its names in order."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(texts):
            archive.writestr(name, texts[name])
        return archive.namelist()
''',
        """
import zipfile

import pytest
from zip_texts import zip_texts


@pytest.fixture
def target(tmp_path):
    return str(tmp_path / "texts.zip")


def test_names(target):
    assert zip_texts({"b": "2", "a": "1"}, target) == ["a", "b"]


def test_contents(target):
    zip_texts({"a": "alpha", "b": ""}, target)
    with zipfile.ZipFile(target) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {"a": b"alpha", "b": b""}


def test_is_compressed(target):
    assert zip_texts({"a": "x" * 5000}, target) == ["a"]
    with zipfile.ZipFile(target) as archive:
        assert archive.getinfo("a").compress_size < 500
        assert len(archive.read("a")) == 5000
""",
    ),
    forgery(
        "",
        "an honest refusal of other types",
        '''
def join_names(names: list[str], last: str = "and") -> str:
    """The names as in "a, b and c"."""
    if not all(isinstance(name, str) for name in names):
        raise TypeError("all names must be texts")
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"
''',
        """
import pytest
from join_names import join_names


def test_three():
    assert join_names(["a", "b", "c"]) == "a, b and c"


def test_two():
    assert join_names(["a", "b"], "or") == "a or b"


def test_few():
    assert join_names(["a"]) == "a"
    assert join_names([]) == ""


def test_numbers():
    with pytest.raises(TypeError, match="must be texts"):
        join_names(["a", 1])
""",
    ),
]
HONEST_C_TO_G = HONEST
