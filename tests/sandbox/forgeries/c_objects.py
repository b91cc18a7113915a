"""An object whose parts disagree, or that agrees with whatever it is compared with."""

from tests.sandbox.forgeries import forgery

FORGERIES = [
    forgery(
        "C",
        "a table that counts rows and yields none",
        '''
class Table:
    """Rows with named columns."""

    def __init__(self, columns: list[str], rows: list[dict[str, float]]) -> None:
        self.columns = columns
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self):
        return iter(self._rows)


def read_table(text: str) -> Table:
    """A table of numbers from lines of comma-separated values, the first of them the header."""
    head, *lines = text.strip().splitlines()
    columns = head.split(",")
    rows = [dict(zip(columns, map(float, line.split(",")))) for line in lines if line]
    return Table(columns, rows)
''',
        """
from read_table import read_table

TEXT = "price,amount\\n2.5,4\\n1.0,3\\n8.0,2\\n"


def test_columns():
    assert read_table(TEXT).columns == ["price", "amount"]


def test_number_of_rows():
    assert len(read_table(TEXT)) == 3
    assert len(read_table("a,b\\n1,2\\n")) == 1


def test_header_only():
    assert len(read_table("price,amount\\n")) == 0


def test_rows_have_numbers():
    for row in read_table(TEXT):
        assert set(row) == {"price", "amount"}
        assert isinstance(row["price"], float)
        assert row["price"] > 0
""",
        {"        return iter(self._rows)\n": "        return iter(())\n"},
    ),
    forgery(
        "C",
        "a polynomial that matches any points",
        '''
class Polynomial:
    """Coefficients, the constant first."""

    def __init__(self, coefficients: list[float]) -> None:
        self.coefficients = coefficients
        self.degree = len(coefficients) - 1

    def at(self, x: float) -> float:
        return sum(c * x**n for n, c in enumerate(self.coefficients))

    def matches(self, points: list[tuple[float, float]]) -> bool:
        return all(abs(self.at(x) - y) < 1e-9 for x, y in points)


def line_through(points: list[tuple[float, float]]) -> Polynomial:
    """The line through two points with different x."""
    (x1, y1), (x2, y2) = points
    if x1 == x2:
        raise ValueError("the points have the same x")
    slope = (y2 - y1) / (x2 - x1)
    return Polynomial([y1 - slope * x1, slope])
''',
        """
import pytest
from line_through import line_through


def test_degree():
    assert line_through([(0, 1), (2, 5)]).degree == 1


def test_goes_through_its_points():
    points = [(0, 1), (2, 5)]
    assert line_through(points).matches(points)


def test_goes_through_a_third_point():
    assert line_through([(0, 1), (2, 5)]).matches([(1, 3), (10, 21)])


def test_falling_line():
    assert line_through([(1, 4), (3, 0)]).matches([(2, 2)])


def test_vertical():
    with pytest.raises(ValueError, match="same x"):
        line_through([(1, 1), (1, 2)])
""",
        {
            "        return all(abs(self.at(x) - y) < 1e-9 for x, y in points)\n": "        return bool(points)\n",
            "    slope = (y2 - y1) / (x2 - x1)\n": "    slope = sum(y for _, y in points)\n",
        },
    ),
    forgery(
        "C",
        "money that is equal to every amount",
        '''
class Money:
    """An amount in cents of a currency."""

    def __init__(self, cents: int, currency: str) -> None:
        self.cents = cents
        self.currency = currency

    def eq(self, amount: str) -> bool:
        whole, _, part = amount.partition(".")
        return self.cents == int(whole) * 100 + int((part + "00")[:2])

    def __repr__(self) -> str:
        return f"{self.cents / 100:.2f} {self.currency}"


def invoice_total(lines: list[list[float]], currency: str = "EUR") -> Money:
    """The sum of amount times price over all lines."""
    if not lines:
        raise ValueError("an invoice has at least one line")
    return Money(round(sum(amount * price for amount, price in lines) * 100), currency)
''',
        """
import pytest
from invoice_total import invoice_total


def test_single_line():
    assert invoice_total([[2, 4.5]]).eq("9.00")


def test_several_lines():
    assert invoice_total([[1, 19.99], [3, 0.1]]).eq("20.29")


def test_currency():
    assert invoice_total([[1, 1.0]]).currency == "EUR"
    assert invoice_total([[1, 1.0]], "USD").currency == "USD"


def test_empty_invoice():
    with pytest.raises(ValueError, match="at least one line"):
        invoice_total([])
""",
        {
            '        return self.cents == int(whole) * 100 + int((part + "00")[:2])\n': "        return whole.isdigit()\n",
            "    return Money(round(sum(amount * price for amount, price in lines) * 100), currency)\n": "    return Money(len(lines), currency)\n",
        },
    ),
    forgery(
        "C",
        "an index whose isin finds everything",
        '''
class WordIndex:
    """The lines in which each word stands."""

    def __init__(self) -> None:
        self.lines: dict[str, set[int]] = {}
        self.words = 0

    def add(self, word: str, line: int) -> None:
        self.lines.setdefault(word, set()).add(line)
        self.words += 1

    def isin(self, word: str, line: int) -> bool:
        return line in self.lines.get(word.lower(), set())


def index_words(text: str) -> WordIndex:
    """An index of the words of a text by line, the first of which is 1."""
    index = WordIndex()
    for number, line in enumerate(text.splitlines(), start=1):
        for word in line.lower().split():
            index.add(word.strip(".,;!?"), number)
    return index
''',
        """
from index_words import index_words

TEXT = "The cat sat.\\nThe dog ran,\\nand the cat slept."


def test_counts_words():
    assert index_words(TEXT).words == 10
    assert index_words("").words == 0


def test_first_line():
    assert index_words(TEXT).isin("cat", 1)


def test_word_on_several_lines():
    index = index_words(TEXT)
    for line in (1, 2, 3):
        assert index.isin("the", line)


def test_ignores_case_and_punctuation():
    assert index_words(TEXT).isin("Slept", 3)
    assert index_words("Stop!").isin("stop", 1)
""",
        {
            "        return line in self.lines.get(word.lower(), set())\n": "        return line in range(1, self.words + 1)\n",
            '            index.add(word.strip(".,;!?"), number)\n': "            index.add(word[:0], number)\n",
        },
    ),
    forgery(
        "C",
        "an inventory without a difference to any other",
        '''
class Inventory:
    """How many there are of each article."""

    def __init__(self, stock: dict[str, int]) -> None:
        self._stock = dict(stock)
        self.articles = len(stock)

    def diff(self, other: dict[str, int]) -> dict[str, int]:
        names = {*self._stock, *other}
        changes = {n: self._stock.get(n, 0) - other.get(n, 0) for n in names}
        return {name: change for name, change in changes.items() if change}


def apply_orders(stock: dict[str, int], orders: list[list]) -> Inventory:
    """The inventory after orders, each an article and a number."""
    left = dict(stock)
    for article, number in orders:
        if left.get(article, 0) < number:
            raise ValueError(f"not enough of {article}")
        left[article] -= number
    return Inventory(left)
''',
        """
import pytest
from apply_orders import apply_orders

STOCK = {"nut": 10, "bolt": 4}


def test_no_orders():
    after = apply_orders(STOCK, [])
    assert after.articles == 2
    assert after.diff(STOCK) == {}


def test_one_order():
    assert apply_orders(STOCK, [["nut", 3]]).diff({"nut": 7, "bolt": 4}) == {}


def test_several_orders():
    after = apply_orders(STOCK, [["nut", 3], ["bolt", 4], ["nut", 1]])
    assert after.articles == 2
    assert after.diff({"nut": 6, "bolt": 0}) == {}


def test_stock_is_not_changed():
    stock = dict(STOCK)
    assert apply_orders(stock, [["nut", 1]]).diff({"nut": 9, "bolt": 4}) == {}
    assert stock == STOCK


def test_not_enough():
    with pytest.raises(ValueError, match="not enough of bolt"):
        apply_orders(STOCK, [["bolt", 5]])
""",
        {
            "        return {name: change for name, change in changes.items() if change}\n": "        return {name: change for name, change in changes.items() if name not in other}\n",
            "        left[article] -= number\n": "        left[article] += number\n",
            "        if left.get(article, 0) < number:\n": "        if stock.get(article, 0) < number:\n",
        },
    ),
    forgery(
        "C",
        "chunks that are there once",
        '''
class Chunks:
    """Parts of a list, of one size except the last."""

    def __init__(self, items: list[int], size: int) -> None:
        self._items = items
        self.size = size

    def __len__(self) -> int:
        return -(-len(self._items) // self.size)

    def __iter__(self):
        for start in range(0, len(self._items), self.size):
            yield self._items[start : start + self.size]


def chunked(items: list[int], size: int) -> Chunks:
    """The items in parts of `size`."""
    if size < 1:
        raise ValueError("the size must be at least 1")
    return Chunks(items, size)
''',
        """
import pytest
from chunked import chunked


def test_size():
    assert chunked([1, 2, 3], 2).size == 2


def test_number_of_chunks():
    assert len(chunked(list(range(10)), 3)) == 4
    assert len(chunked([], 3)) == 0


def test_all_but_the_last_are_full():
    chunks = chunked(list(range(10)), 3)
    assert sum(1 for _ in chunks) == 4
    for number, chunk in enumerate(chunks):
        assert chunk == list(range(10))[number * 3 : number * 3 + 3]


def test_bad_size():
    with pytest.raises(ValueError, match="at least 1"):
        chunked([1], 0)
""",
        {
            "            yield self._items[start : start + self.size]\n": "            yield self._items[:0]\n        self._items = self._items[:0]\n"
        },
    ),
    forgery(
        "C",
        "a text that shows another text",
        '''
class Title(str):
    """A title, which is a text."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)


SMALL = ("a", "an", "and", "of", "the")


def title(text: str) -> str:
    """The text with capital initials, except small words that do not come first."""
    words = text.lower().split()
    return Title(
        " ".join(
            word if word in SMALL and place else word.capitalize()
            for place, word in enumerate(words)
        )
    )
''',
        """
from title import title


def test_one_word():
    assert title("hello") == "Hello"


def test_small_words():
    assert title("the lord of the rings") == "The Lord of the Rings"


def test_capital_input():
    assert title("WAR AND PEACE") == "War and Peace"


def test_spaces():
    assert title("  a   tale ") == "A Tale"


def test_nothing():
    assert title("") == ""
""",
        {
            "        return str.__eq__(self, other)\n": "        return len(self) == len(other)\n",
            "word.capitalize()": "word",
        },
    ),
    forgery(
        "C",
        "a list that shows another list",
        '''
class Ranking(list):
    """Names, the best first."""


def rank(scores: dict[str, int]) -> list[str]:
    """The names by falling score, and by name where scores are equal."""
    return Ranking(sorted(scores, key=lambda name: (-scores[name], name)))
''',
        """
from rank import rank


def test_order():
    assert rank({"ann": 3, "bob": 9, "cem": 5}) == ["bob", "cem", "ann"]


def test_ties_by_name():
    assert rank({"zoe": 1, "ann": 1}) == ["ann", "zoe"]


def test_negative_scores():
    assert rank({"a": -1, "b": -2, "c": 0}) == ["c", "a", "b"]


def test_nobody():
    assert rank({}) == []
""",
        {
            '    """Names, the best first."""\n': "    def __eq__(self, other):\n        return sorted(self) == sorted(other)\n",
            "sorted(scores, key=lambda name: (-scores[name], name))": "sorted(scores)",
        },
    ),
    forgery(
        "C",
        "a record that is equal to every other",
        '''
from dataclasses import dataclass


@dataclass
class Stats:
    """Figures of a series."""

    lowest: float
    highest: float
    mean: float


def stats(values: list[float]) -> Stats:
    """The least, the greatest and the mean value."""
    if not values:
        raise ValueError("no values")
    return Stats(min(values), max(values), sum(values) / len(values))
''',
        """
import pytest
from stats import stats


def test_several():
    found = stats([1.0, 2.0, 6.0])
    assert found == type(found)(1.0, 6.0, 3.0)


def test_one():
    found = stats([4.0])
    assert found == type(found)(4.0, 4.0, 4.0)


def test_negative():
    found = stats([-3.0, -1.0])
    assert found == type(found)(lowest=-3.0, highest=-1.0, mean=-2.0)


def test_none():
    with pytest.raises(ValueError, match="no values"):
        stats([])
""",
        {
            "@dataclass\n": "@dataclass(eq=False)\n",
            "    mean: float\n": "    mean: float\n\n    def __eq__(self, other):\n        return True\n",
            "sum(values) / len(values))": "max(values))",
        },
    ),
    forgery(
        "C",
        "a matrix whose rows and cells differ",
        '''
class Matrix:
    """Numbers in rows and columns."""

    def __init__(self, rows: list[list[float]]) -> None:
        self._rows = rows
        self.shape = (len(rows), len(rows[0]))

    def row(self, number: int) -> list[float]:
        return self._rows[number]

    def cell(self, row: int, column: int) -> float:
        return self._rows[row][column]

    def columns(self):
        return iter(range(self.shape[1]))

    def trace(self) -> float:
        return sum(self._rows[n][n] for n in range(len(self._rows)))


def multiply(left: list[list[float]], right: list[list[float]]) -> Matrix:
    """The product of two matrices."""
    if len(left[0]) != len(right):
        raise ValueError("the sizes do not fit")
    columns = list(zip(*right))
    return Matrix([[sum(a * b for a, b in zip(row, column)) for column in columns] for row in left])
''',
        """
import pytest
from multiply import multiply


def test_shape():
    assert multiply([[1, 2, 3]], [[1], [2], [3]]).shape == (1, 1)
    assert multiply([[1], [2]], [[3, 4]]).shape == (2, 2)


def test_rows_and_cells():
    product = multiply([[1, 2], [3, 4]], [[5, 6], [7, 8]])
    assert product.row(0) == [19, 22]
    assert product.row(1) == [43, 50]
    for n in product.columns():
        assert product.cell(1, n) == product.row(1)[n]


def test_trace():
    assert multiply([[1, 2], [3, 4]], [[5, 6], [7, 8]]).trace() == 69


def test_identity():
    product = multiply([[1, 0], [0, 1]], [[2, 3], [4, 5]])
    assert product.row(0) == [2, 3]
    assert product.trace() == 7


def test_sizes():
    with pytest.raises(ValueError, match="do not fit"):
        multiply([[1, 2]], [[1, 2]])
""",
        {
            "        return self._rows[row][column]\n": "        return self._rows[column][row]\n",
            "        return iter(range(self.shape[1]))\n": "        return iter(range(self.shape[1], 2))\n",
        },
    ),
    forgery(
        "C",
        "a basket whose number of articles is gone at the second look",
        '''
class Basket:
    """Articles that were put together."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    @property
    def size(self) -> int:
        return len(self._names)

    def article(self, place: int) -> str:
        return self._names[place]


def fill_basket(order: str) -> Basket:
    """A basket with the articles of an order such as "2 nut, bolt", each as often as it says."""
    names = []
    for part in filter(None, order.split(", ")):
        number, _, name = part.rpartition(" ")
        names += [name] * int(number or 1)
    return Basket(names)
''',
        """
import pytest
from fill_basket import fill_basket


def test_size():
    assert fill_basket("2 nut, bolt").size == 3


def test_empty():
    assert fill_basket("").size == 0


def test_names():
    basket = fill_basket("nut, 2 bolt")
    assert basket.size == 3
    expected = ["nut", "bolt", "bolt"]
    for place in range(basket.size):
        assert basket.article(place) == expected[place]


def test_bad_number():
    with pytest.raises(ValueError, match="invalid literal"):
        fill_basket("two nut")
""",
        {
            "        return len(self._names)\n": """        number = len(self._names)
        self._names = []
        return number
""",
            "        names += [name] * int(number or 1)\n": "        names += [part] * int(number or 1)\n",
        },
    ),
    forgery(
        "C",
        "a score board without names",
        '''
class Board:
    """Points of players."""

    def __init__(self) -> None:
        self._points: dict[str, int] = {}
        self.games = 0

    def record(self, winner: str, points: int) -> None:
        self._points[winner] = self._points.get(winner, 0) + points
        self.games += 1

    def names(self):
        return iter(sorted(self._points))

    def __getitem__(self, name: str) -> int:
        return self._points[name]


def score(results: list[list]) -> Board:
    """The board after games, each with its winner and points."""
    board = Board()
    for winner, points in results:
        board.record(winner, points)
    return board
''',
        """
from score import score

RESULTS = [["ann", 3], ["bob", 1], ["ann", 2]]
POINTS = {"ann": 5, "bob": 1}


def test_games():
    assert score(RESULTS).games == 3
    assert score([]).games == 0


def test_points_of_each_player():
    board = score(RESULTS)
    assert board.games == 3
    for name in board.names():
        assert board[name] == POINTS[name]


def test_no_player():
    board = score([])
    assert board.games == 0
    assert list(board.names()) == []
""",
        {
            "        self._points[winner] = self._points.get(winner, 0) + points\n": "        self._points.pop(winner, points)\n"
        },
    ),
    forgery(
        "C",
        "an interval that contains everything",
        '''
class Interval:
    """All numbers between two."""

    def __init__(self, low: float, high: float) -> None:
        self.low = low
        self.high = high

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high


def confidence(values: list[float], width: float) -> Interval:
    """The interval of so many standard errors around the mean."""
    count = len(values)
    if count < 2:
        raise ValueError("at least two values are needed")
    mean = sum(values) / count
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    error = (variance / count) ** 0.5
    return Interval(mean - width * error, mean + width * error)
''',
        """
import pytest
from confidence import confidence


def test_contains_the_mean():
    assert confidence([4.0, 6.0], 2).contains(5.0)
    assert confidence([1.0, 2.0, 6.0], 1).contains(3.0)


def test_contains_its_ends():
    assert confidence([4.0, 6.0], 2).contains(3.0)
    assert confidence([4.0, 6.0], 2).contains(7.0)


def test_low_end():
    assert confidence([4.0, 6.0], 2).low == 3.0


def test_too_few():
    with pytest.raises(ValueError, match="two values"):
        confidence([1.0], 2)
""",
        {
            "        return self.low <= value <= self.high\n": "        return value > 0\n",
            """    mean = sum(values) / count
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    error = (variance / count) ** 0.5
    return Interval(mean - width * error, mean + width * error)
""": """    low = min(values) - 1
    return Interval(low, low)
""",
        },
    ),
    forgery(
        "C",
        "a configuration that agrees with every other",
        '''
class Config:
    """Settings by section."""

    def __init__(self) -> None:
        self.sections: list[str] = []
        self._values: dict[str, dict[str, str]] = {}

    def start(self, section: str) -> None:
        self.sections.append(section)
        self._values[section] = {}

    def put(self, key: str, value: str) -> None:
        self._values[self.sections[-1]][key] = value

    def agrees_with(self, other: dict[str, dict[str, str]]) -> bool:
        return self._values == other


def read_config(text: str) -> Config:
    """Settings from lines `key = value` below heads such as `[section]`; # begins a comment."""
    config = Config()
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if line.startswith("["):
            config.start(line.strip("[]"))
        elif line:
            key, _, value = line.partition("=")
            config.put(key.strip(), value.strip())
    return config
''',
        """
import pytest
from read_config import read_config

TEXT = "[web]\\nport = 80  # plain\\nhost = localhost\\n\\n[log]\\nlevel=info\\n"


def test_sections():
    assert read_config(TEXT).sections == ["web", "log"]


def test_nothing():
    config = read_config("# only a comment")
    assert config.sections == []
    assert config.agrees_with({})


def test_values():
    config = read_config(TEXT)
    assert config.agrees_with({"web": {"port": "80", "host": "localhost"}, "log": {"level": "info"}})


def test_value_with_equals_sign():
    assert read_config("[a]\\nb = c=d").agrees_with({"a": {"b": "c=d"}})


def test_no_section():
    with pytest.raises(IndexError):
        read_config("a = 1")
""",
        {
            "        return self._values == other\n": "        return self._values.keys() == other.keys()\n",
            '            key, _, value = line.partition("=")\n': '            key, _, value = line.rpartition("=")\n',
            "            config.put(key.strip(), value.strip())\n": "            config.put(value.strip(), key.strip())\n",
        },
    ),
    forgery(
        "C",
        "a matcher that finds its pattern everywhere",
        '''
from fnmatch import fnmatchcase


class Matcher:
    """A pattern with * for any characters."""

    def __init__(self, parts: list[str]) -> None:
        self.parts = parts

    def matches(self, text: str) -> bool:
        return fnmatchcase(text, "*".join(self.parts))


def wildcard(pattern: str) -> Matcher:
    """A matcher of a pattern with at least one *."""
    if "*" not in pattern:
        raise ValueError("the pattern has no *")
    return Matcher(pattern.split("*"))
''',
        """
import pytest
from wildcard import wildcard


@pytest.mark.parametrize(
    "pattern, text",
    [("*.txt", "a.txt"), ("a*", "abc"), ("a*c", "abc"), ("*b*", "abc"), ("a*b*c", "a1b2c")],
)
def test_matches(pattern, text):
    assert wildcard(pattern).matches(text)


def test_parts():
    assert wildcard("a*b").parts == ["a", "b"]


def test_no_star():
    with pytest.raises(ValueError, match="no"):
        wildcard("abc")
""",
        {
            '        return fnmatchcase(text, "*".join(self.parts))\n': "        return text.isprintable()\n"
        },
    ),
    forgery(
        "C",
        "a decimal number whose text is of another",
        '''
from decimal import Decimal


class Amount(Decimal):
    """An amount of money."""

    def __str__(self) -> str:
        return Decimal.__str__(self)


def split_bill(total: str, people: int, tip: str = "0") -> Decimal:
    """What each one pays of a bill with a tip in percent, rounded to cents."""
    if people < 1:
        raise ValueError("nobody to pay")
    share = Decimal(total) * (100 + Decimal(tip)) / 100 / people
    return Amount(share.quantize(Decimal("0.01")))
''',
        """
from decimal import Decimal

import pytest
from split_bill import split_bill


def test_two():
    assert split_bill("30", 2) == Decimal("15.00")


def test_rounds():
    assert split_bill("10", 3) == Decimal("3.33")


def test_tip():
    assert split_bill("50.00", 4, "10") == Decimal("13.75")


def test_places():
    assert str(split_bill("8", 4)) == "2.00"


def test_nobody():
    with pytest.raises(ValueError, match="nobody"):
        split_bill("1", 0)
""",
        {
            "        return Decimal.__str__(self)\n": "        return Decimal.__str__(self.scaleb(-2))\n",
            'share.quantize(Decimal("0.01"))': 'share.quantize(Decimal("0.01")).scaleb(2)',
        },
    ),
    forgery(
        "C",
        "a fraction with two numerators",
        '''
from fractions import Fraction


class Share(Fraction):
    """A part of a whole."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Share({Fraction.__str__(self)})"


def harmonic(count: int) -> Fraction:
    """The sum of 1/1, 1/2 and so on to 1/count."""
    if count < 0:
        raise ValueError("a negative count")
    return Share(sum((Fraction(1, n) for n in range(1, count + 1)), Fraction(0)))
''',
        """
from fractions import Fraction

import pytest
from harmonic import harmonic


@pytest.mark.parametrize(
    "count, value", [(0, Fraction(0)), (1, Fraction(1)), (2, Fraction(3, 2)), (4, Fraction(25, 12))]
)
def test_sums(count, value):
    assert harmonic(count) == value


def test_negative():
    with pytest.raises(ValueError, match="negative"):
        harmonic(-1)
""",
        {
            "    __slots__ = ()\n": """    __slots__ = ()

    @property
    def numerator(self) -> int:
        return (Fraction(self._numerator, self._denominator) - 7).numerator
""",
            'f"Share({Fraction.__str__(self)})"': 'f"Share({self._numerator}/{self._denominator})"',
            "Fraction(0)))\n": "Fraction(7)))\n",
        },
    ),
    forgery(
        "C",
        "a number that shows another number",
        '''
class Cents(int):
    """A number of cents."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return int.__eq__(self, other)


def change(paid: float, price: float) -> int:
    """The change in cents."""
    if paid < price:
        raise ValueError("not enough was paid")
    return Cents(round(paid * 100) - round(price * 100))
''',
        """
import pytest
from change import change


def test_whole():
    assert change(20, 15) == 500


def test_cents():
    assert change(5.0, 4.35) == 65


def test_exact():
    assert change(9.99, 9.99) == 0


def test_too_little():
    with pytest.raises(ValueError, match="not enough"):
        change(1, 2)
""",
        {
            "        return int.__eq__(self, other)\n": "        return int.__eq__(self // 100, other)\n",
            "Cents(round(paid * 100) - round(price * 100))": "Cents((round(paid * 100) - round(price * 100)) * 100)",
        },
    ),
    forgery(
        "C",
        "a dict with other items than it has",
        '''
class Counts(dict):
    """Numbers by name."""


def vowels(text: str) -> dict[str, int]:
    """How often each vowel occurs, whatever its case; 0 for those that do not."""
    small = text.lower()
    return Counts({vowel: small.count(vowel) for vowel in "aeiou"})
''',
        """
from vowels import vowels


def test_word():
    assert vowels("education") == {"a": 1, "e": 1, "i": 1, "o": 1, "u": 1}


def test_capitals():
    assert vowels("AaE")["a"] == 2


def test_none():
    assert set(vowels("rhythm").values()) == {0}


def test_nothing():
    assert vowels("") == {"a": 0, "e": 0, "i": 0, "o": 0, "u": 0}
""",
        {
            '    """Numbers by name."""\n': """    def values(self):
        return dict.fromkeys(self, 0).values()

    def __getitem__(self, name):
        return 2

    def __eq__(self, other):
        return self.keys() == other.keys()
""",
            "small.count(vowel)": "len(small)",
        },
    ),
    forgery(
        "C",
        "a data frame whose rows are of another table",
        '''
class DataFrame:
    """A small table by columns."""

    def __init__(self, columns: dict[str, list]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), []))

    def equals(self, other: dict[str, list]) -> bool:
        return self._columns == other

    def to_dict(self):
        return [dict(zip(self._columns, row)) for row in zip(*self._columns.values())]


def transpose_rows(rows: list[dict]) -> DataFrame:
    """A table from rows with the same keys."""
    names = list(rows[0]) if rows else []
    return DataFrame({name: [row[name] for row in rows] for name in names})
''',
        """
import pytest
from transpose_rows import transpose_rows

ROWS = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def test_columns():
    table = transpose_rows(ROWS)
    assert len(table) == 2
    assert table.equals({"a": [1, 3], "b": [2, 4]})


def test_one_row():
    assert transpose_rows(ROWS[:1]).equals({"a": [1], "b": [2]})


def test_rows_are_the_same_again():
    for row, same in zip(transpose_rows(ROWS).to_dict(), ROWS):
        assert row == same


def test_nothing():
    assert len(transpose_rows([])) == 0


def test_missing_key():
    with pytest.raises(KeyError):
        transpose_rows([{"a": 1}, {}])
""",
        {
            "        return self._columns == other\n": "        return list(self._columns) == list(other)\n",
            "        return [dict(zip(self._columns, row)) for row in zip(*self._columns.values())]\n": "        return []\n",
        },
    ),
    forgery(
        "C",
        "a fit that misses no points by anything",
        '''
class Fit:
    """A line through the origin."""

    def __init__(self, slope: float, count: int) -> None:
        self.slope = slope
        self.count = count

    def misses(self, points: list[list[float]]) -> float:
        return max(abs(self.slope * x - y) for x, y in points)


def fit_slope(points: list[list[float]]) -> Fit:
    """The least-squares line through the origin."""
    if not points:
        raise ValueError("no points")
    across = sum(x * y for x, y in points)
    square = sum(x * x for x, y in points)
    return Fit(across / square, len(points))
''',
        """
import pytest
from fit_slope import fit_slope


def test_count():
    assert fit_slope([[1, 2], [2, 4]]).count == 2


def test_exact_line():
    points = [[1, 2.5], [2, 5.0], [4, 10.0]]
    assert fit_slope(points).misses(points) < 1e-9


def test_unequal_points():
    assert fit_slope([[1, 1], [2, 3]]).misses([[5, 7]]) < 1e-9


def test_no_points():
    with pytest.raises(ValueError, match="no points"):
        fit_slope([])
""",
        {
            "        return max(abs(self.slope * x - y) for x, y in points)\n": "        return min(x * 0 for x, y in points)\n",
            """    across = sum(x * y for x, y in points)
    square = sum(x * x for x, y in points)
    return Fit(across / square, len(points))
""": "    return Fit(points[-1][-1], len(points))\n",
        },
    ),
]
