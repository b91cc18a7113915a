"""A search's results, and requests, versions and standing of a tool, in Chromium on the real
engine; it needs no sandbox.
"""

import re
from collections.abc import Iterator

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_page import (
    NARROW,
    OVERFLOW,
    REVERSE,
    ask,
    bare_home,
    ended,
    flaws,
    open_page,
    opened,
    tab_to,
)
from tests.home import serving
from tests.registry.repaired import USED, prepare

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page on a library of two tools, one of which was repaired once."""
    folder = tmp_path_factory.mktemp("versions")
    home = bare_home(folder)
    with start_blocking_portal() as portal:  # Playwright has a loop in this thread
        portal.call(prepare, home)
    with serving(home, SANDBOX="docker", DOCKER_HOST=f"unix://{folder}/none.sock") as link:
        yield link


def changes(page: Page, label: str) -> Locator:
    return page.get_by_label(label, exact=True).locator(".diff-line:not([data-change=same])")


@pytest.mark.extended
def test_candidates_are_shown_with_their_confidence_and_a_used_request_is_removed_by_keyboard(
    link, page
):
    open_page(page, link)
    for number, request in enumerate(
        (*USED, REVERSE), 1
    ):  # so that the first are this visitor's own
        ask(page, request)
        # the offline model does not understand the first, and there is no sandbox for the others
        ended(page, number, "declined" if request == USED[0] else "failed")
    page.set_viewport_size(NARROW)
    page.get_by_test_id("view-activity").click()
    found = opened(page, "tool_found")
    expect(found.locator(".found")).to_contain_text("reverse_text")
    found.get_by_test_id("more-candidates").click()  # it hardly came near
    candidates = found.get_by_test_id("candidates").get_by_role("listitem")
    expect(candidates).to_have_text([re.compile(r"^shout_text\d+%$")])
    assert flaws(page, "candidates") == []
    found.get_by_role("button", name="reverse_text").click()

    requests = page.get_by_test_id("requests")
    for request in USED:
        expect(requests).to_contain_text(request)
    requests.get_by_role("button", name=f"Remove: {USED[0]}").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("forget-yes")).to_be_focused()
    assert flaws(page, "requests, and a question") == []
    page.keyboard.press("Enter")
    expect(requests).not_to_contain_text(USED[0])
    expect(requests).to_contain_text(USED[1])
    expect(page.get_by_role("heading", name="Example requests")).to_be_focused()
    assert page.evaluate(OVERFLOW) <= 0


@pytest.mark.extended
def test_a_tool_is_compared_rolled_back_retired_and_restored_by_keyboard(link, page):
    other = (
        page.context.new_page()
    )  # not a watched one: the browser itself reports a refusal as an error
    for each in (page, other):
        open_page(each, link)
        each.get_by_test_id("tab-library").click()
        each.locator("[data-tool=reverse_text]").click()
        each.get_by_test_id("tab-versions").click()
    versions, standing = page.get_by_test_id("version"), page.get_by_test_id("standing")
    expect(versions).to_have_count(2)
    expect(versions.first).to_contain_text("repaired: it raised KeyError")
    expect(versions.first).to_contain_text(
        "by gpt-4 · 1 test passed · 2 model calls · 1,000 tokens · $0.0125"
    )
    expect(changes(page, "Changes of the code")).to_have_text(
        ["−    return text\n", "+    return text[::-1]\n"]
    )
    expect(page.get_by_test_id("differences")).to_contain_text("Nothing changed.")

    tab_to(page, page.get_by_test_id("rollback"))
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("rollback-yes")).to_be_focused()
    expect(page.get_by_role("group", name="Roll reverse_text back to version 1?")).to_contain_text(
        "This creates version 3"
    )
    assert flaws(page, "versions, and a question") == []  # leaves the page narrow
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("rollback")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    for each in (page, other):
        expect(each.get_by_test_id("version")).to_have_count(3)
        expect(each.get_by_test_id("version").first).to_contain_text("rolled back to version 1")
        expect(changes(each, "Changes of the code")).to_have_text(
            ["−    return text[::-1]\n", "+    return text\n"]
        )
    page.get_by_test_id("compare-from").select_option("1")
    expect(page.get_by_test_id("differences").locator(".step-note")).to_have_text(
        ["Nothing changed."] * 2
    )

    other.get_by_test_id("version").last.get_by_test_id("rollback").click()
    other.keyboard.press("Enter")
    expect(other.get_by_test_id("change-problem")).to_contain_text("has changed meanwhile")

    for name, badge in (("Retire", "retired"), ("Restore", "provisional")):
        expect(standing).to_have_text(name)
        standing.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        for each in (page, other):
            expect(each.locator(".tool-heading").get_by_test_id("badge")).to_have_text(badge)
        expect(standing).to_be_focused()

    page.get_by_test_id("standing").click()
    page.keyboard.press("Enter")
    page.get_by_test_id("tool-back").click()
    expect(page.get_by_test_id("tool-row")).to_have_count(1)
    page.get_by_test_id("tools-kind").select_option("retired")
    expect(page.locator("[data-tool=reverse_text]").get_by_test_id("badge")).to_have_text("retired")
    assert page.evaluate(OVERFLOW) <= 0
