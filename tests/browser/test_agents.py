"""Agents on the page, with an engine that plays them: their work nested and live, and questions as
a form that is usable by keyboard.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import NARROW, OVERFLOW, WIDE, ask, flaws, open_page
from tests.web.server_process import ServerProcess

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture
def link(tmp_path) -> Iterator[str]:
    server = ServerProcess(tmp_path, "threading")
    yield server.link
    assert server.end() == (0, "")


@pytest.mark.extended
def test_the_work_of_agents_is_followed_and_questions_are_answered(link: str, page: Page):
    open_page(page, link)
    ask(page, "delegate once")
    work = page.get_by_test_id("activity").locator("[data-step=delegation] [data-step=delegation]")
    run = work.locator("[data-step=code_run]")
    expect(run).to_have_attribute("data-state", "running")
    expect(run).to_contain_text("print('hi')")
    expect(page.get_by_test_id("now")).to_contain_text("Running code in the sandbox")
    page.set_viewport_size(NARROW)
    page.get_by_test_id("now").get_by_role("button", name="Running code").click()
    assert page.evaluate(OVERFLOW) <= 0
    page.set_viewport_size(WIDE)

    ask(page, "release once")
    first = page.get_by_test_id("turn").first
    expect(first.get_by_test_id("answer")).to_contain_text("Done.")
    first.get_by_role("button", name="Activity").click()
    for name in ("Handed to the user proxy : done", "Handed to the coder : done", "Code : done"):
        page.get_by_test_id("activity").get_by_role("button", name=name, exact=True).click()
    expect(work.get_by_test_id("printed")).to_have_text("hi\n")
    expect(work.get_by_test_id("reply")).to_contain_text("It prints hi.")
    assert flaws(page, "the work of agents") == []
    page.set_viewport_size(WIDE)

    ask(page, "question")
    form = page.get_by_test_id("questions")
    expect(form.get_by_role("radio", name="metre")).to_be_checked()
    assert flaws(page, "questions") == []
    page.set_viewport_size(WIDE)
    form.get_by_role("radio", name="metre").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.type("2.5")
    page.keyboard.press("Enter")
    last = page.get_by_test_id("turn").last
    expect(page.get_by_test_id("answered").get_by_role("term")).to_have_text(
        ["Which unit?", "How many digits?"]
    )
    expect(page.get_by_test_id("answered").get_by_role("definition")).to_have_text(["foot", "2.5"])
    expect(last.get_by_test_id("answer")).to_contain_text("unit=foot")
    expect(last.get_by_test_id("answer")).to_contain_text("digits=2.5")
    expect(form).to_have_count(0)
    assert flaws(page, "answers beside their request") == []
