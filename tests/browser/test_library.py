"""The panel's room and a library of many tools, in Chromium on an engine that plays."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import watched
from tests.browser.test_page import MIDDLE, NARROW, OVERFLOW, WIDE, ask, flaws, open_page, tab_to
from tests.web.server_process import ServerProcess

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

MANY = 400
TWO_KEYS = """for (const shiftKey of [false, true])  // within one frame
  document.activeElement.dispatchEvent(
    new KeyboardEvent("keydown", { key: "ArrowLeft", shiftKey, bubbles: true, cancelable: true }))"""
WIDTH = "document.querySelector('.panel').offsetWidth"


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = ServerProcess(tmp_path_factory.mktemp("library"), "threading")
    yield server.link
    assert server.end() == (0, "")


def open_library(page: Page, link: str, *, many: bool = True) -> None:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    open_page(page, link)
    if many:
        ask(page, f"stock {MANY}")
        expect(page.get_by_test_id("tab-library")).to_contain_text(str(MANY + 1))
    page.get_by_test_id("tab-library").click()


def test_the_panel_is_made_wider_by_keys_and_pointer_and_stays_so(link: str, page: Page) -> None:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    open_page(page, link)
    handle = page.get_by_role("separator", name="Width of the panel")
    own = page.evaluate(WIDTH)
    expect(handle).to_have_attribute("aria-valuenow", str(own))
    tab_to(page, handle)
    page.evaluate(TWO_KEYS)
    expect(handle).to_have_attribute("aria-valuenow", str(own + 80))
    page.keyboard.press("Home")
    expect(handle).to_have_attribute("aria-valuenow", "320")
    assert flaws(page, "a narrow panel", [WIDE, MIDDLE]) == []
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]

    box = handle.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, 400)
    page.mouse.down()
    page.mouse.move(box["x"] - 92, 400, steps=4)
    page.mouse.up()
    expect(handle).to_have_attribute("aria-valuenow", "420")
    page.mouse.move(500, 400)  # no more than it was dragged
    page.reload()
    expect(handle).to_have_attribute("aria-valuenow", "420")
    page.set_viewport_size({"width": 900, "height": 800})
    handle.focus()
    page.keyboard.press("End")
    expect(handle).to_have_attribute("aria-valuenow", "540")
    handle.dblclick()
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    expect(handle).to_have_attribute("aria-valuenow", str(own))


def test_the_panel_is_hidden_and_brought_back_with_the_focus(link: str, page: Page) -> None:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    open_page(page, link)
    hide, show = page.get_by_test_id("hide-panel"), page.get_by_test_id("show-panel")
    hide.focus()
    page.keyboard.press("Enter")
    expect(show).to_be_focused()
    expect(page.get_by_test_id("tab-activity")).to_be_hidden()
    page.reload()
    expect(show).to_be_visible()
    page.keyboard.press("Control+b")
    expect(hide).to_be_visible()
    expect(page.get_by_test_id("composer")).to_be_focused()
    page.keyboard.press("Control+b")
    page.get_by_test_id("rail-library").click()
    expect(page.get_by_test_id("library")).to_be_visible()
    page.keyboard.press("Control+b")
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    page.get_by_test_id("view-library").click()  # where the panel is a view of its own
    expect(page.get_by_test_id("library")).to_be_visible()
    expect(page.get_by_role("separator")).to_be_hidden()
    assert page.evaluate(OVERFLOW) <= 0


def test_a_tool_has_the_conversations_room_until_escape_or_a_request(link: str, page: Page) -> None:
    open_library(page, link, many=False)
    page.locator("[data-tool=add]").click()
    page.get_by_test_id("run-a").fill("3")
    wide = page.get_by_test_id("widen")
    wide.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".chat")).to_be_hidden()
    expect(wide).to_be_focused()
    expect(page.get_by_test_id("run-a")).to_have_value("3")
    assert page.evaluate(WIDTH) == WIDE["width"] - 248
    page.keyboard.press("Escape")
    expect(page.locator(".chat")).to_be_visible()
    expect(page.get_by_test_id("run-a")).to_have_value("3")

    page.keyboard.press("Enter")
    page.get_by_test_id("requests").get_by_role("button", name="What is 1 plus 2?").click()
    expect(page.get_by_test_id("composer")).to_be_focused()
    expect(page.get_by_test_id("composer")).to_have_value("What is 1 plus 2?")


def test_a_tool_tells_its_uses_as_a_chart_and_a_table(link: str, page: Page) -> None:
    open_library(page, link)
    page.get_by_test_id("library-search").fill("0004")
    page.locator("[data-tool=extract_addresses_0004]").click()
    uses = page.get_by_test_id("uses")
    expect(uses.get_by_role("img", name="Your uses by day")).to_be_visible()
    uses.get_by_test_id("chart-as-table").click()
    expect(uses.get_by_role("row")).to_have_count(31)
    cells = uses.get_by_role("cell").all_inner_texts()
    assert [sum(map(int, cells[n::2])) for n in (0, 1)] == [20, 1]
    expect(page.get_by_test_id("past-turn")).to_have_accessible_name(
        "Conversation with “Add 1 and 2”"
    )


def test_lines_of_code_wrap_everywhere_once_that_is_chosen(link: str, page: Page) -> None:
    open_library(page, link)
    page.get_by_test_id("library-search").fill("convert_csv_columns_0002")
    page.locator("[data-tool=convert_csv_columns_0002]").click()
    page.get_by_test_id("tab-code").click()
    code = page.get_by_test_id("tool-detail").locator("pre")
    wrap = page.get_by_role("button", name="Wrap long lines")
    expect(code).to_have_css("white-space", "pre")
    wrap.focus()
    page.keyboard.press("Enter")
    expect(wrap).to_have_attribute("aria-pressed", "true")
    expect(code).to_have_css("white-space", "pre-wrap")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-wraps", "true")


def test_many_tools_are_browsed_by_keyboard(link: str, page: Page) -> None:
    open_library(page, link)
    rows, search = page.get_by_test_id("tool-row"), page.get_by_test_id("library-search")
    expect(rows).not_to_have_count(0)
    assert rows.count() <= 100
    search.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("[data-tool=add]")).to_be_focused()
    page.keyboard.press("End")
    last = page.locator("[data-tool=summarize_words_0375]")
    expect(last).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("tool-back")).to_be_focused()
    page.keyboard.press("Enter")
    expect(last).to_be_focused()
    expect(last).to_be_in_viewport()
    page.keyboard.press("Home")
    expect(page.locator("[data-tool=add]")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(search).to_be_focused()


def test_tools_are_ordered_narrowed_and_found_by_meaning(link: str, page: Page) -> None:
    open_library(page, link)
    rows = page.get_by_test_id("tool-row")
    page.get_by_test_id("tools-order").select_option("uses")
    expect(rows.first).to_contain_text("used 16 times")
    page.get_by_test_id("tools-order").select_option("last")
    expect(rows.first).to_contain_text("add")
    page.get_by_test_id("tools-kind").select_option("mine")
    expect(rows).to_have_count(1)
    page.get_by_test_id("tools-kind").select_option("retired")
    expect(rows).to_have_count(MANY // 50)
    expect(rows.first.get_by_test_id("badge")).to_have_text("retired")
    page.get_by_test_id("tools-kind").select_option("all")

    search = page.get_by_test_id("library-search")
    search.fill("1 plus 1")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("for “What is 1 plus 2?”")
    expect(page.get_by_role("status").filter(has_text="1 tool found")).to_be_visible()
    search.fill("<b>nobody</b>")
    expect(page.get_by_text("No tool matches “<b>nobody</b>”")).to_be_visible()
    search.fill("")
    expect(page.get_by_test_id("tools-order")).to_have_value("last")
    page.reload()
    page.get_by_test_id("tab-library").click()
    expect(page.get_by_test_id("tools-order")).to_have_value("last")


def test_the_list_is_searched_while_the_server_is_gone(link: str, unwatched: Page) -> None:
    open_library(unwatched, link)
    expect(unwatched.get_by_test_id("tool-row")).not_to_have_count(0)
    unwatched.context.set_offline(True)
    unwatched.get_by_test_id("library-search").fill("invoices 0001")
    expect(unwatched.get_by_test_id("tool-row")).to_have_text(re.compile("sort_invoices_0001"))
    unwatched.context.set_offline(False)


@pytest.mark.extended
def test_the_panel_is_made_wider_by_touch(link: str, browser: Browser) -> None:
    tablet = browser.new_context(
        viewport={"width": 1024, "height": 768}, has_touch=True, is_mobile=True
    )
    with watched(tablet.new_page()) as page:
        page.goto(link)
        handle = page.get_by_role("separator")
        own = page.evaluate(WIDTH)
        box = handle.bounding_box()
        assert box is not None
        finger = page.context.new_cdp_session(page)
        x = box["x"] + box["width"] / 2
        for kind, at in (("touchStart", x), ("touchMove", x - 20), ("touchMove", x - 100)):
            finger.send(
                "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": at, "y": 300}]}
            )
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        expect(handle).to_have_attribute("aria-valuenow", str(own + 100))
    tablet.close()


def test_a_turn_that_lacks_consent_leads_to_the_permissions_of_the_tool(
    link: str, page: Page
) -> None:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    open_page(page, link)
    ask(page, "connect")
    ask(page, "lack")
    page.get_by_test_id("failure-grant").click()
    hosts = page.get_by_test_id("grant")
    expect(hosts).to_have_count(3)
    expect(hosts.nth(0)).to_be_visible()
    hosts.nth(0).check()
    expect(hosts.nth(0)).to_be_checked()
    hosts.nth(0).uncheck()


def test_the_hosts_of_a_tool_are_allowed_and_revoked_one_by_one(link: str, page: Page) -> None:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    open_page(page, link)
    ask(page, "connect")
    page.get_by_test_id("tab-library").click()
    page.get_by_test_id("library-search").fill("rate_of")
    page.locator("[data-tool=rate_of]").click()
    hosts = page.get_by_test_id("grant")
    expect(hosts).to_have_count(3)
    expect(hosts.nth(2)).to_be_disabled()  # each host of a call is asked for
    expect(page.locator("li.server-tool").nth(2)).to_contain_text("GET {url}")
    expect(hosts.nth(0)).not_to_be_checked()
    hosts.nth(0).check()
    expect(hosts.nth(0)).to_be_checked()
    expect(hosts.nth(1)).not_to_be_checked()
    expect(hosts).to_have_count(3)
    item = page.locator("li.server-tool").first
    expect(item).to_contain_text("GET https://api.example.org/")
    expect(item).to_contain_text("allowed")
    expect(page.get_by_test_id("tool-detail")).to_contain_text("replay 1 recorded exchange")
    assert flaws(page, "hosts of a tool", [WIDE, MIDDLE]) == []
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    hosts.nth(0).uncheck()
    expect(item).to_contain_text("asks first")
