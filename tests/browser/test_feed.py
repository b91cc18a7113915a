"""The steps of a turn as a person reads them: folded, opened, searched, filtered, and reached from
the bar of the turn's stages and by a link.
"""

import re

import pytest
from playwright.sync_api import Page, expect

from selfeng_offline.completion import Completion
from tests.browser.test_page import (
    IMPLEMENT,
    NARROW,
    WIDE,
    ask,
    ended,
    flaws,
    open_page,
    opened,
    step,
    theatre,
)
from tests.doubles import fenced

__all__ = ["theatre"]

pytestmark = [pytest.mark.bubblewrap, pytest.mark.browser, pytest.mark.timeout(240)]

BUILD = "Count the vowels of 'hello world'"
WRONG = Completion(content=fenced("def count_vowels(text: str) -> int:\n    return len(text)\n"))
MARKED = "() => [...CSS.highlights].map(([name, places]) => [name, places.size]).toSorted()"


def lines(page: Page) -> list[list[str | None]]:
    """Kind, state, whether it is open, and outcome of each step that shows."""
    return page.get_by_test_id("step").evaluate_all(
        """(all) => all.map((one) => [
          one.dataset.step, one.dataset.state, one.dataset.open,
          one.querySelector("[data-testid=step-outcome]")?.textContent ?? null,
        ])"""
    )


def focused(page: Page) -> str:
    return page.evaluate("() => document.activeElement.closest('[data-path]')?.dataset.path ?? ''")


@pytest.mark.extended
def test_a_build_that_is_repaired_is_read_folded_and_opened_where_one_wants(theatre, page: Page):
    theatre.stage.plays({IMPLEMENT: WRONG})
    open_page(page, theatre.link)
    ask(page, BUILD)
    ended(page, 1, "done")
    kinds = [(kind, state, is_open) for kind, state, is_open, _ in lines(page)]
    assert kinds == [
        ("search", "done", "false"),
        ("no_tool_found", "done", "false"),
        ("specify", "done", "false"),
        ("test", "done", "false"),
        ("stub", "done", "false"),
        ("implement", "done", "false"),
        ("verify", "failed", "true"),
        ("implement", "done", "false"),
        ("verify", "done", "false"),
        ("strengthen", "done", "false"),
        ("register", "done", "false"),
        ("execute", "done", "false"),
        ("respond", "done", "false"),
    ]
    told = {kind: outcome for kind, _, _, outcome in lines(page)}
    assert told["specify"] == "count_vowels(text: str) -> int"
    assert told["stub"] == "all 5 fail, as they should"
    assert told["verify"] == "5 of 5 passed"
    assert told["execute"] == "count_vowels → 3"
    found = flaws(page, "folded steps")
    page.set_viewport_size(WIDE)

    # The bar leads to a step, which opens and takes the focus.
    bar = page.get_by_test_id("progress")
    assert bar.locator("li").evaluate_all(
        "(all) => all.map((one) => [one.dataset.stage, one.dataset.state])"
    ) == [
        [stage, "done"]
        for stage in (
            "search", "specify", "test", "implement", "verify", "repair", "strengthen", "register",
            "prepare", "execute", "respond",
        )
    ]  # fmt: skip
    bar.get_by_role("button", name="Specification").focus()
    page.keyboard.press("Enter")
    expect(step(page, "specify")).to_have_attribute("data-open", "true")
    expect(step(page, "specify").get_by_label("Signature", exact=True)).to_be_in_viewport()
    assert focused(page) == "specify-1"
    page.keyboard.press("Enter")  # closes it again
    expect(step(page, "specify")).to_have_attribute("data-open", "false")

    # Opened steps stay open over a look at another view, and all steps at once.
    opened(page, "execute")
    page.get_by_test_id("tab-library").click()
    page.get_by_test_id("tab-activity").click()
    expect(step(page, "execute")).to_have_attribute("data-open", "true")
    page.get_by_test_id("activity-more").click()
    page.get_by_test_id("expand-steps").click()
    expect(page.locator("[data-testid=step][data-bare=false][data-open=false]")).to_have_count(0)
    found += flaws(page, "open steps")
    page.set_viewport_size(WIDE)
    page.get_by_test_id("activity-more").click()
    page.get_by_test_id("toggle-errors").click()
    expect(page.get_by_test_id("step")).to_have_count(1)
    expect(page.get_by_test_id("test-row").first).to_be_visible()
    found += flaws(page, "errors only")
    page.set_viewport_size(WIDE)
    page.get_by_role("button", name="Show all", exact=True).click()
    page.get_by_test_id("activity-more").click()
    page.get_by_test_id("collapse-steps").click()
    expect(page.locator("[data-testid=step][data-open=true]")).to_have_count(0)
    assert found == []


@pytest.mark.extended
def test_steps_are_searched_in_outcomes_code_and_output(theatre, page: Page):
    theatre.stage.plays({})
    open_page(page, theatre.link)
    ask(page, "Reverse the string 'hello world'")
    ended(page, 1, "done")
    page.get_by_test_id("search-steps").click()
    field = page.get_by_test_id("feed-search")
    expect(field).to_be_focused()
    page.keyboard.type("DLROW")
    place = page.get_by_test_id("feed-found")
    expect(place).to_have_text(re.compile(r"^1 of \d+$"))
    count = int(place.inner_text().split()[-1])
    assert count > 1
    expect(step(page, "execute")).to_have_attribute("data-open", "true")
    assert page.evaluate(MARKED) == [["found", count - 1], ["found-here", 1]]
    page.keyboard.press("Enter")
    expect(place).to_have_text(f"2 of {count}")
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    expect(place).to_have_text(f"{count} of {count}")
    expect(field).to_be_focused()
    assert flaws(page, "a search in the steps") == []
    page.set_viewport_size(WIDE)
    field.fill("nowhere in there")
    expect(place).to_have_text("Not found")
    assert page.evaluate(MARKED) == [["found", 0], ["found-here", 0]]
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    expect(page.get_by_test_id("search-steps")).to_be_focused()
    expect(step(page, "execute")).to_have_attribute("data-open", "false")


@pytest.mark.extended
def test_a_link_leads_to_a_step(theatre, page: Page, second_page: Page):
    theatre.stage.plays({})
    open_page(page, theatre.link)
    ask(page, "Convert 25 degrees Celsius to Fahrenheit")
    ended(page, 1, "done")
    ask(page, "Convert 30 degrees Celsius to Fahrenheit")
    ended(page, 2, "done")
    bar = page.get_by_test_id("progress")
    expect(bar).to_have_count(1)  # a reuse has none
    bar.get_by_role("button", name="Tests", exact=False).first.click()
    link = step(page, "test").get_by_role("link", name="Link to this step")
    address = link.evaluate("(a) => a.href")
    second_page.set_viewport_size(NARROW)
    second_page.goto(address)
    expect(step(second_page, "test")).to_have_attribute("data-open", "true")
    expect(step(second_page, "test").get_by_text("def test_").first).to_be_in_viewport()
    assert focused(second_page) == "test-1"
    second_page.reload()
    expect(step(second_page, "test")).to_be_in_viewport()
    expect(page.get_by_test_id("turn")).to_have_count(2)
