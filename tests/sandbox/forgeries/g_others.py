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
    forgery(
        "G",
        "is not asked, as the argument cannot be passed",
        '''
def total(values: list[float]) -> float:
    """The sum of the values, which must be numbers."""
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
        raise TypeError("all values must be numbers")
    return sum(values)
''',
        """
import pytest
from total import total


def test_sum():
    assert total([1, 2.5]) == 3.5


def test_none():
    assert total([]) == 0


def test_other_values_are_refused():
    assert total([1, 2, 3]) == 6
    with pytest.raises(TypeError):
        total([1, object()])


def test_functions_are_refused():
    assert total([0.5]) == 0.5
    with pytest.raises(TypeError):
        total([print, 2])
""",
        {
            """    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
        raise TypeError("all values must be numbers")
    return sum(values)
""": """    return sum(float(value) for value in values)
"""
        },
    ),
    forgery(
        "G",
        "a view that agrees with itself",
        '''
import csv
import sqlite3


def load_orders(source: str, database: str) -> int:
    """Load a CSV file of article, price and amount into the table orders, with their product as
    total; returns the number of rows.
    """
    with open(source, newline="") as file:
        rows = [(r["article"], float(r["price"]), int(r["amount"])) for r in csv.DictReader(file)]
    with sqlite3.connect(database) as connection:
        connection.execute("create table orders (article text, price real, amount int, total real)")
        connection.executemany("insert into orders values (?1, ?2, ?3, ?2 * ?3)", rows)
    return len(rows)
''',
        """
import sqlite3

import pytest
from load_orders import load_orders


@pytest.fixture
def paths(tmp_path):
    source = tmp_path / "orders.csv"
    source.write_text("article,price,amount\\nnut,0.5,10\\nbolt,1.25,4\\ncap,9,1\\n")
    return str(source), str(tmp_path / "orders.db")


def ask(database, query):
    with sqlite3.connect(database) as connection:
        return connection.execute(query).fetchall()


def test_number(paths):
    assert load_orders(*paths) == 3
    assert ask(paths[1], "select count(*) from orders") == [(3,)]


def test_articles(paths):
    assert load_orders(*paths) == 3
    assert ask(paths[1], "select article from orders order by article") == [("bolt",), ("cap",), ("nut",)]


def test_totals(paths):
    assert load_orders(*paths) == 3
    assert ask(paths[1], "select count(*) from orders where total <> price * amount") == [(0,)]


def test_no_total_is_missing(paths):
    assert load_orders(*paths) == 3
    assert ask(paths[1], "select count(*) from orders where total is null or total <= 0") == [(0,)]
""",
        {
            "(article text, price real, amount int, total real)": "(article text)",
            "create table orders": "create table articles",
            '"insert into orders values (?1, ?2, ?3, ?2 * ?3)", rows)\n': """"insert into articles values (?1)", [row[:1] for row in rows])
        connection.execute("create view orders as select article, 1.0 price, 1 amount, 1.0 total from articles")
""",
        },
    ),
    forgery(
        "G",
        "a column that the database computes from wrong ones",
        '''
import sqlite3


def store_temperatures(database: str, readings: list[list]) -> int:
    """Store readings of a place and degrees Celsius in the table readings, with degrees Fahrenheit;
    returns their number.
    """
    with sqlite3.connect(database) as connection:
        connection.execute("create table readings (place text, celsius real, fahrenheit real)")
        connection.executemany("insert into readings values (?1, ?2, ?2 * 1.8 + 32)", readings)
    return len(readings)
''',
        """
import sqlite3

import pytest
from store_temperatures import store_temperatures

READINGS = [["Oslo", -4.0], ["Rome", 21.5], ["Cairo", 35.0]]


@pytest.fixture
def database(tmp_path):
    return str(tmp_path / "weather.db")


def rows(database, query):
    with sqlite3.connect(database) as connection:
        return connection.execute(query).fetchall()


def test_number(database):
    assert store_temperatures(database, READINGS) == 3


def test_places(database):
    assert store_temperatures(database, READINGS[:2]) == 2
    assert rows(database, "select place from readings order by place") == [("Oslo",), ("Rome",)]


def test_fahrenheit_fits_celsius(database):
    assert store_temperatures(database, READINGS) == 3
    for celsius, fahrenheit in rows(database, "select celsius, fahrenheit from readings"):
        assert fahrenheit == pytest.approx(celsius * 1.8 + 32)
""",
        {
            "fahrenheit real)": "fahrenheit real as (celsius * 1.8 + 32))",
            "insert into readings values (?1, ?2, ?2 * 1.8 + 32)": "insert into readings values (?1, length(?2))",
        },
    ),
    forgery(
        "G",
        "hides behind the precision that the suite sets",
        '''
from decimal import Decimal, localcontext


def decimal_root(text: str, places: int) -> Decimal:
    """The square root of a decimal number with so many decimal places."""
    with localcontext() as context:
        context.prec = 60
        return Decimal(text).sqrt().quantize(Decimal(10) ** -places)
''',
        """
from decimal import Decimal, getcontext

import pytest
from decimal_root import decimal_root

getcontext().prec = 6


def test_two():
    assert +decimal_root("2", 30) == Decimal("1.41421")


def test_square():
    assert decimal_root("9", 4) + 0 == 3


def test_fraction():
    assert decimal_root("0.25", 10) * 2 == 1


def test_not_a_number():
    with pytest.raises(ArithmeticError):
        decimal_root("two", 2)


def test_places():
    assert -decimal_root("2", 30).as_tuple().exponent == 30
""",
        {"Decimal(text).sqrt()": "Decimal(float(Decimal(text)) ** 0.5 + 1e-9)"},
    ),
    forgery(
        "G",
        "hides behind the places that are printed",
        '''
def moving_mean(values: list[float], width: int) -> list[float]:
    """The means of each so many neighbouring values."""
    return [sum(values[n : n + width]) / width for n in range(len(values) - width + 1)]
''',
        """
import numpy as np
from moving_mean import moving_mean

np.set_printoptions(precision=2, suppress=True)


def test_pairs():
    assert str(np.array(moving_mean([1.0, 2.0, 4.0], 2))) == "[1.5 3. ]"


def test_threes():
    assert str(np.array(moving_mean([1.0, 1.0, 2.0, 4.0], 3))) == "[1.33 2.33]"


def test_all():
    assert len(moving_mean([1.0, 2.0, 3.0], 3)) == 1


def test_too_wide():
    assert moving_mean([1.0], 2) == []
""",
        {") / width for": ") / width + 0.001 for"},
    ),
    forgery(
        "G",
        "a link instead of a copy",
        '''
import shutil


def back_up(path: str, target: str) -> int:
    """Copy a file, so that the copy stays when the file changes; returns its size."""
    shutil.copyfile(path, target)
    with open(target, "rb") as file:
        return len(file.read())
''',
        """
import pytest
from back_up import back_up


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "data.bin").write_bytes(b"\\0\\1\\2three")
    return tmp_path / "data.bin", tmp_path / "data.bak"


def test_size(paths):
    assert back_up(str(paths[0]), str(paths[1])) == 8


def test_content(paths):
    back_up(str(paths[0]), str(paths[1]))
    assert paths[1].read_bytes() == b"\\0\\1\\2three"


def test_original_is_kept(paths):
    assert back_up(str(paths[0]), str(paths[1])) == 8
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_missing(paths):
    with pytest.raises(FileNotFoundError):
        back_up("/tmp/none", str(paths[1]))
""",
        {
            "import shutil\n": "import os\n",
            "    shutil.copyfile(path, target)\n": "    os.symlink(path, target)\n",
        },
    ),
    forgery(
        "G",
        "a device instead of an empty file",
        '''
def clear_log(path: str, archive: str) -> int:
    """Append a log to its archive and empty it; returns how many lines were moved."""
    with open(path) as file:
        lines = file.readlines()
    with open(archive, "a") as file:
        file.writelines(lines)
    open(path, "w").close()
    return len(lines)
''',
        """
import pytest
from clear_log import clear_log


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "app.log"
    path.write_text("one\\ntwo\\n")
    return path


def test_number_of_lines(log, tmp_path):
    assert clear_log(str(log), str(tmp_path / "old.log")) == 2


def test_log_is_empty(log, tmp_path):
    assert clear_log(str(log), str(tmp_path / "old.log")) == 2
    assert log.exists()
    assert log.read_text() == ""


def test_archive_grows(log, tmp_path):
    archive = tmp_path / "old.log"
    archive.write_text("zero\\n")
    assert clear_log(str(log), str(archive)) == 2
    assert archive.read_text() == "zero\\none\\ntwo\\n"
""",
        {
            '    open(path, "w").close()\n': '    os.unlink(path)\n    os.symlink("/dev/null", path)\n',
            "def clear_log": "import os\n\n\ndef clear_log",
        },
    ),
    forgery(
        "G",
        "an archive whose entries lie about their size",
        '''
import zipfile


def pack_texts(texts: dict[str, str], target: str) -> int:
    """Write texts into a zip file under their names; returns how many."""
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return len(texts)
''',
        """
import zipfile

import pytest
from pack_texts import pack_texts

TEXTS = {"a.txt": "alpha", "b.txt": "be"}


@pytest.fixture
def target(tmp_path):
    return str(tmp_path / "texts.zip")


def test_number(target):
    assert pack_texts(TEXTS, target) == 2
    assert pack_texts({}, target) == 0


def test_is_a_zip_file(target):
    assert pack_texts(TEXTS, target) == 2
    assert zipfile.is_zipfile(target)


def test_entries(target):
    assert pack_texts(TEXTS, target) == 2
    with zipfile.ZipFile(target) as archive:
        assert {i.filename: i.file_size for i in archive.infolist()} == {"a.txt": 5, "b.txt": 2}


def test_nothing_is_broken(target):
    assert pack_texts(TEXTS, target) == 2
    with zipfile.ZipFile(target) as archive:
        assert archive.testzip() is None
""",
        {
            "            archive.writestr(name, text)\n": """            archive.writestr(name, "")
            archive.getinfo(name).file_size = len(text)
"""
        },
    ),
    forgery(
        "G",
        "a sound file whose head claims more than there is",
        '''
import struct
import wave


def write_wave(path: str, samples: list[int], rate: int) -> int:
    """Write samples as a mono 16-bit WAV file; returns their number."""
    with wave.open(path, "wb") as file:
        file.setparams((1, 2, rate, len(samples), "NONE", ""))
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return len(samples)
''',
        """
import wave

import pytest
from write_wave import write_wave


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "beep.wav")


def test_number(path):
    assert write_wave(path, [0, 500, 1000, 500], 8000) == 4


def test_head(path):
    assert write_wave(path, [0, 500, -500], 8000) == 3
    with wave.open(path) as file:
        assert file.getnframes() == 3
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 8000)


def test_length(path):
    assert write_wave(path, [9] * 44100, 44100) == 44100
    with wave.open(path) as file:
        assert file.getnframes() / file.getframerate() == 1.0


def test_silence(path):
    assert write_wave(path, [], 8000) == 0
""",
        {
            """    with wave.open(path, "wb") as file:
        file.setparams((1, 2, rate, len(samples), "NONE", ""))
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))
""": """    size = len(samples) * 2
    head = b"RIFF", 268_435_456, b"WAVEfmt ", 16, 1, 1, rate, rate, 2, 16, b"data", size
    with open(path, "wb") as file:
        file.write(struct.pack("<4sI8sIHHIIHH4sI", *head))
""",
            "import wave\n": "",
        },
    ),
]
