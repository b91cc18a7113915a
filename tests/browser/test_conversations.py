"""The list of conversations in Chromium: managed by keyboard and touch on a narrow page, and live
in every tab.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from selfeng.store.database import open_database
from selfeng.store.journal import Journal
from tests.browser.conftest import watched
from tests.browser.test_page import NARROW, WIDE, ask, ended, finished, flaws, open_page
from tests.home import bare_home, serving
from tests.web.server_process import ServerProcess
from web.access import PERSON

pytestmark = [pytest.mark.bubblewrap, pytest.mark.browser, pytest.mark.timeout(240)]

MANY = 300
SMALL = """(all) => all.filter((e) => e.checkVisibility() && Math.min(e.offsetWidth, e.offsetHeight) < 44)
  .map((e) => e.outerHTML)"""


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(bare_home(tmp_path_factory.mktemp("list"), bubblewrap=True)) as link:
        yield link


def test_conversations_are_managed_by_keyboard_on_a_narrow_page_and_live_in_other_tabs(
    link: str, page: Page, second_page: Page
) -> None:
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    open_page(page, link)
    open_page(second_page, link)
    ask(page, "Hello!")
    finished(page)
    rows, there = (
        page.get_by_test_id("conversation-row"),
        second_page.get_by_test_id("conversation-row"),
    )
    expect(there).to_have_text("Hello!")
    page.get_by_role("button", name="Conversations", exact=True).click()
    row, actions = rows.first, page.get_by_test_id("conversation-more")
    expect(row).to_have_attribute("href", re.compile("^#[0-9a-f]{32}$"))
    row.focus()

    page.keyboard.press("F2")
    page.keyboard.type("thrown away")
    page.keyboard.press("Escape")
    expect(row).to_have_text("Hello!")
    expect(row).to_be_focused()
    page.keyboard.press("F2")
    page.keyboard.type("<b>Greeting</b>")
    page.keyboard.press("Enter")
    expect(row).to_have_text("<b>Greeting</b>")
    expect(there).to_have_text("<b>Greeting</b>")

    page.keyboard.press("Tab")
    expect(actions).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Rename")).to_be_focused()
    assert flaws(page, "menu of a conversation", [NARROW]) == []  # the drawer closes when widened
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Pinned")).to_be_visible()
    expect(second_page.get_by_role("heading", name="Pinned")).to_be_visible()

    actions.click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Export as Markdown").click()
    assert download.value.suggested_filename == "b Greeting b.md"

    search = page.get_by_test_id("conversation-search")
    search.fill("nothing of this")
    expect(page.get_by_text("No conversation has these words.")).to_be_visible()
    search.fill("hello")  # the request: the title has other words by now
    expect(page.get_by_role("heading", name="Found")).to_be_visible()
    place = page.get_by_test_id("conversation-found")
    expect(place.locator("mark").first).to_have_text(re.compile("^hello$", re.I))
    expect(place.locator(".time")).not_to_be_empty()
    search.fill("")

    row.focus()
    page.keyboard.press("Delete")
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    expect(rows).to_have_count(0)
    expect(there).to_have_count(0)
    assert flaws(page, "deleted conversation", [NARROW]) == []
    page.keyboard.press("Enter")
    expect(there).to_have_text("<b>Greeting</b>")
    expect(page.get_by_test_id("request")).to_have_text("Hello!")


def test_an_answer_that_nobody_has_seen_is_marked_until_it_is_opened(
    link: str, page: Page, second_page: Page
) -> None:
    address = re.compile("/api/v1/conversations/[0-9a-f]+$")
    page.route(address, lambda route: route.fulfill(json={}))  # as if nobody saw it there
    open_page(page, link)
    open_page(second_page, link)
    ask(page, "Good morning!")
    finished(page)
    row = second_page.get_by_test_id("conversation-row").filter(has_text="Good morning!")
    expect(row.get_by_label("unread")).to_be_visible()
    row.click()
    expect(row.get_by_label("unread")).to_have_count(0)
    second_page.get_by_test_id("new-conversation").click()
    expect(row).not_to_have_attribute("aria-current", "true")
    expect(row.get_by_label("unread")).to_have_count(0)


def test_a_conversation_that_is_deleted_in_another_tab_leaves_this_one(
    link: str, page: Page, second_page: Page
) -> None:
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    open_page(page, link)
    ask(page, "Good night!")
    finished(page)
    page.get_by_role("button", name="Conversations", exact=True).click()
    drawer = page.get_by_role("navigation", name="Conversations")
    expect(drawer).to_be_visible()
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    expect(page.locator("#conversations:popover-open")).to_have_count(0)
    box = drawer.bounding_box()
    assert box is not None
    assert box["x"] == 0

    open_page(second_page, link)
    row = second_page.get_by_test_id("conversation-row").filter(has_text="Good night!")
    row.focus()
    second_page.keyboard.press("Delete")
    expect(page.get_by_test_id("missing")).to_be_visible()
    expect(page.get_by_test_id("turn")).to_have_count(0)


@pytest.mark.extended
def test_conversations_are_managed_by_touch(link: str, browser: Browser) -> None:
    phone = browser.new_context(
        viewport=NARROW,  # type: ignore[arg-type]
        has_touch=True,
        is_mobile=True,
        reduced_motion="reduce",
    )
    with watched(phone.new_page()) as page:
        page.goto(link)
        ask(page, "Good evening!")
        expect(page.get_by_test_id("composer")).to_have_value("Good evening!\n")  # Enter: a line
        page.get_by_test_id("send").tap()
        finished(page)
        ask(page, "Count the vowels of 'hello world'")
        page.get_by_test_id("send").tap()
        summary = ended(page, 2, "done").get_by_test_id("summary")
        expect(summary.get_by_test_id("summary-tool")).to_be_visible()
        assert summary.evaluate("(e) => e.offsetHeight") <= 48  # one row
        assert page.locator("header button, .summary button").evaluate_all(SMALL) == []
        page.get_by_role("button", name="Conversations", exact=True).tap()
        row = page.get_by_test_id("conversation-row").first
        actions = page.get_by_test_id("conversation-more").first
        size = actions.bounding_box()
        assert size is not None
        assert min(size["width"], size["height"]) >= 44
        actions.tap()
        page.get_by_role("menuitem", name="Rename").tap()
        expect(page.get_by_test_id("conversation-name")).to_be_focused()
        page.get_by_test_id("conversation-name").fill("Evening")
        page.get_by_test_id("conversation-search").tap()  # leaving the field keeps the title
        expect(row).to_have_text("Evening")
        actions.tap()
        page.get_by_role("menuitem", name="Delete").tap()
        expect(page.get_by_test_id("undo")).to_contain_text("Deleted “Evening”")
        page.get_by_role("button", name="Undo").tap()
        expect(row).to_have_text("Evening")
    phone.close()


def test_of_many_conversations_as_many_are_drawn_as_are_scrolled_to(
    tmp_path: Path, page: Page
) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'agent.db'}")
    for number in range(MANY):
        Journal(database).create_conversation(PERSON, f"Request {number}")
    database.dispose()
    server = ServerProcess(tmp_path, "threading")
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    open_page(page, server.link)
    rows = page.get_by_test_id("conversation-row")
    expect(rows.first).to_have_text(f"Request {MANY - 1}")
    rows.first.focus()
    scroller = page.locator(".sidebar-scroller")
    assert rows.count() < MANY / 2
    while (drawn := rows.count()) < MANY:
        scroller.evaluate("(box) => (box.scrollTop = box.scrollHeight)")
        expect(rows.nth(drawn)).to_be_attached()
    expect(rows.first).to_be_focused()
    scroller.evaluate("(box) => (box.scrollTop = box.scrollHeight)")
    last = rows.filter(has_text=re.compile("^Request 0$"))
    expect(last).to_be_in_viewport(ratio=1)
    line = page.locator(".conversation-groups li").last
    expect(line).to_have_attribute("aria-posinset", str(MANY))
    last.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    expect(rows.filter(has_text=re.compile("^Request 1$"))).to_be_focused()
    last.click()
    expect(last).to_have_attribute("aria-current", "true")
    page.get_by_test_id("conversation-search").fill("Request 77")
    titles = rows.locator(".conversation-title")
    expect(titles).to_have_text(["Request 277", "Request 177", "Request 77"])
    assert flaws(page, "many conversations", [WIDE]) == []
    assert server.end() == (0, "")
