"""A tool on a narrow page, in Chromium: the card of its birth, and its form to run it by hand."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import ask, open_page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def test_a_new_tool_stands_in_the_conversation_and_can_be_tried_and_opened(
    link: str, page: Page
) -> None:
    page.set_viewport_size({"width": 375, "height": 800})
    open_page(page, link)
    ask(page, "born add")
    card = page.get_by_test_id("birth")
    expect(card).to_contain_text("New tool: add")
    card.get_by_role("button", name="Details").click()
    expect(card).to_contain_text("add(text: str) -> str")
    expect(card.get_by_test_id("birth-facts")).to_contain_text(
        "1 of 1 test passed · caught 3 of 4 planted bugs · "
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    card.get_by_test_id("birth-try").click()
    expect(page.get_by_test_id("composer")).to_have_value("add the word stressed")
    card.get_by_test_id("birth-open").click()
    expect(page.get_by_test_id("tool-detail")).to_contain_text("Adds two numbers.")


def test_a_tool_is_run_by_hand_with_its_result_in_place_and_in_the_conversation(
    link: str, page: Page
) -> None:
    page.set_viewport_size({"width": 375, "height": 800})
    open_page(page, link)
    page.get_by_test_id("view-library").click()
    page.get_by_test_id("tool-row").first.click()
    form = page.get_by_test_id("run-form")
    form.get_by_test_id("run").click()
    expect(form.get_by_role("alert")).to_have_text("Needed. ")
    form.get_by_test_id("run-a").fill("2")
    page.keyboard.press("Enter")
    expect(form.get_by_test_id("run-result")).to_contain_text("Done.")
    expect(form.get_by_role("alert")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    expect(page.get_by_test_id("requests")).to_contain_text("Add 1 and 2")
    page.get_by_test_id("view-chat").click()
    expect(page.get_by_test_id("request")).to_contain_text('return {"a": 2}')
