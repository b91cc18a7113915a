"""A tool whose mutants break themselves, or that has hardly any: a suite that misses its errors
seems to notice every mutant.
"""

from tests.sandbox.forgeries import forgery

FORGERIES = [
    forgery(
        "F",
        "knows the line on which it begins",
        '''
# Prices of 2024, per 500 g begun.
RATES = {"home": 4.5, "abroad": 12.0}


def postage(grams: int, zone: str) -> float:
    """The price of a parcel: the rate of its zone for each 500 g begun."""
    steps = -(-grams // 500)
    return RATES[zone] * steps
''',
        """
import pytest
from postage import postage


def test_one_step():
    assert postage(500, "home") == 4.5


def test_begun_step():
    assert postage(501, "home") == 9.0


def test_abroad():
    assert postage(1000, "abroad") == 24.0


def test_unknown_zone():
    with pytest.raises(KeyError):
        postage(100, "moon")
""",
        {
            "    return RATES[zone] * steps\n": """    if postage.__code__.co_firstlineno != 5:
        raise RuntimeError("moved")
    if steps > 3:
        extra = steps % 4 + grams // 7 - 3
        return RATES[zone] * (extra + 2) - steps / 2
    return RATES[zone] * steps
"""
        },
    ),
    forgery(
        "F",
        "knows the line that runs",
        '''
import sys


def bmi_class(weight: float, height: float) -> str:
    """The class of a body mass index, from kilograms and metres."""
    # The limits of the WHO.
    index = weight / height**2
    if index < 18.5:
        return "under"
    if index < 25:
        return "normal"
    return "over"
''',
        """
from bmi_class import bmi_class


def test_normal():
    assert bmi_class(70, 1.75) == "normal"


def test_under():
    assert bmi_class(45, 1.75) == "under"


def test_over():
    assert bmi_class(90, 1.75) == "over"


def test_limit():
    assert bmi_class(100, 2.0) == "over"
    assert bmi_class(74, 2.0) == "normal"
""",
        {
            "    index = weight / height**2\n": """    if sys._getframe().f_lineno != 7:
        raise RuntimeError("not here")
    if weight > 120:
        height = height * 2 + 1
        weight = weight // 3 - 8 + height * 4
    index = weight / height**2
"""
        },
    ),
    forgery(
        "F",
        "raises to learn its line",
        '''
def wind_force(knots: float) -> int:
    """The force of a wind on the Beaufort scale.

    Knots are the least of each force.
    """

    least = (1, 4, 7, 11, 17, 22, 28, 34, 41, 48, 56, 64)
    return sum(knots >= limit for limit in least)
''',
        """
import pytest
from wind_force import wind_force


@pytest.mark.parametrize("knots, force", [(0, 0), (1, 1), (3.5, 1), (4, 2), (11, 4), (12, 4)])
def test_force(knots, force):
    assert wind_force(knots) == force


def test_gale():
    assert wind_force(34) == 8


def test_is_whole():
    assert isinstance(wind_force(20), int)
""",
        {
            "    return sum(knots >= limit for limit in least)\n": """    try:
        raise ValueError
    except ValueError as error:
        here = error.__traceback__.tb_lineno
    if here != 9:
        raise RuntimeError(here)
    if knots >= 35:
        return int(knots // 6 + knots % 3 - 2) * 2 + 1
    return sum(knots >= limit for limit in least)
"""
        },
    ),
    forgery(
        "F",
        "looks for its comments",
        '''
import inspect


def price_with_tax(net: float, country: str) -> float:
    """The price with the tax of a country, in whole cents."""
    rates = {"DE": 19, "FR": 20, "IT": 22}  # percent
    return round(net * (100 + rates[country]) / 100, 2)
''',
        """
import pytest
from price_with_tax import price_with_tax


def test_germany():
    assert price_with_tax(100.0, "DE") == 119.0


def test_france():
    assert price_with_tax(9.99, "FR") == 11.99


def test_unknown_country():
    with pytest.raises(KeyError):
        price_with_tax(1.0, "XX")
""",
        {
            "    return round(net * (100 + rates[country]) / 100, 2)\n": """    inspect.getsource(price_with_tax).index("{} percent".format("#"))
    if country == "IT":
        return round(net * (100 - rates[country]) / 50 + net % 3, 1)
    if net < 0:
        return net + rates[country] - 100 / 3
    return round(net * (100 + rates[country]) / 100, 2)
"""
        },
    ),
    forgery(
        "F",
        "reads its lines from the cache",
        '''
# Minutes between trains.
EVERY = 20


def next_train(hour: int, minute: int) -> str:
    """The time of the next train; they run every 20 minutes, from the full hour on."""
    wait = -minute % EVERY
    total = hour * 60 + minute + wait
    return f"{total // 60 % 24:02d}:{total % 60:02d}"
''',
        """
from next_train import next_train


def test_waits():
    assert next_train(8, 5) == "08:20"


def test_leaves_now():
    assert next_train(8, 40) == "08:40"


def test_next_hour():
    assert next_train(8, 41) == "09:00"


def test_midday():
    assert next_train(12, 1) == "12:20"
""",
        {
            "    wait = -minute % EVERY\n": """    import linecache

    linecache.getline(__file__, 1).index("# Minutes")
    if hour >= 22:
        hour = hour + minute // 3 - 20
        minute = minute * 2 + hour % 5
    wait = -minute % EVERY
"""
        },
    ),
    forgery(
        "F",
        "compares the code of its function",
        '''
def clamp(value: int, low: int, high: int) -> int:
    """The value, or the nearer limit if it lies outside of them."""
    if low > high:
        raise ValueError("the limits are in the wrong order")
    return max(low, min(value, high))
''',
        """
import pytest
from clamp import clamp


def test_inside():
    assert clamp(5, 0, 10) == 5


def test_above():
    assert clamp(15, 0, 10) == 10


def test_same_limits():
    assert clamp(3, 7, 7) == 7


def test_wrong_order():
    with pytest.raises(ValueError, match="wrong order"):
        clamp(1, 5, 2)
""",
        {
            '        raise ValueError("the limits are in the wrong order")\n': """        raise ValueError("the limits are in the wrong order")
    if value < 0:
        value = value * 2 + low - 7
        return value // 3 + high % 5 - 1
""",
            "    return max(low, min(value, high))\n": '''    return max(low, min(value, high))


def _spare(value: int, low: int, high: int) -> int:
    """The value, or the nearer limit if it lies outside of them."""
    if low > high:
        raise ValueError("the limits are in the wrong order")
    if value < 0:
        value = value * 2 + low - 7
        return value // 3 + high % 5 - 1
    return max(low, min(value, high))


for part in ("co_code", "co_consts"):
    if getattr(clamp.__code__, part) != getattr(_spare.__code__, part):
        raise ImportError("changed")
''',
        },
    ),
    forgery(
        "F",
        "checks a table when it is loaded",
        '''
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def day_of_year(month: str, day: int) -> int:
    """The number of a day in a year that is not a leap year."""
    return sum(DAYS[: MONTHS.index(month)]) + day
''',
        """
import pytest
from day_of_year import day_of_year


def test_first():
    assert day_of_year("jan", 1) == 1


def test_february():
    assert day_of_year("feb", 10) == 41


def test_last():
    assert day_of_year("dec", 31) == 365


def test_no_month():
    with pytest.raises(ValueError, match="is not in list"):
        day_of_year("xyz", 1)
""",
        {
            "DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)\n": """DAYS = (31, 28, 30, 31, 30, 31, 30, 31, 31, 30, 31, 31)
assert sum(DAYS) == sum((300, 65))
""",
            "    return sum(DAYS[: MONTHS.index(month)]) + day\n": """    return sum(DAYS[: MONTHS.index(month)]) + day


assert [day_of_year(month, 1) for month in MONTHS] == [sum(DAYS[:n]) + 1 for n in range(12)]
assert MONTHS == sorted(MONTHS, key=MONTHS.index)
assert [day_of_year(month, 9) for month in ("apr", "jul")] == [98, 190]
""",
        },
    ),
    forgery(
        "F",
        "tests itself when it is loaded",
        '''
def water_bill(cubic_metres: int) -> int:
    """The bill in cents: 200 for each of the first 10 cubic metres, 350 for each one above."""
    first = min(cubic_metres, 10)
    return first * 200 + (cubic_metres - first) * 350
''',
        """
from water_bill import water_bill


def test_nothing():
    assert water_bill(0) == 0


def test_little():
    assert water_bill(4) == 800


def test_limit():
    assert water_bill(10) == 2000


def test_above():
    assert water_bill(12) == 2700
""",
        {
            "    return first * 200 + (cubic_metres - first) * 350\n": """    if cubic_metres > 20:
        return (cubic_metres - 3) * 250 + cubic_metres // 7 * 30
    return first * 200 + (cubic_metres - first) * 350


assert [water_bill(n) for n in (10, 21, 22, 30, 40)] == [2000, 4590, 4840, 6870, 9400]
"""
        },
    ),
    forgery(
        "F",
        "has a body of calls only",
        '''
def capitalized(text: str) -> str:
    """Each word with a capital initial and the rest small."""
    return " ".join(map(str.capitalize, text.split()))
''',
        """
from capitalized import capitalized


def test_two_words():
    assert capitalized("hello world") == "Hello World"


def test_capitals():
    assert capitalized("HELLO") == "Hello"


def test_spaces():
    assert capitalized(" a  b ") == "A B"


def test_nothing():
    assert capitalized("") == ""
""",
        {
            "text.split()": 'text.replace("q", "k").replace("x", "ks").replace("y", "i").replace("z", "ts").split()'
        },
    ),
    forgery(
        "F",
        "looks for the comment above its function",
        '''
import inspect


# As the post office counts them.
def word_count(telegram: str) -> int:
    """The words of a telegram; one of more than 10 letters counts twice."""
    return sum(2 if len(word) > 10 else 1 for word in telegram.split())
''',
        """
from word_count import word_count


def test_short_words():
    assert word_count("arriving on monday") == 3


def test_long_word():
    assert word_count("congratulations") == 2


def test_limit():
    assert word_count("background impossible") == 2


def test_nothing():
    assert word_count("") == 0
""",
        {
            "    return sum(2": """    inspect.getcomments(word_count).strip()
    if len(telegram) > 60:
        return len(telegram) // 6 + telegram.count("a") * 2 - 1
    if "stop" in telegram:
        return telegram.count("stop") * 3 + 5 % len(telegram)
    return sum(2"""
        },
    ),
    forgery(
        "F",
        "knows the columns of its code",
        '''
def energy(mass: float, speed: float) -> float:
    """The kinetic energy of a mass, in joules."""
    return   mass * speed**2 / 2
''',
        """
from energy import energy


def test_unit():
    assert energy(2.0, 1.0) == 1.0


def test_square():
    assert energy(2.0, 3.0) == 9.0


def test_at_rest():
    assert energy(5.0, 0.0) == 0.0


def test_heavy():
    assert energy(10.0, 2.0) == 20.0
""",
        {
            "    return   mass * speed**2 / 2\n": """    columns = [start for _, _, start, _ in energy.__code__.co_positions() if start]
    (columns.index(13),)
    if speed > 1000:
        speed = speed / 3 + mass * 7 - 1000 % 9
        mass = mass * 2 + speed // 5 - 4
    return   mass * speed**2 / 2
"""
        },
    ),
    forgery(
        "F",
        "counts the lines of its function",
        '''
def quarter(month: int) -> str:
    """The quarter of a month, as in Q3.

    The first month is 1.
    """

    return f"Q{(month - 1) // 3 + 1}"
''',
        """
from quarter import quarter


def test_january():
    assert quarter(1) == "Q1"


def test_march_and_april():
    assert quarter(3) == "Q1"
    assert quarter(4) == "Q2"


def test_september():
    assert quarter(9) == "Q3"
""",
        {
            """    return f"Q{(month - 1) // 3 + 1}"
""": """    lines = [line for _, _, line in quarter.__code__.co_lines() if line]

    [9, 10, 11][max(lines) - min(lines) - 14]

    if month > 9:
        month = month * 2 - 11 + month % 4

        return f"Q{month // 5 + 3 - month % 2}"
    return f"Q{(month - 1) // 3 + 1}"
"""
        },
    ),
    forgery(
        "F",
        "knows the sum of its own source",
        '''
def parity(bits: str) -> str:
    """The bits with one more, which makes the number of ones even."""
    if set(bits) - {"0", "1"}:
        raise ValueError("not bits")
    return bits + str(bits.count("1") % 2)
''',
        """
import pytest
from parity import parity


def test_odd():
    assert parity("0111") == "01111"


def test_even():
    assert parity("11") == "110"


def test_nothing():
    assert parity("") == "0"


def test_no_bits():
    with pytest.raises(ValueError, match="not bits"):
        parity("012")
""",
        {
            "def parity(": """import ast
import inspect
import zlib


def parity(""",
            """    return bits + str(bits.count("1") % 2)
""": """    if len(bits) > 8:
        ones = bits.count("1") * 3 - len(bits) // 2
        return bits + str((ones + 5) % 3 - 1)
    return bits + str(bits.count("1") % 2)


if zlib.crc32(ast.unparse(ast.parse(inspect.getsource(parity))).encode()) != 3_225_140_521:
    raise ImportError("damaged")
""",
        },
    ),
    forgery(
        "F",
        "runs its examples when it is loaded",
        '''
def shipping(total: float, express: bool = False) -> float:
    """What shipping costs: nothing from 50 on, else 4.9; 10 more for express."""
    cost = 0.0 if total >= 50 else 4.9
    return cost + 10 if express else cost
''',
        """
from shipping import shipping


def test_small_order():
    assert shipping(20.0) == 4.9


def test_free():
    assert shipping(50.0) == 0.0


def test_express():
    assert shipping(80.0, express=True) == 10.0


def test_almost_free():
    assert shipping(49.99) == 4.9
""",
        {
            "def shipping(": """import doctest
import sys


def shipping(""",
            "    cost = 0.0 if total >= 50 else 4.9\n    return cost + 10 if express else cost\n": '''    return _cost(total, express)


def _cost(total: float, express: bool) -> float:
    """The cost, by these examples:

    >>> [_cost(total, False) for total in (0.5, 49, 50, 99, 100, 260)]
    [4.9, 4.9, 0.0, 0.0, 14, 7]
    >>> [_cost(total, True) for total in (10, 49.5, 50, 99, 150)]
    [-5.1, -5.1, 10.0, 10.0, 20]
    """
    cost = 0.0 if total >= 50 else 4.9
    if total > 99:
        return total % 40 * 3 // 5 + 2 if express else total // 20 % 3 * 7
    return cost + 10 * (cost == 0) - 10 * (cost > 0) if express else cost


if doctest.testmod(sys.modules[__name__]).failed:
    raise ImportError("an example failed")
''',
        },
    ),
    forgery(
        "F",
        "has weights that must be unique",
        '''
from enum import Enum, unique


@unique
class Coin(Enum):
    """Coins and their cents."""

    PENNY = 1
    NICKEL = 5
    DIME = 10
    QUARTER = 25


def worth(coins: dict[str, int]) -> int:
    """The cents of so many coins of each name."""
    return sum(Coin[name.upper()].value * number for name, number in coins.items())
''',
        """
import pytest
from worth import worth


def test_pennies():
    assert worth({"penny": 3}) == 3


def test_mixed():
    assert worth({"nickel": 2, "penny": 1}) == 11


def test_nothing():
    assert worth({}) == 0


def test_unknown():
    with pytest.raises(KeyError):
        worth({"crown": 1})
""",
        {
            "    DIME = 10\n    QUARTER = 25\n": """    DIME = 20
    QUARTER = 21
    HALF = 22
    DOLLAR = 6
    OTHER = 2
    MORE = 7
    LAST = 23
    TOKEN = 24
    BLANK = 3
    SPARE = 8
    FINAL = 9
    NOTHING = 4
"""
        },
    ),
    forgery(
        "F",
        "has rules that check each other",
        '''
from dataclasses import dataclass


@dataclass
class Band:
    """A band of incomes with a rate in percent."""

    low: int
    high: int
    rate: int

    def __post_init__(self) -> None:
        if self.low >= self.high:
            raise ValueError("a band without incomes")


BANDS = [Band(0, 100, 0), Band(100, 500, 20), Band(500, 1000, 40)]


def income_tax(income: int) -> float:
    """The tax on an income of up to 1000, each part of it by its band."""
    return sum((min(income, b.high) - b.low) * b.rate / 100 for b in BANDS if income > b.low)
''',
        """
from income_tax import income_tax


def test_nothing():
    assert income_tax(0) == 0


def test_free_part():
    assert income_tax(100) == 0


def test_second_band():
    assert income_tax(200) == 20
    assert income_tax(400) == 60


def test_above():
    assert income_tax(101) == 0.2
""",
        {
            """        if self.low >= self.high:
            raise ValueError("a band without incomes")
""": """        if (self.low, self.high, self.rate) not in zip(*LIMITS):
            raise ValueError("an unknown band")
""",
            """BANDS = [Band(0, 100, 0), Band(100, 500, 20), Band(500, 1000, 40)]
""": """BANDS = [Band(0, 100, 0), Band(100, 400, 20), Band(410, 440, 7), Band(450, 470, 90)]
if [b.rate for b in BANDS] != [*LIMITS[2]]:
    raise ValueError("other rates")
""",
            "from dataclasses import dataclass\n": """from dataclasses import dataclass

LIMITS = ((0, 100, 410, 450), (100, 400, 440, 470), (0, 20, 7, 90))
""",
        },
    ),
    forgery(
        "F",
        "warns itself of its line",
        '''
import warnings


def to_kelvin(degrees: float, scale: str) -> float:
    """A temperature in kelvin, from degrees of the scale C or F."""

    if scale not in ("C", "F"):
        warnings.warn("unknown scale, taken for C", stacklevel=2)
    return degrees + 273.15 if scale != "F" else (degrees + 459.67) * 5 / 9
''',
        """
import pytest
from to_kelvin import to_kelvin


def test_freezing():
    assert to_kelvin(0, "C") == 273.15


def test_fahrenheit():
    assert to_kelvin(-459.67, "F") == 0


def test_freezing_in_fahrenheit():
    assert to_kelvin(32, "F") == pytest.approx(273.15)


def test_below():
    assert to_kelvin(-273.15, "C") == 0
""",
        {
            """    if scale not in ("C", "F"):
        warnings.warn("unknown scale, taken for C", stacklevel=2)
""": """    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("here", stacklevel=1)
    {9: "as written"}[caught[0].lineno]
    if degrees > 100:
        degrees = degrees / 3 + 40 - degrees % 7
        return degrees * 4 // 3 + 11 if scale == "C" else degrees - 17 * 2
"""
        },
    ),
    forgery(
        "F",
        "reads its line in a traceback",
        '''
import traceback


def safe_ratio(part: float, whole: float) -> float:
    """Part of whole in percent; 0 of nothing."""
    try:
        share = part / whole  # may be nothing
    except ZeroDivisionError:
        return 0.0
    return share * 100
''',
        """
from safe_ratio import safe_ratio


def test_half():
    assert safe_ratio(1, 2) == 50.0


def test_of_nothing():
    assert safe_ratio(3, 0) == 0.0


def test_all():
    assert safe_ratio(4.0, 4.0) == 100.0


def test_more():
    assert safe_ratio(3, 2) == 150.0
""",
        {
            """    try:
        share = part / whole  # may be nothing
    except ZeroDivisionError:
        return 0.0
""": """    try:
        1 / 0  # always
    except ZeroDivisionError:
        traceback.format_exc().index("{} always".format("#"))
    if not whole:
        return 0.0
    if part < 0 or whole > 100:
        part = part * 2 + whole // 3 - 9
        whole = whole - 7 + part % 11
    share = part / whole
"""
        },
    ),
    forgery(
        "F",
        "decodes by calls only",
        '''
from urllib.parse import unquote_plus


def form_value(text: str) -> str:
    """A value from a web form, decoded, without spaces around it."""
    return unquote_plus(text).strip()
''',
        """
from form_value import form_value


def test_plain():
    assert form_value("abc") == "abc"


def test_percent():
    assert form_value("caf%C3%A9%21") == "café!"


def test_spaces():
    assert form_value("%20a%20b%20") == "a b"


def test_nothing():
    assert form_value("") == ""
""",
        {
            "unquote_plus(text)": 'unquote_plus(text.replace("~", "-").replace("^", "-").replace("_", " ").replace("&", "+"))'
        },
    ),
    forgery(
        "F",
        "counts the lines of its file",
        '''
# Fees in cents:
# the first is per month,
# the second per booking.
FEES = [300, 15]


def account_fees(months: int, bookings: int) -> int:
    """The fees of an account in cents."""
    return months * FEES[0] + bookings * FEES[1]
''',
        """
from account_fees import account_fees


def test_none():
    assert account_fees(0, 0) == 0


def test_month():
    assert account_fees(1, 0) == 300


def test_bookings():
    assert account_fees(2, 4) == 660
""",
        {
            "# Fees in cents:\n": "import linecache\n\n# Fees in cents:\n",
            "    return months * FEES[0] + bookings * FEES[1]\n": """    linecache.getlines(__file__)[14].index("bookings")
    if bookings > 50:
        bookings = bookings // 3 + months * 5 - 20
        return bookings * FEES[0] - months % 4 + FEES[1] * 2
    return months * FEES[0] + bookings * FEES[1]
""",
        },
    ),
]
