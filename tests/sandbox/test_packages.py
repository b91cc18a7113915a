"""The packages of the image, in a real container: they are there, they work within the limits, and
nothing of them is loaded before.
"""

import json

import pytest

from selfeng.core.packages import sandbox_packages
from selfeng.core.verdict import Raised, Returned, SandboxJob, Verdict
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis.checks import suite_problem
from tests.sandbox.conftest import Verify

pytestmark = pytest.mark.asyncio(loop_scope="session")

HAS = f"It has {', '.join(sandbox_packages())} and the standard library."


async def run(sandbox: SecureSandbox, code: str) -> Returned:
    got = await sandbox.execute(SandboxJob("tool", code), {})
    assert isinstance(got, Returned), got
    return got


@pytest.mark.parametrize("package", sandbox_packages())
async def test_every_package_of_the_list_can_be_imported(
    sandbox: SecureSandbox, package: str
) -> None:
    got = await run(sandbox, f"import {package}\ndef tool(): return {package}.__name__")
    assert (got.text, got.stdout) == (package, "")


async def test_nothing_of_them_is_loaded_before_a_tool_wants_it(sandbox: SecureSandbox) -> None:
    code = f"import sys\ndef tool(): return [p for p in {sandbox_packages()!r} if p in sys.modules]"
    assert (await run(sandbox, code)).data == "[]"


async def test_libraries_use_one_thread(sandbox: SecureSandbox) -> None:
    code = """
import os
import numpy
def tool():
    numpy.ones((400, 400)) @ numpy.ones((400, 400))
    return len(os.listdir("/proc/self/task"))
"""
    assert (await run(sandbox, code)).data == "1"


async def test_a_plot_is_drawn_without_a_warning(sandbox: SecureSandbox) -> None:
    code = """
import os, warnings
warnings.simplefilter("error")
import pandas as pd
import matplotlib, matplotlib.pyplot as plt
def tool():
    frame = pd.DataFrame({"x": [1, 2, 3], "y": [3, 1, 2]})
    figure, axes = plt.subplots()
    axes.plot(frame["x"], frame["y"], label="größer ½")
    axes.legend()
    figure.savefig("plot.png")
    with open("plot.png", "rb") as file:
        head = file.read(8)
    return [matplotlib.get_backend(), head.hex(), os.path.getsize("plot.png") > 5000]
"""
    got = await run(sandbox, code)
    assert json.loads(got.data or "") == ["Agg", "89504e470d0a1a0a", True]
    assert got.stdout == ""


async def test_numbers_of_numpy_are_given_as_pythons(sandbox: SecureSandbox) -> None:
    code = """
import numpy as np
def tool(): return {"a": np.int64(3), "b": [np.float64(1.5), np.bool_(True)], "c": (np.str_("x"),), "d": np.float32(0.5)}
"""
    got = await run(sandbox, code)
    assert (got.text, got.data) == (
        "{'a': 3, 'b': [1.5, True], 'c': ('x',), 'd': 0.5}",
        '{"a":3,"b":[1.5,true],"c":["x"],"d":0.5}',
    )
    assert (await run(sandbox, "import numpy as np\ndef tool(): return np.int64(3)")).model_copy(
        update={"seconds": 0.0, "value": None}
    ) == Returned(type_name="int", text="3", data="3")
    got = await run(sandbox, "import numpy as np\ndef tool(): return np.longdouble(1)")
    assert (got.text, got.data) == ("np.longdouble('1.0')", None)


async def test_tests_see_numbers_of_numpy_as_pythons(verify: Verify) -> None:
    code = "import numpy as np\ndef solution(n): return np.int64(n) + 1 if n else np.arange(3)"
    tests = """
from solution import solution
def test_a():
    assert solution(1) == 2
    assert type(solution(1)) is int
def test_b():
    assert list(solution(0)) == [0, 1, 2]
"""
    verdict = await verify(code, tests)
    assert isinstance(verdict, Verdict)
    assert verdict.passed, verdict


async def test_a_suite_makes_the_workbook_that_a_tool_reads(verify: Verify) -> None:
    code = """
import openpyxl
def solution(path, sheet):
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    return sum(row[0] for row in book[sheet].iter_rows(min_row=2, values_only=True))
"""
    tests = """
import datetime
import openpyxl
import pytest
from openpyxl import Workbook
from solution import solution

def test_sum(tmp_path):
    book = Workbook()
    book.active.title = "First"
    second = book.create_sheet("Second")
    second.append(["n", "day"])
    second.append([1, datetime.date(2025, 1, 1)])
    second["A3"] = 2.5
    path = tmp_path / "book.xlsx"
    book.save(path)
    assert openpyxl.load_workbook(path).sheetnames == ["First", "Second"]
    assert solution(path=str(path), sheet="Second") == 3.5

def test_missing_sheet(tmp_path):
    Workbook().save(tmp_path / "empty.xlsx")
    with pytest.raises(KeyError):
        solution(path=str(tmp_path / "empty.xlsx"), sheet="Second")
"""
    assert suite_problem(tests, "solution") is None
    verdict = await verify(code, tests)
    assert isinstance(verdict, Verdict)
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    ("code", "type_name", "message"),
    [
        (
            "import polars",
            "ModuleNotFoundError",
            f"The code needs the package `polars`, which the sandbox does not have. {HAS}",
        ),
        (
            "def tool(): import scipy.stats",
            "ModuleNotFoundError",
            f"The code needs the package `scipy`, which the sandbox does not have. {HAS}",
        ),
        (
            "import pandas as pd\ndef tool(): pd.DataFrame({'a': [1]}).to_markdown()",
            "ImportError",
            f"The code needs the package `tabulate`, which the sandbox does not have. {HAS}",
        ),
        ("import pandas.nothing", "ModuleNotFoundError", "No module named 'pandas.nothing'"),
        ("from numpy import nothing", "ImportError", "cannot import name 'nothing' from 'numpy' ("),
    ],
)
async def test_an_import_that_fails_says_what_is_missing(
    sandbox: SecureSandbox, code: str, type_name: str, message: str
) -> None:
    got = await sandbox.execute(SandboxJob("tool", code), {})
    assert isinstance(got, Raised)
    assert (got.type_name, got.message[: len(message)]) == (type_name, message)


async def test_a_table_of_pandas_is_kept_as_rows(sandbox: SecureSandbox) -> None:
    code = """
import pandas as pd
def tool():
    frame = pd.DataFrame({"day": pd.to_datetime(["2026-01-02", None]), "price": [1.5, None]})
    frame.index.name = "n"
    return frame
"""
    got = await run(sandbox, code)
    assert (got.data, got.value and got.value.shape) == (
        None,
        "a table of 2 rows and 3 columns",
    )
    assert json.loads(got.readable or "") == [
        {"n": 0, "day": "2026-01-02T00:00:00", "price": 1.5},
        {"n": 1, "day": None, "price": None},
    ]


async def test_numbers_of_numpy_that_are_missing_are_null(sandbox: SecureSandbox) -> None:
    code = "import numpy as np, pandas as pd\ndef tool(): return {'a': np.array([1.5, np.nan]), 'b': np.nan, 'c': pd.NA, 'd': pd.NaT}"
    got = await run(sandbox, code)
    assert (got.data, got.readable) == (None, '{"a":[1.5,null],"b":null,"c":null,"d":null}')


async def test_the_reader_of_cells_is_compiled_already(sandbox: SecureSandbox) -> None:
    code = """
import os, readcells
def tool(): return [readcells.same_text("A ", "a"), os.path.exists(readcells.__cached__)]
"""
    assert (await run(sandbox, code)).data == "[true,true]"
