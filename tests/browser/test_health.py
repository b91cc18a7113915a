"""The health of the library in Chromium on an engine that plays."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import WIDE, ask, flaws, open_page
from tests.browser.test_proposals import picture

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def test_twins_are_merged_an_unused_tool_retires_and_both_are_undone(link: str, page: Page) -> None:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    open_page(page, link)
    for name in ("sum_of_two", "reverse_text"):
        ask(page, f"born {name}")
    page.get_by_test_id("tab-library").click()
    health = page.get_by_test_id("health")
    health.get_by_role("button", name="Health of the library").click()
    expect(health).to_contain_text("They agree on 24 inputs, 9 of them from earlier answers.")
    expect(health).to_contain_text("Its tests notice 3 of 8 changes to its code.")
    expect(health).to_contain_text("A call takes 4.2 s, the usual tool’s 0.06 s.")
    picture(page, "health")
    assert flaws(page, "the health of the library") == []
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]

    twins = health.locator("[data-kind=twins]")
    twins.get_by_role("button", name="Merge").click()
    done = page.get_by_test_id("health-done")
    expect(done).to_have_text("sum_of_two is merged into add. Searches find add in its place.")
    expect(twins).to_have_count(0)
    row = page.get_by_test_id("tool-row").and_(page.locator("[data-tool=sum_of_two]"))
    expect(row).to_have_count(0)  # the list has no retired ones
    page.get_by_test_id("health-undo").click()
    expect(twins).to_have_count(1)
    expect(row).to_have_count(1)

    unused = health.get_by_role("button", name="Retire: reverse_text")
    unused.click()
    expect(done).to_have_text("reverse_text is retired. Searches no longer find it.")
    page.get_by_test_id("health-undo").click()
    expect(unused).to_have_count(1)

    health.get_by_role("button", name="Add tests: add").click()
    expect(page.get_by_role("heading", name="add", exact=True)).to_be_visible()
