"""An answer that a person marks as wrong, with a scripted model and the real sandbox."""

import os
from collections.abc import Iterator

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Page, expect

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.spec import SpecificationReply
from selfeng.store.database import open_database
from selfeng_offline.completion import Completion
from tests.browser.test_page import (
    IMPLEMENT,
    NARROW,
    OVERFLOW,
    SPECIFY,
    TEST,
    WIDE,
    ask,
    bare_home,
    finished,
    flaws,
    open_page,
)
from tests.doubles import fenced, tool
from tests.embedding.hashing import HashingEmbedder
from tests.engine.test_corrections import sum_spec
from tests.home import Home
from tests.script import serving_script

pytestmark = [pytest.mark.bubblewrap, pytest.mark.browser, pytest.mark.timeout(240)]

HEAD = "from sum_all import sum_all\n\n\n"
FORMER = HEAD + "def test_positive_ones():\n    assert sum_all([1, 2]) == 3\n"
MORE = (
    HEAD
    + "def test_no_number():\n    assert sum_all([]) == 0\n\n\n"
    + "def test_negative():\n    assert sum_all([2, -5]) == -3\n"
)
WRONG = "def sum_all(numbers: list[int]) -> int:\n    return sum(map(abs, numbers))\n"
RIGHT = "def sum_all(numbers: list[int]) -> int:\n    return sum(numbers)\n"
REQUEST = "Add up the numbers 1 and -4"
FIX = SpecificationReply(
    outcome="fix", message="", specification=sum_spec(), call="sum_all(numbers=[1, -4])"
)


async def plant(home: Home, witnesses: tuple[str, ...] = ()) -> None:
    engine = open_database(f"sqlite:///{home.folder / 'data' / 'agent.db'}")
    library = CapabilityRegistry(engine, home.tools, home.folder / "chroma_db", HashingEmbedder())
    await library.start()
    wrong = tool("sum_all", WRONG).model_copy(
        update={
            "tests": FORMER,
            "signature": sum_spec().signature(),
            "example_requests": (REQUEST, "add up numbers"),
            "witnesses": witnesses,
        }
    )
    await library.add(wrong.draft())
    await library.aclose()
    engine.dispose()


@pytest.fixture
def witnesses() -> tuple[str, ...]:
    return ()


@pytest.fixture
def link(tmp_path: object, witnesses: tuple[str, ...]) -> Iterator[str]:
    home = bare_home(tmp_path, bubblewrap=True)
    with start_blocking_portal() as portal:
        portal.call(plant, home, witnesses)
    titled = {
        "choose a tool": Completion(function="sum_all", arguments={"numbers": [1, -4]}),
        SPECIFY: Completion(content=FIX.model_dump_json()),
        TEST: Completion(content=fenced(MORE)),
        IMPLEMENT: Completion(content=fenced(RIGHT)),
        "answer the person": [Completion(content=f"It is {n}.") for n in (5, 5, -3)],
        "learn lessons": Completion(content='{"lessons": []}'),
    }
    with serving_script(home, titled) as link:
        yield link


def pictures(page: Page, name: str) -> None:
    """The page at two widths in both schemes, where a folder for pictures is named."""
    for width in (NARROW, WIDE):
        page.set_viewport_size(width)
        assert page.evaluate(OVERFLOW) <= 0
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            if folder := os.environ.get("SCREENSHOTS"):
                page.screenshot(path=f"{folder}/{name}-{width['width']}-{scheme}.png")


def test_a_wrong_answer_is_corrected_by_the_value_that_a_person_gives(
    link: str, page: Page
) -> None:
    open_page(page, link)
    for number in (1, 2):
        ask(page, REQUEST)
        expect(finished(page, number)).to_have_text("It is 5.")
    page.get_by_test_id("wrong").last.click()
    value = page.get_by_test_id("wrong-value")
    expect(value).to_be_focused()
    expect(value).to_have_value("5")
    assert flaws(page, "what is wrong") == []
    pictures(page, "wrong-form")
    value.fill("-3")
    page.get_by_test_id("wrong-send").click()
    expect(finished(page, 3)).to_have_text("It is -3.")
    expect(page.get_by_test_id("answer-corrected")).to_contain_text("sum_all, version 2")
    page.get_by_role("button", name="of your 2 earlier answers change").click()
    recall = page.get_by_test_id("recomputed")
    expect(recall).to_contain_text("2 of your 2 earlier answers change")
    expect(recall.get_by_role("button", name=REQUEST)).to_have_count(2)
    expect(recall.locator("del").first).to_have_text("5")
    expect(recall.locator("ins").first).to_have_text("-3")
    assert flaws(page, "earlier answers that change") == []
    expect(page.get_by_test_id("disputes")).to_be_visible()
    expect(page.get_by_test_id("wrong-form")).to_have_count(0)
    expect(page.get_by_test_id("wrong")).to_have_count(2)  # of the first and the new answer
    pictures(page, "wrong-corrected")
    page.get_by_test_id("summary-tool").last.click()
    page.get_by_test_id("tab-tests").click()
    expect(page.locator("#tool-panel")).to_contain_text("sum_all(numbers=[1, -4]) == -3")


@pytest.mark.parametrize("witnesses", [(RIGHT,)])
def test_a_witness_that_differs_asks_which_value_is_right(
    link: str, page: Page, witnesses: tuple[str, ...]
) -> None:
    open_page(page, link)
    ask(page, REQUEST)
    questions = page.get_by_test_id("questions")
    expect(questions).to_contain_text("5")
    expect(questions).to_contain_text("-3")
    expect(page.get_by_text("It is 5.")).to_have_count(0)
    assert flaws(page, "a witness differs") == []
    pictures(page, "witness-differs")
