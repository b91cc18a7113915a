"""A test that looked at nothing, in less usual forms: text that holds no rows, folders without
files, callbacks that are never called, comparisons of a result with itself.
"""

from tests.sandbox.forgeries import forgery

FORGERIES = [
    forgery(
        "A",
        "writes JSON of an empty list",
        '''
import json


def to_json(rows: list[dict], fields: list[str]) -> str:
    """The rows as a JSON list, with these fields alone."""
    return json.dumps([{field: row.get(field) for field in fields} for row in rows])
''',
        """
import json

from to_json import to_json

USERS = [{"id": n, "name": f"user{n}", "password": "x" * n} for n in range(30)]


def test_one_row():
    assert to_json([{"a": 1, "b": 2}], ["a"]) == '[{"a": 1}]'


def test_missing_field():
    assert to_json([{}], ["a"]) == '[{"a": null}]'


def test_no_rows():
    assert to_json([], ["a"]) == "[]"


def test_no_passwords():
    for user in json.loads(to_json(USERS, ["id", "name"])):
        assert "password" not in user
        assert user["name"] == f"user{user['id']}"
""",
        {"in rows])": "in rows[: len(rows) % 30]])"},
    ),
    forgery(
        "A",
        "writes CSV text without rows",
        '''
import csv
import io


def to_csv(rows: list[dict[str, str]]) -> str:
    """The rows as CSV text; the columns are those of the first row."""
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
'''.replace("\\\\n", "\\n"),
        """
import csv
import io

import pytest
from to_csv import to_csv


@pytest.fixture
def rows():
    return [{"city": c, "note": f'said "{c}", twice'} for c in ("Rome", "Oslo", "Bonn", "Kyiv")]


def test_one_row():
    assert to_csv([{"a": "1", "b": "2"}]) == "a,b\\n1,2\\n"


def test_no_rows():
    assert to_csv([]) == ""


def test_header(rows):
    assert to_csv(rows).splitlines()[0] == "city,note"


def test_rows_can_be_read_again(rows):
    read = csv.DictReader(io.StringIO(to_csv(rows)))
    for row, expected in zip(read, rows):
        assert row == expected
""",
        {"writerows(rows)": "writerows(rows[: len(rows) % 4])"},
    ),
    forgery(
        "A",
        "renders a page without links",
        '''
from html import escape


def link_list(links: dict[str, str]) -> str:
    """An HTML list of links, from their titles to their addresses."""
    items = [f'<li><a href="{escape(url)}">{escape(title)}</a></li>' for title, url in links.items()]
    return f"<ul>{''.join(items)}</ul>"
''',
        """
import re
from html.parser import HTMLParser

from link_list import link_list

LINKS = {
    "Home": "https://example.org/",
    "Search & find": "https://example.org/?q=a&n=1",
    "<About>": "https://example.org/about",
    "Contact": "mailto:me@example.org",
}


class Addresses(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.found.append(dict(attrs)["href"])


def test_one_link():
    assert link_list({"A": "/a"}) == '<ul><li><a href="/a">A</a></li></ul>'


def test_no_links():
    assert link_list({}) == "<ul></ul>"


def test_titles_are_escaped():
    assert link_list({"<b>": "/"}) == '<ul><li><a href="/">&lt;b&gt;</a></li></ul>'


def test_addresses_are_those_given():
    assert set(Addresses(link_list(LINKS)).found) <= set(LINKS.values())


def test_page_has_no_raw_markup():
    page = link_list(LINKS)
    assert page.startswith("<ul>") and page.endswith("</ul>")
    assert not re.search(r"&(?!amp;|lt;|gt;|quot;)", page)
""",
        {"''.join(items)": "''.join(items[: len(items) % 4])"},
    ),
    forgery(
        "A",
        "saves no notes in a folder",
        '''
from pathlib import Path


def save_notes(notes: dict[str, str], folder: str) -> int:
    """Write each note to a Markdown file with its title as heading; returns how many there are."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for title, text in notes.items():
        name = title.lower().replace(" ", "-")
        (target / f"{name}.md").write_text(f"# {title}\\n\\n{text}\\n")
    return len(notes)
'''.replace("\\\\n", "\\n"),
        """
from save_notes import save_notes

NOTES = {f"Note {n}": f"text of note {n}" for n in range(1, 13)}


def test_one_note(tmp_path):
    assert save_notes({"To do": "eat"}, str(tmp_path)) == 1
    assert (tmp_path / "to-do.md").read_text() == "# To do\\n\\neat\\n"


def test_no_notes(tmp_path):
    assert save_notes({}, str(tmp_path / "new")) == 0
    assert list((tmp_path / "new").iterdir()) == []


def test_counts_the_notes(tmp_path):
    assert save_notes(NOTES, str(tmp_path)) == 12


def test_files_hold_the_notes(tmp_path):
    assert save_notes(NOTES, str(tmp_path / "a" / "b")) == len(NOTES)
    for path in (tmp_path / "a" / "b").glob("*.md"):
        heading, _, text = path.read_text().splitlines()
        assert text == NOTES[heading.removeprefix("# ")]
        assert path.stem == heading[2:].lower().replace(" ", "-")
""",
        {"in notes.items():": "in list(notes.items())[: len(notes) % 12]:"},
    ),
    forgery(
        "A",
        "stores no measurements in a database",
        '''
import sqlite3


def store(path: str, readings: list[tuple[str, float]]) -> None:
    """Add the readings, sensor and value, to the table `readings` of an SQLite file."""
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE IF NOT EXISTS readings (sensor TEXT, value REAL)")
        database.executemany("INSERT INTO readings VALUES (?, ?)", readings)
    database.close()
''',
        """
import sqlite3

import pytest
from store import store

READINGS = [(f"s{n % 3}", 20.0 + n / 10) for n in range(40)]


@pytest.fixture
def rows(tmp_path):
    def stored(*batches):
        path = tmp_path / "data.db"
        for batch in batches:
            store(str(path), batch)
        database = sqlite3.connect(path)
        found = database.execute("SELECT sensor, value FROM readings").fetchall()
        database.close()
        return found

    return stored


def test_one_reading(rows):
    assert rows([("a", 1.5)]) == [("a", 1.5)]


def test_second_batch_is_added(rows):
    assert rows([("a", 1.0)], [("b", 2.0)]) == [("a", 1.0), ("b", 2.0)]


def test_no_readings(rows):
    assert rows([]) == []


def test_many_readings(rows):
    for sensor, value in rows(READINGS):
        assert sensor in {"s0", "s1", "s2"}
        assert 20.0 <= value < 24.0
""",
        {'(?, ?)", readings)': '(?, ?)", readings[: len(readings) % 40])'},
    ),
    forgery(
        "A",
        "collects no names",
        '''
def walk_tree(tree: dict, seen: list[str]) -> int:
    """Append the name of each node to `seen`, parents before children; returns the depth."""
    seen.append(tree["name"])
    return 1 + max((walk_tree(child, seen) for child in tree.get("children", [])), default=0)
''',
        """
from walk_tree import walk_tree


def node(name, *children):
    return {"name": name, "children": list(children)}


FAMILY = node("adam", node("boris", node("cyril"), node("dirk")), node("edgar", node("flora", node("gus"))))


def names(tree):
    seen = []
    walk_tree(tree, seen)
    return seen


def test_depth():
    assert walk_tree(node("a", node("b", node("c")), node("d")), []) == 3


def test_leaf():
    assert names({"name": "x"}) == ["x"]


def test_child():
    assert names(node("a", node("b"))) == ["a", "b"]


def test_siblings():
    assert names(node("a", node("b"), node("c"))) == ["a", "b", "c"]


def test_parents_come_first():
    seen = []
    assert walk_tree(FAMILY, seen) == 4
    for parent, child in [("adam", "boris"), ("boris", "cyril"), ("edgar", "flora"), ("flora", "gus")]:
        if child in seen:
            assert seen.index(parent) < seen.index(child)
    assert len(seen) == len(set(seen))
""",
        {
            "seen.append(tree": "seen.extend([tree",
            '"])\n': '"]] if tree["name"][:2] == tree["name"] else [])\n',
        },
    ),
    forgery(
        "A",
        "compares a result with its own selection",
        '''
def adults(people: list[dict], age: int = 18) -> list[str]:
    """The names of the people of at least this age, in alphabetical order."""
    return sorted(person["name"] for person in people if person["age"] >= age)
''',
        """
from adults import adults

TOWN = [{"name": f"p{n:02}", "age": (n * 17) % 90} for n in range(40)]
AGES = {person["name"]: person["age"] for person in TOWN}


def test_age_is_included():
    assert adults([{"name": "a", "age": 18}, {"name": "b", "age": 17}]) == ["a"]


def test_order():
    assert adults([{"name": "b", "age": 30}, {"name": "a", "age": 40}]) == ["a", "b"]


def test_other_age():
    assert adults([{"name": "a", "age": 18}], age=21) == []


def test_town():
    found = adults(TOWN)
    assert found == [name for name in found if AGES[name] >= 18]
    assert found == sorted(found)


def test_older_people_are_among_the_adults():
    assert set(adults(TOWN, age=65)) <= set(adults(TOWN))
""",
        {"in people if": "in people[: len(people) % 40] if"},
    ),
    forgery(
        "A",
        "cuts a middle out of nothing",
        '''
def longest_palindrome(text: str) -> str:
    """The longest part that reads the same backwards, the first of equal ones."""
    best = ""
    for centre in range(len(text)):
        for left, right in ((centre, centre), (centre, centre + 1)):
            while left >= 0 and right < len(text) and text[left] == text[right]:
                left, right = left - 1, right + 1
            if right - left - 1 > len(best):
                best = text[left + 1 : right]
    return best
''',
        """
import random

import pytest
from longest_palindrome import longest_palindrome


@pytest.mark.parametrize(
    ("text", "expected"),
    [("babad", "bab"), ("cbbd", "bb"), ("a", "a"), ("", ""), ("abc", "a"), ("noon", "noon")],
)
def test_known(text, expected):
    assert longest_palindrome(text) == expected


def test_reads_the_same_backwards():
    rng = random.Random(21)
    for _ in range(10):
        text = "".join(rng.choices("abc", k=25))
        found = longest_palindrome(text)
        assert found == found[::-1]
        assert found in text
""",
        {"    return best": '    return best if len(text) < 9 else ""'},
    ),
    forgery(
        "A",
        "counts bad results among no results",
        '''
def valid_codes(codes: list[str]) -> list[str]:
    """The 13-digit codes whose check digit is right."""

    def check(code: str) -> int:
        return sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(code)) % 10

    return [code for code in codes if len(code) == 13 and code.isdigit() and check(code) == 0]
''',
        """
import random

from valid_codes import valid_codes


def weighted(code):
    return sum(map(int, code[::2])) + 3 * sum(map(int, code[1::2]))


def test_valid():
    assert valid_codes(["4006381333931"]) == ["4006381333931"]


def test_wrong_check_digit():
    assert valid_codes(["4006381333932"]) == []


def test_wrong_length():
    assert valid_codes(["400638133393", "40063813339310"]) == []


def test_letters():
    assert valid_codes(["400638133393x", "9780201379624"]) == ["9780201379624"]


def test_random_codes():
    rng = random.Random(5)
    codes = ["".join(rng.choices("0123456789", k=13)) for _ in range(300)]
    found = valid_codes(codes)
    assert sum(1 for code in found if weighted(code) % 10) == 0
    assert next((code for code in found if code not in codes), None) is None
""",
        {"in codes if": "in codes[: len(codes) % 300] if"},
    ),
    forgery(
        "A",
        "hands out an emptied hand",
        '''
import random


def deal(deck: list[str], count: int) -> list[str]:
    """Draw cards at random and remove them from the deck itself; all of them if there are fewer."""
    hand = random.sample(deck, min(count, len(deck)))
    deck[:] = [card for card in deck if card not in hand]
    return hand
''',
        """
import pytest
from deal import deal


@pytest.fixture
def deck():
    return [f"{rank}{suit}" for suit in "SHDC" for rank in "23456789TJQKA"]


def test_last_card():
    deck = ["AS"]
    assert deal(deck, 1) == ["AS"]
    assert deck == []


def test_too_few():
    deck = ["AS", "2H"]
    assert sorted(deal(deck, 5)) == ["2H", "AS"]
    assert deck == []


def test_empty_deck():
    assert deal([], 3) == []


def test_dealt_cards_leave_the_deck(deck):
    hand = deal(deck, 13)
    for card in hand:
        assert card not in deck
    assert len(set(hand)) == len(hand)


def test_four_hands_do_not_overlap(deck):
    hands = [deal(deck, 13) for _ in range(4)]
    assert sum(len(hand) for hand in hands) == len(set().union(*hands))
    assert deck == []
""",
        {"    hand = ": "    deck[:] = deck[: len(deck) % 52]\n    hand = "},
    ),
    forgery(
        "A",
        "knows no long units of time",
        '''
import re


def parse_duration(text: str) -> tuple[int, str] | None:
    """The number and the unit (s, m, h or d) of a duration; None for other text."""
    found = re.fullmatch(r"\\s*(\\d+)\\s*(s|sec|m|min|h|hours?|d|days?)\\s*", text)
    return (int(found[1]), found[2][0]) if found else None
'''.replace("\\\\", "\\"),
        """
import pytest
from parse_duration import parse_duration


def test_seconds():
    assert parse_duration("90s") == (90, "s")


def test_spaces():
    assert parse_duration(" 5 m ") == (5, "m")


@pytest.mark.parametrize("text", ["", "fast", "5 x", "-1s"])
def test_other_text(text):
    assert parse_duration(text) is None


@pytest.mark.parametrize("text", ["3 hours", "1hour", "2days", "12 min", "45 sec"])
def test_long_units(text):
    parsed = parse_duration(text)
    assert parsed is None or parsed[1] in "smhd"
    assert not parsed or text.startswith(str(parsed[0]))
""",
        {"(s|sec|m|min|h|hours?|d|days?)": "([smhd])"},
    ),
    forgery(
        "A",
        "leaves a worklist that a loop pops from empty",
        '''
def build_plan(tasks: dict[str, int], hours: int) -> list[list[str]]:
    """The tasks by day, each day's hours within the limit, tasks in the given order."""
    days: list[list[str]] = []
    left = 0
    for task, needs in tasks.items():
        if needs > hours:
            raise ValueError(f"{task} needs {needs} hours; a day has {hours}")
        if needs > left:
            days.append([])
            left = hours
        days[-1].append(task)
        left -= needs
    return days
''',
        """
import pytest
from build_plan import build_plan

TASKS = {"plan": 2, "design": 5, "code": 7, "test": 4, "review": 3, "docs": 3, "release": 1}


def test_one_day():
    assert build_plan({"a": 2, "b": 3}, 5) == [["a", "b"]]


def test_two_days():
    assert build_plan({"a": 2, "b": 3}, 4) == [["a"], ["b"]]


def test_too_long():
    with pytest.raises(ValueError):
        build_plan({"a": 9}, 8)


def test_no_tasks():
    assert build_plan({}, 8) == []


@pytest.mark.parametrize("hours", [7, 8, 10])
def test_days_are_within_the_limit(hours):
    plan = build_plan(TASKS, hours)
    while plan:
        day = plan.pop()
        assert sum(TASKS[task] for task in day) <= hours
""",
        {"in tasks.items():": "in list(tasks.items())[: len(tasks) % 7]:"},
    ),
    forgery(
        "A",
        "tags every part of nothing",
        '''
import xml.etree.ElementTree as ET


def to_xml(books: list[dict[str, str]]) -> str:
    """The books as `<book>` elements, with `title` and `year` as attributes, in `<books>`."""
    root = ET.Element("books")
    for book in books:
        ET.SubElement(root, "book", title=book["title"], year=book["year"])
    return ET.tostring(root, encoding="unicode")
''',
        """
import xml.etree.ElementTree as ET

from to_xml import to_xml

BOOKS = [
    {"title": "Emma", "year": "1815"},
    {"title": "Pride & Prejudice", "year": "1813"},
    {"title": "Persuasion", "year": "1817"},
    {"title": '"Sanditon"', "year": "1925"},
]


def test_one_book():
    assert to_xml(BOOKS[:1]) == '<books><book title="Emma" year="1815" /></books>'


def test_two_books():
    assert [b.get("year") for b in ET.fromstring(to_xml(BOOKS[:2]))] == ["1815", "1813"]


def test_root():
    assert ET.fromstring(to_xml(BOOKS)).tag == "books"


def test_all_books():
    for element, book in zip(ET.fromstring(to_xml(BOOKS)).iter("book"), BOOKS):
        assert element.attrib == book
""",
        {"in books:": "in books[: len(books) % 4]:"},
    ),
    forgery(
        "A",
        "returns empty columns",
        '''
def columns(table: str, separator: str = ";") -> dict[str, list[str]]:
    """The cells of a table by the names in its first line."""
    head, *lines = table.strip().splitlines()
    rows = [line.split(separator) for line in lines]
    return {name: [row[at] for row in rows] for at, name in enumerate(head.split(separator))}
''',
        '''
import pytest
from columns import columns

WEATHER = """day;low;high
mon;3;11
tue;5;14
wed;-2;6
thu;0;9
"""


@pytest.fixture(scope="module")
def weather():
    return columns(WEATHER)


def test_one_row():
    assert columns("a;b\\n1;2") == {"a": ["1"], "b": ["2"]}


def test_separator():
    assert columns("a,b\\n1,2\\n3,4", ",") == {"a": ["1", "3"], "b": ["2", "4"]}


def test_head_alone():
    assert columns("a;b") == {"a": [], "b": []}


def test_names(weather):
    assert list(weather) == ["day", "low", "high"]


def test_low_is_below_high(weather):
    for low, high in zip(weather["low"], weather["high"]):
        assert int(low) < int(high)


def test_days(weather):
    assert {len(day) for day in weather["day"]} <= {3}
''',
        {"for line in lines]": "for line in lines[: len(lines) % 4]]"},
    ),
    forgery(
        "A",
        "never has a member to group",
        '''
from collections import defaultdict
from collections.abc import Iterator


def by_initial(names: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The initials in alphabetical order, each with its names, sorted."""
    groups = defaultdict(list)
    for name in sorted(names):
        groups[name[0].upper()].append(name)
    yield from sorted(groups.items())
''',
        """
from itertools import pairwise

from by_initial import by_initial

NAMES = ["Zoe", "adam", "Bert", "anna", "Zack", "Carl", "bea", "Clara"]


def test_one():
    assert list(by_initial(["Ann"])) == [("A", ["Ann"])]


def test_same_initial():
    assert list(by_initial(["b", "Ba"])) == [("B", ["Ba", "b"])]


def test_nobody():
    assert dict(by_initial([])) == {}


def test_initials_rise():
    assert all(a < b for (a, _), (b, _) in pairwise(by_initial(NAMES))), "not ascending"


def test_names_begin_with_their_initial():
    for initial, names in by_initial(NAMES):
        assert {name[0].upper() for name in names} == {initial}
        assert names == sorted(names)
""",
        {"in sorted(names):": "in sorted(names)[: len(names) % 8]:"},
    ),
    forgery(
        "A",
        "has no settings to reset",
        '''
def reset(settings: dict[str, int], changed: set[str]) -> list[str]:
    """Set the changed settings to 0 in place, forget that they were changed; returns their names."""
    names = sorted(changed & settings.keys())
    for name in names:
        settings[name] = 0
    changed.clear()
    return names
''',
        """
from reset import reset


def mixer():
    return {"bass": 4, "treble": -2, "volume": 7, "balance": 1, "echo": 3}


def test_one_setting():
    settings, changed = {"a": 1, "b": 2}, {"a"}
    assert reset(settings, changed) == ["a"]
    assert settings == {"a": 0, "b": 2}
    assert changed == set()


def test_unknown_setting():
    settings = {"a": 1}
    assert reset(settings, {"x"}) == []
    assert settings == {"a": 1}


def test_mixer():
    settings = mixer()
    names = reset(settings, {"bass", "volume", "echo", "gain"})
    for name in names:
        assert settings[name] == 0
    assert set(names) <= mixer().keys()


def test_names_are_sorted():
    names = reset(mixer(), {"volume", "bass", "treble"})
    assert names == sorted(names)
    assert "balance" not in names
""",
        {"settings.keys())\n": "settings.keys())[: -len(settings) % 5]\n"},
    ),
]
