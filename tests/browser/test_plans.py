"""A plan on the page, with an engine that plays one: live, accessible, whole after a reload, and
kept as one tool.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import NARROW, OVERFLOW, WIDE, ask, ended, flaws, open_page, opened
from tests.web.server_process import ServerProcess

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture
def link(tmp_path) -> Iterator[str]:
    server = ServerProcess(tmp_path, "threading")
    yield server.link
    assert server.end() == (0, "")


def states(page: Page) -> list[list[str | None]]:
    """Id, state and result of each step of the plan in the conversation."""
    return page.get_by_test_id("plan-part").evaluate_all(
        """(parts) => parts.map((part) => {
          const result = part.querySelector("[data-testid=plan-result]");
          return [part.dataset.part, part.dataset.state, result?.lastChild.textContent];
        })"""
    )


@pytest.mark.extended
def test_a_plan_is_followed_live_and_kept(link: str, page: Page):
    open_page(page, link)
    ask(page, "plan once")
    expect(page.locator("[data-testid=plan-part][data-part=vowels]")).to_have_attribute(
        "data-state", "running"
    )
    assert states(page) == [["reversed", "done", "cba"], ["vowels", "running", None]]
    expect(page.get_by_test_id("keep")).to_have_count(0)
    page.set_viewport_size(NARROW)
    assert page.evaluate(OVERFLOW) <= 0
    page.set_viewport_size(WIDE)
    part = page.get_by_test_id("activity").locator("[data-step=plan] [data-part=vowels]")
    expect(part.locator("[data-step=search]")).to_have_attribute("data-state", "running")

    ask(page, "release once")
    expect(page.get_by_test_id("turn")).to_have_count(2)
    first = page.get_by_test_id("turn").first
    expect(first).to_have_attribute("data-state", "done")
    for _ in range(2):
        first.get_by_role("button", name="2 of 2 steps done").click()
        assert states(page) == [["reversed", "done", "cba"], ["vowels", "done", "1"]]
        expect(first.get_by_test_id("answer")).to_contain_text("One.")
        page.reload()
        expect(page.get_by_test_id("turn").first).to_have_attribute("data-state", "done")

    first.get_by_role("button", name="Activity").click()
    opened(page, "plan")
    part.locator(".plan-request").click()
    expect(part.locator("[data-step=tool_found]")).to_contain_text("count_vowels")
    assert flaws(page, "a plan's activity") == []
    page.set_viewport_size(WIDE)

    first.get_by_test_id("keep").focus()
    page.keyboard.press("Enter")
    kept = ended(page, 3, "done")
    expect(kept.get_by_test_id("keeps")).to_have_text("Save these steps as a tool")
    expect(page.get_by_test_id("keep")).to_have_count(0)
