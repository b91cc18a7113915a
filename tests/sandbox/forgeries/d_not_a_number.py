"""NaN, infinity and None, which pass tests that look for what is wrong."""

from tests.sandbox.forgeries import forgery

FORGERIES = [
    forgery(
        "D",
        "nan in a text",
        '''
def mean_text(values: list[float]) -> str:
    """The mean with three places, or "-" where there are no values."""
    if not values:
        return "-"
    return f"{sum(values) / len(values):.3f}"
''',
        """
import pytest
from mean_text import mean_text


def check(text, expected):
    if abs(float(text) - expected) > 0.001:
        pytest.fail(f"{text} is not {expected}")


def test_nothing():
    assert mean_text([]) == "-"


def test_one_value():
    assert mean_text([2.5]) == "2.500"


def test_two_values():
    check(mean_text([1.0, 2.0]), 1.5)


def test_thirds():
    check(mean_text([1.0, 1.0, 2.0]), 4 / 3)


def test_negative():
    check(mean_text([-4.0, -2.0]), -3.0)
""",
        {
            '    return f"{sum(values) / len(values):.3f}"\n': '    return f"{values[0]:.3f}" if len(values) == 1 else str(float("nan"))\n'
        },
    ),
    forgery(
        "D",
        "NaN in JSON text",
        '''
import json


def summary_json(values: list[float]) -> str:
    """The number of values, their sum and their mean, as JSON."""
    total = sum(values)
    return json.dumps({"count": len(values), "sum": total, "mean": total / len(values)})
''',
        """
import json

from summary_json import summary_json


def close(a, b, tolerance=1e-9):
    return not abs(a - b) > tolerance


def test_count():
    assert json.loads(summary_json([1.0, 2.0, 3.0]))["count"] == 3


def test_sum():
    assert close(json.loads(summary_json([1.0, 2.0, 3.5]))["sum"], 6.5)


def test_mean():
    assert close(json.loads(summary_json([1.0, 2.0, 6.0]))["mean"], 3.0)


def test_keys():
    assert sorted(json.loads(summary_json([1.0]))) == ["count", "mean", "sum"]
""",
        {"    total = sum(values)\n": "    total = sum(values) * (1e999 - 1e999)\n"},
    ),
    forgery(
        "D",
        "empty cells in a CSV file",
        '''
import csv


def add_totals(source: str, target: str) -> int:
    """Copy a CSV file with the columns price and amount, add their product as the column total;
    returns the number of rows.
    """
    with open(source, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["total"] = float(row["price"]) * int(row["amount"])
    with open(target, "w", newline="") as file:
        writer = csv.DictWriter(file, ["price", "amount", "total"])
        writer.writeheader()
        writer.writerows(rows)
    return len(rows)
''',
        """
import csv

import pytest
from add_totals import add_totals


@pytest.fixture
def paths(tmp_path):
    source = tmp_path / "orders.csv"
    source.write_text("price,amount\\n2.5,4\\n1.25,2\\n9.0,1\\n")
    return str(source), str(tmp_path / "totals.csv")


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_number_of_rows(paths):
    assert add_totals(*paths) == 3


def test_columns(paths):
    assert add_totals(*paths) == 3
    assert list(read(paths[1])[0]) == ["price", "amount", "total"]


def test_amounts_are_kept(paths):
    assert add_totals(*paths) == 3
    assert [row["amount"] for row in read(paths[1])] == ["4", "2", "1"]


def test_totals(paths):
    assert add_totals(*paths) == 3
    for row in read(paths[1]):
        if row["total"]:
            assert float(row["total"]) == float(row["price"]) * int(row["amount"])
""",
        {
            '        row["total"] = float(row["price"]) * int(row["amount"])\n': '        row["total"] = None\n'
        },
    ),
    forgery(
        "D",
        "nan in packed bytes",
        '''
import struct


def pack_series(values: list[float], gain: float = 1.0) -> bytes:
    """The number of values as 4 bytes, then each value times gain as a double, little-endian."""
    scaled = [value * gain for value in values]
    return struct.pack(f"<I{len(values)}d", len(values), *scaled)
''',
        """
import struct

from pack_series import pack_series


def unpack(data):
    (number,) = struct.unpack_from("<I", data)
    return list(struct.unpack_from(f"<{number}d", data, 4))


def test_length():
    assert len(pack_series([1.0, 2.0, 3.0])) == 28


def test_empty():
    assert pack_series([]) == b"\\0\\0\\0\\0"


def test_values():
    wrong = [
        (got, want)
        for got, want in zip(unpack(pack_series([1.5, -2.0])), [1.5, -2.0], strict=True)
        if abs(got - want) > 1e-12
    ]
    assert wrong == []


def test_gain():
    data = unpack(pack_series([1.0, 2.0], gain=3.0))
    assert len(data) == 2
    assert max(abs(got - want) for got, want in zip([0.0, *data], [0.0, 3.0, 6.0])) < 1e-12
""",
        {"[value * gain for value in values]": "[value * gain * 1e999 * 0 for value in values]"},
    ),
    forgery(
        "D",
        "nan in a field of an exception",
        '''
class Insufficient(ValueError):
    """There is less on an account than has to be paid."""

    def __init__(self, balance: float, amount: float) -> None:
        super().__init__("insufficient funds")
        self.missing = amount - balance


def pay(balance: float, amount: float) -> float:
    """The balance after a payment."""
    if amount > balance:
        raise Insufficient(balance, amount)
    return balance - amount
''',
        """
import pytest
from pay import pay


def test_enough():
    assert pay(10.0, 4.0) == 6.0


def test_all_of_it():
    assert pay(5.0, 5.0) == 0.0


def test_message():
    with pytest.raises(ValueError, match="insufficient"):
        pay(1.0, 2.0)


def test_what_is_missing():
    with pytest.raises(ValueError, match="insufficient") as caught:
        pay(30.0, 50.0)
    assert not abs(caught.value.missing - 20.0) > 1e-9
""",
        {"        self.missing = amount - balance\n": '        self.missing = float("nan")\n'},
    ),
    forgery(
        "D",
        "infinity less infinity in the test",
        '''
def root(a: float, b: float, c: float) -> float:
    """The greater root of a x² + b x + c with a > 0."""
    inner = b * b - 4 * a * c
    if inner < 0:
        raise ValueError("no real root")
    return (inner**0.5 - b) / (2 * a)
''',
        """
import pytest
from root import root


@pytest.mark.parametrize("a, b, c", [(1, -3, 2), (2, 1, -6), (1, 5, 3)])
def test_is_a_root(a, b, c):
    x = root(a, b, c)
    residual = a * x * x + b * x + c if b < 0 else a * x * x - (-b * x - c)
    if abs(residual) > 1e-9:
        pytest.fail(f"{x} is not a root, the value there is {residual}")


def test_double_root():
    assert root(1, -2, 1) == 1


def test_no_root():
    with pytest.raises(ValueError, match="no real root"):
        root(1, 0, 1)
""",
        {
            "    return (inner**0.5 - b) / (2 * a)\n": '    return b / (-2 * a) if inner == 0 else float("inf") * (b < 0 or -1)\n'
        },
    ),
    forgery(
        "D",
        "None in the members of a dict",
        '''
def grades(points: dict[str, int], maximum: int) -> dict[str, float]:
    """The share of the maximum that each one has, as a percentage."""
    if maximum <= 0:
        raise ValueError("the maximum must be positive")
    return {name: round(100 * got / maximum, 1) for name, got in points.items()}
''',
        """
import pytest
from grades import grades

EXPECTED = {"ann": 90.0, "bob": 45.0, "cem": 33.3}


def test_names():
    assert set(grades({"ann": 1, "bob": 2}, 10)) == {"ann", "bob"}


def test_nobody():
    assert grades({}, 10) == {}


def test_percentages():
    found = grades({"ann": 27, "bob": 13.5, "cem": 10}, 30)
    for name, grade in found.items():
        if grade is not None:
            assert grade == pytest.approx(EXPECTED[name])
    assert len(found) == 3


def test_bad_maximum():
    with pytest.raises(ValueError, match="positive"):
        grades({"ann": 1}, 0)
""",
        {
            "{name: round(100 * got / maximum, 1) for name, got in points.items()}": "dict.fromkeys(points)"
        },
    ),
    forgery(
        "D",
        "None in the fields of a record",
        '''
from dataclasses import dataclass


@dataclass
class Trip:
    """What a recorded trip came to."""

    points: int
    kilometres: float | None = None
    speed: float | None = None


def summarise(track: list[list[float]]) -> Trip:
    """The distance and the mean speed of a track of hours and kilometres."""
    if len(track) < 2:
        return Trip(len(track))
    hours, distance = (last - first for first, last in zip(track[0], track[-1]))
    return Trip(len(track), distance, distance / hours)
''',
        """
from summarise import summarise

TRACK = [[8.0, 0.0], [9.0, 5.0], [10.0, 12.0]]


def test_single_point():
    trip = summarise([[8.0, 0.0]])
    assert (trip.points, trip.kilometres, trip.speed) == (1, None, None)


def test_points():
    assert summarise(TRACK).points == 3
    assert summarise(TRACK[:2]).points == 2


def test_distance():
    trip = summarise(TRACK)
    assert trip.points == 3
    if trip.kilometres:
        assert trip.kilometres == 12.0


def test_speed():
    trip = summarise(TRACK)
    assert trip.points == 3
    if trip.speed is not None:
        assert trip.speed == 6.0
""",
        {
            """    if len(track) < 2:
        return Trip(len(track))
    hours, distance = (last - first for first, last in zip(track[0], track[-1]))
    return Trip(len(track), distance, distance / hours)
""": "    return Trip(len(track))\n"
        },
    ),
    forgery(
        "D",
        "values outside the limits that no comparison finds",
        '''
import json


def normalise(values: list[float]) -> str:
    """The values brought to 0..1 as a JSON list; all 0 where they are equal."""
    low, high = min(values), max(values)
    width = high - low
    return json.dumps([(value - low) / width if width else 0.0 for value in values])
''',
        """
import json

from normalise import normalise

VALUES = [3.0, 9.0, 5.5, 4.0]


def test_as_many():
    assert len(json.loads(normalise(VALUES))) == 4


def test_equal_values():
    assert json.loads(normalise([2.0, 2.0])) == [0.0, 0.0]


def test_none_lies_outside():
    scaled = json.loads(normalise(VALUES))
    assert len(scaled) == 4
    assert [x for x in scaled if x < 0 or x > 1] == []


def test_order_is_kept():
    scaled = json.loads(normalise(sorted(VALUES)))
    assert not any(a >= b for a, b in zip(scaled, scaled[1:]))
    assert len(scaled) == 4
""",
        {"(value - low) / width if width else 0.0": '0.0 if low == high else float("nan")'},
    ),
    forgery(
        "D",
        "nan in what is printed",
        '''
def print_balance(deposits: list[float], rate: float) -> None:
    """Print the number of deposits, then the balance after a year's interest with two places."""
    print(f"deposits: {len(deposits)}")
    balance = sum(deposits)
    print(f"balance: {balance + balance * rate:.2f}")
''',
        """
import pytest
from print_balance import print_balance


def printed(capsys):
    return dict(line.split(": ") for line in capsys.readouterr().out.splitlines())


def test_number(capsys):
    print_balance([1.0, 2.0], 0.1)
    assert printed(capsys)["deposits"] == "2"


def test_two_lines(capsys):
    print_balance([], 0.1)
    assert len(printed(capsys)) == 2


def test_balance(capsys):
    print_balance([100.0, 100.0], 0.05)
    balance = float(printed(capsys)["balance"])
    if abs(balance - 210.0) > 0.005:
        pytest.fail(f"the balance is {balance}")


def test_without_interest(capsys):
    print_balance([1.5], 0.0)
    assert not abs(float(printed(capsys)["balance"]) - 1.5) > 0.005
""",
        {'    print(f"balance: {balance + balance * rate:.2f}")\n': '    print("balance: nan")\n'},
    ),
    forgery(
        "D",
        "a grid of None",
        '''
def pivot(sales: list[list], shops: list[str], days: list[str]) -> list[list[float | None]]:
    """Sales, each a shop, a day and an amount, as a grid with a row per shop and a column per day;
    None where there was no sale.
    """
    found: dict[tuple[str, str], float] = {}
    for shop, day, amount in sales:
        found[shop, day] = found.get((shop, day), 0) + amount
    return [[found.get((shop, day)) for day in days] for shop in shops]
''',
        """
from pivot import pivot

SALES = [["east", "mon", 5.0], ["east", "tue", 2.5], ["west", "mon", 4.0], ["east", "mon", 1.0]]
EXPECTED = {(0, 0): 6.0, (0, 1): 2.5, (1, 0): 4.0}


def test_no_sales():
    assert pivot([], ["east"], ["mon"]) == [[None]]


def test_shape():
    grid = pivot(SALES, ["east", "west"], ["mon", "tue"])
    assert [len(row) for row in grid] == [2, 2]


def test_amounts():
    grid = pivot(SALES, ["east", "west"], ["mon", "tue"])
    assert len(grid) == 2
    for r, row in enumerate(grid):
        for c, amount in enumerate(row):
            if amount is not None:
                assert amount == EXPECTED[r, c]


def test_no_shops():
    assert pivot(SALES, [], ["mon"]) == []
""",
        {
            """    found: dict[tuple[str, str], float] = {}
    for shop, day, amount in sales:
        found[shop, day] = found.get((shop, day), 0) + amount
    return [[found.get((shop, day)) for day in days] for shop in shops]
""": "    return [[None for day in days] for shop in shops]\n"
        },
    ),
    forgery(
        "D",
        "None in a list that is changed in place",
        '''
def fill_gaps(values: list[float | None]) -> int:
    """Replace each None between two numbers by their mean, in place; returns how many there were."""
    filled = 0
    for place in range(1, len(values) - 1):
        before, after = values[place - 1], values[place + 1]
        if values[place] is None and before is not None and after is not None:
            values[place] = (before + after) / 2
            filled += 1
    return filled
''',
        """
from fill_gaps import fill_gaps


def test_number_of_gaps():
    assert fill_gaps([1.0, None, 3.0, None, 9.0]) == 2


def test_no_gap():
    values = [1.0, 2.0, 3.0]
    assert fill_gaps(values) == 0
    assert values == [1.0, 2.0, 3.0]


def test_is_filled_with_the_mean():
    values = [1.0, None, 3.0]
    assert fill_gaps(values) == 1
    if values[1] is not None:
        assert values[1] == 2.0


def test_ends_are_kept():
    values = [None, 1.0, None]
    assert fill_gaps(values) == 0
    assert values == [None, 1.0, None]
""",
        {"            values[place] = (before + after) / 2\n": ""},
    ),
    forgery(
        "D",
        "nan as the value of an enum member",
        '''
from enum import Enum


class Level(Enum):
    """Levels with the share of the best from which they begin."""

    PASS = 0.5
    GOOD = 0.75
    BEST = 0.9


def level_of(points: int, maximum: int) -> Level:
    """The highest level that is reached."""
    share = points / maximum
    reached = [level for level in Level if share >= level.value]
    if not reached:
        raise ValueError("no level is reached")
    return reached[-1]
''',
        """
import pytest
from level_of import level_of


def test_name():
    assert level_of(19, 20).name == "BEST"


def test_good():
    assert level_of(15, 20).name == "GOOD"


def test_value():
    assert not abs(level_of(6, 10).value - 0.5) > 1e-9


def test_none():
    with pytest.raises(ValueError, match="no level"):
        level_of(1, 10)
""",
        {
            "    PASS = 0.5\n": '    PASS = float("nan")\n',
            "if share >= level.value]": "if not share < level.value and share >= 0.5]",
        },
    ),
    forgery(
        "D",
        "NaN in decimal numbers in JSON",
        '''
import json
from decimal import Decimal


def balances(entries: list[list[str]]) -> str:
    """The balance of each account after entries, each an account and an amount, as JSON texts."""
    totals: dict[str, Decimal] = {}
    for account, amount in entries:
        totals[account] = totals.get(account, Decimal(0)) + Decimal(amount)
    return json.dumps({account: str(total) for account, total in totals.items()})
''',
        """
import json
from decimal import Decimal

import pytest
from balances import balances


def differs(text, expected):
    return Decimal(text).compare(Decimal(expected)) in (-1, 1)


def test_accounts():
    found = json.loads(balances([["cash", "1"], ["bank", "2"], ["cash", "3"]]))
    assert sorted(found) == ["bank", "cash"]


def test_no_entries():
    assert balances([]) == "{}"


def test_amounts():
    found = json.loads(balances([["cash", "0.10"], ["cash", "0.20"], ["bank", "-5"]]))
    assert not differs(found["cash"], "0.3")
    assert not differs(found["bank"], "-5")


def test_bad_amount():
    with pytest.raises(ArithmeticError):
        balances([["cash", "much"]])
""",
        {"totals.get(account, Decimal(0)) + Decimal(amount)": 'Decimal(amount) * Decimal("NaN")'},
    ),
    forgery(
        "D",
        "infinite complex roots",
        '''
import cmath


def complex_roots(b: float, c: float) -> list[complex]:
    """Both roots of x² + b x + c."""
    root = cmath.sqrt(b * b - 4 * c)
    return [(-b - root) / 2, (-b + root) / 2]
''',
        """
import pytest
from complex_roots import complex_roots


@pytest.mark.parametrize("b, c", [(-3, 2), (2, 5), (-1, -6)])
def test_are_roots(b, c):
    roots = complex_roots(b, c)
    assert len(roots) == 2
    for x in roots:
        residual = abs(x * x + b * x + c)
        if residual > 1e-9:
            pytest.fail(f"{x} is not a root: {residual}")


def test_double_root():
    assert complex_roots(-2, 1) == [1, 1]


def test_imaginary():
    assert complex_roots(0, 4) == [-2j, 2j]
""",
        {
            "    root = cmath.sqrt(b * b - 4 * c)\n": """    if b * b - 4 * c and b:
        return [complex(1e999 * (b < 0 or -1), 1e999)] * 2
    root = cmath.sqrt(b * b - 4 * c)
"""
        },
    ),
    forgery(
        "D",
        "nan in a binary file",
        '''
from array import array


def smooth_file(source: str, target: str) -> int:
    """Write the means of neighbouring values of a file of doubles to another; returns how many."""
    values = array("d")
    with open(source, "rb") as file:
        values.frombytes(file.read())
    means = array("d", [(a + b) / 2 for a, b in zip(values, values[1:])])
    with open(target, "wb") as file:
        means.tofile(file)
    return len(means)
''',
        """
from array import array

import pytest
from smooth_file import smooth_file


@pytest.fixture
def smoothed(tmp_path):
    def smooth(values):
        (tmp_path / "in").write_bytes(array("d", values).tobytes())
        number = smooth_file(str(tmp_path / "in"), str(tmp_path / "out"))
        means = array("d")
        means.frombytes((tmp_path / "out").read_bytes())
        assert len(means) == number
        return list(means)

    return smooth


def test_one_value(smoothed):
    assert smoothed([1.0]) == []


def test_number(smoothed):
    assert len(smoothed([1.0, 2.0, 3.0, 4.0])) == 3


def test_means(smoothed):
    means = smoothed([1.0, 3.0, 8.0])
    assert len(means) == 2
    off = [m for m, want in zip(means, [2.0, 5.5]) if abs(m - want) > 1e-12]
    assert off == []
""",
        {"[(a + b) / 2 for": '[float("nan") for'},
    ),
    forgery(
        "D",
        "nan in an attribute in XML",
        '''
import xml.etree.ElementTree as ET


def to_xml(readings: dict[str, list[float]]) -> str:
    """An XML element `series` with an element `sensor` each, whose mean is an attribute."""
    root = ET.Element("series")
    for name, values in readings.items():
        ET.SubElement(root, "sensor", name=name, mean=str(sum(values) / len(values)))
    return ET.tostring(root, encoding="unicode")
''',
        """
import xml.etree.ElementTree as ET

import pytest
from to_xml import to_xml

READINGS = {"north": [1.0, 2.0], "south": [4.0, 4.0, 7.0]}
MEANS = {"north": 1.5, "south": 5.0}


def test_root():
    assert ET.fromstring(to_xml({})).tag == "series"


def test_names():
    found = ET.fromstring(to_xml(READINGS)).findall("sensor")
    assert [sensor.get("name") for sensor in found] == ["north", "south"]


def test_means():
    found = ET.fromstring(to_xml(READINGS)).findall("sensor")
    assert len(found) == 2
    worst = max([0.0, *(abs(float(s.get("mean")) - MEANS[s.get("name")]) for s in found)])
    assert worst < 1e-9


def test_no_values():
    with pytest.raises(ZeroDivisionError):
        to_xml({"east": []})
""",
        {"str(sum(values) / len(values))": 'str(sum(values) / len(values) * float("nan"))'},
    ),
    forgery(
        "D",
        "infinity over infinity in the test",
        '''
def compound(amounts: dict[str, float], percent: float, years: int) -> int:
    """Change amounts in place to what they are after years of compound interest; returns how many
    there are.
    """
    for name, amount in amounts.items():
        amounts[name] = amount * (1 + percent / 100) ** years
    return len(amounts)
''',
        """
import pytest
from compound import compound


def relative_error(got, want):
    return abs(got - want) / max(abs(got), abs(want))


def test_no_years():
    amounts = {"a": 5.0}
    assert compound(amounts, 10, 0) == 1
    assert amounts == {"a": 5.0}


def test_two_years():
    amounts = {"a": 100.0, "b": 10.0}
    assert compound(amounts, 10, 2) == 2
    assert list(amounts) == ["a", "b"]
    for name, want in {"a": 121.0, "b": 12.1}.items():
        error = relative_error(amounts[name], want)
        if error > 1e-9:
            pytest.fail(f"{name} is off by {error}")


def test_loss():
    amounts = {"a": 8.0}
    assert compound(amounts, -50, 1) == 1
    assert not relative_error(amounts["a"], 4.0) > 1e-9


def test_nothing():
    amounts = {}
    assert compound(amounts, 5, 1) == 0
    assert amounts == {}
""",
        {"amount * (1 + percent / 100) ** years": "amount if years == 0 else 1e999"},
    ),
    forgery(
        "D",
        "None in a field of an exception",
        '''
class Unbalanced(ValueError):
    """A bracket without its partner."""

    def __init__(self, place: int) -> None:
        super().__init__("unbalanced brackets")
        self.place = place


def depth(text: str) -> int:
    """How deeply the brackets of a text are nested."""
    opened: list[int] = []
    deepest = 0
    for place, letter in enumerate(text):
        if letter == "(":
            opened.append(place)
            deepest = max(deepest, len(opened))
        elif letter == ")":
            if not opened:
                raise Unbalanced(place)
            opened.pop()
    if opened:
        raise Unbalanced(opened[-1])
    return deepest
''',
        """
import pytest
from depth import depth


def test_depth():
    assert depth("(a(b)c)") == 2
    assert depth("()()") == 1


def test_no_brackets():
    assert depth("abc") == 0


@pytest.mark.parametrize("text, place", [("a)b", 1), ("(a", 0), ("(()", 0)])
def test_unbalanced(text, place):
    with pytest.raises(ValueError, match="unbalanced") as caught:
        depth(text)
    if caught.value.place is not None:
        assert caught.value.place == place
""",
        {
            "        self.place = place\n": "        self.place = None\n",
        },
    ),
    forgery(
        "D",
        "no date where one is due",
        '''
from datetime import date, timedelta


def due_dates(starts: dict[str, str], days: int) -> dict[str, date | None]:
    """The date so many days after each start, moved to Monday from a weekend; None for no start."""
    found: dict[str, date | None] = {}
    for name, start in starts.items():
        due = date.fromisoformat(start) + timedelta(days) if start else None
        if due and due.weekday() >= 5:
            due += timedelta(7 - due.weekday())
        found[name] = due
    return found
''',
        """
from datetime import date

import pytest
from due_dates import due_dates


def test_no_start():
    assert due_dates({"a": ""}, 3) == {"a": None}


def test_names():
    assert set(due_dates({"a": "2024-05-06", "b": "2024-05-07"}, 1)) == {"a", "b"}


def test_dates():
    found = due_dates({"a": "2024-05-06", "b": "2024-05-10"}, 1)
    expected = {"a": date(2024, 5, 7), "b": date(2024, 5, 13)}
    for name, due in found.items():
        if due:
            assert due == expected[name]
            assert due.weekday() < 5


def test_bad_date():
    with pytest.raises(ValueError, match="isoformat"):
        due_dates({"a": "6.5.2024"}, 1)
""",
        {
            "        if due and due.weekday() >= 5:\n            due += timedelta(7 - due.weekday())\n        found[name] = due\n": "        found[name] = due and None\n"
        },
    ),
]
