"""Actions on a turn that has ended, and by keyboard alone."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_files import attach
from tests.browser.test_markdown import answered
from tests.browser.test_page import NARROW, ask, flaws, open_page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

CODE = "recite Like **this**:\n```python\nprint(1)\n```"
CLIPBOARD = "() => navigator.clipboard.readText()"


def test_a_turn_is_copied_asked_again_and_edited_with_its_files(link: str, page: Page) -> None:
    page.set_viewport_size(NARROW)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_page(page, link)
    ask(page, CODE)
    answered(page, 1)
    page.get_by_role("button", name="Copy: the answer").click()
    assert page.evaluate(CLIPBOARD).startswith("Like **this**:")
    page.get_by_role("button", name="Copy: code block 1").click()
    assert page.evaluate(CLIPBOARD).strip() == "print(1)"

    attach(page, ("data.csv", "a\n1"))
    ask(page, "say back")
    answered(page, 2)
    page.get_by_test_id("ask-again").last.click()
    expect(page.get_by_test_id("versions")).to_have_text("2 of 2")
    answered(page, 2)
    turn, composer = page.get_by_test_id("turn").last, page.get_by_test_id("composer")
    expect(turn.get_by_test_id("request-file")).to_contain_text("data.csv")
    expect(turn.get_by_test_id("made-files")).to_contain_text("data.csv")

    composer.focus()
    page.keyboard.press("ArrowUp")
    expect(composer).to_have_value("say back")
    expect(page.get_by_test_id("attached-file")).to_contain_text("data.csv")
    page.get_by_test_id("edit-request").first.click()
    expect(composer).to_have_value(CODE)
    expect(composer).to_be_focused()
    expect(page.get_by_test_id("attached-file")).to_have_count(0)
    assert flaws(page, "turns with their actions") == []


def test_an_edited_request_begins_a_branch_beside_the_first(link: str, page: Page) -> None:
    open_page(page, link)
    composer, versions = page.get_by_test_id("composer"), page.get_by_test_id("versions")
    requests = page.get_by_test_id("request")
    for number, request in enumerate(("say one", "say two", "say three"), 1):
        ask(page, request)
        answered(page, number)
    page.get_by_test_id("edit-request").nth(1).click()
    expect(page.get_by_test_id("edits")).to_be_visible()
    page.get_by_test_id("cancel-edit").click()
    expect(composer).to_have_value("")
    page.get_by_test_id("edit-request").nth(1).click()
    composer.fill("say 2")
    composer.press("Enter")
    expect(requests).to_have_text(["say one", "say 2"])
    expect(versions).to_have_text("2 of 2")
    answered(page, 2)
    assert flaws(page, "versions of a request") == []

    page.get_by_test_id("older-version").press("Enter")
    expect(requests).to_have_text(["say one", "say two", "say three"])
    expect(page.get_by_test_id("newer-version")).to_be_focused()
    expect(page.get_by_role("status").filter(has_text="Version 1 of 2 is shown.")).to_have_count(1)
    page.reload()
    expect(requests).to_have_text(["say one", "say two", "say three"])
    ask(page, "say four")
    expect(requests).to_have_text(["say one", "say two", "say three", "say four"])
    answered(page, 4)
    page.get_by_test_id("newer-version").click()
    expect(requests).to_have_text(["say one", "say 2"])
    page.get_by_test_id("older-version").click()
    page.get_by_test_id("fork").nth(2).click()
    expect(requests).to_have_text(["say one", "say two", "say three"])
    expect(versions).to_have_count(0)
    ask(page, "say five")
    answered(page, 4)


def test_a_long_request_folds_until_it_is_opened(link: str, page: Page) -> None:
    page.set_viewport_size(NARROW)
    open_page(page, link)
    ask(page, "recite " + "word " * 400)
    answered(page, 1)
    request, more = page.get_by_test_id("request"), page.get_by_test_id("request-more")
    folded = request.evaluate("(one) => one.clientHeight < one.scrollHeight")
    assert folded
    assert flaws(page, "a long request") == []
    page.set_viewport_size(NARROW)
    more.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "true")
    assert request.evaluate("(one) => one.clientHeight === one.scrollHeight")


def test_the_shortcuts_are_listed_stop_a_turn_and_begin_a_conversation(
    link: str, page: Page
) -> None:
    page.set_viewport_size(NARROW)
    open_page(page, link)
    ask(page, "hold the door")
    turn, composer = page.get_by_test_id("turn"), page.get_by_test_id("composer")
    expect(turn.get_by_test_id("now")).to_be_visible()
    page.keyboard.press("Control+/")
    dialog = page.get_by_test_id("shortcuts")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_text("New conversation")).to_be_visible()
    assert flaws(page, "the shortcuts") == []
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(turn).to_have_attribute("data-state", "running")
    page.keyboard.press("Escape")
    expect(turn).to_have_attribute("data-state", "stopped")

    page.get_by_test_id("view-library").click()
    page.keyboard.press("/")
    expect(composer).to_be_focused()
    page.keyboard.type("a/b")
    expect(composer).to_have_value("a/b")
    page.keyboard.press("Control+Shift+O")
    expect(turn).to_have_count(0)
    expect(composer).to_be_focused()


def test_each_conversation_keeps_its_draft_also_over_a_reload(link: str, page: Page) -> None:
    open_page(page, link)
    composer = page.get_by_test_id("composer")
    ask(page, "say hello")
    answered(page, 1)
    composer.fill("for the first")
    page.keyboard.press("Control+Shift+O")
    expect(composer).to_have_value("")
    composer.fill("for a new one")
    page.go_back()
    expect(composer).to_have_value("for the first")
    page.reload()
    expect(composer).to_have_value("for the first")
    page.get_by_test_id("new-conversation").click()
    expect(composer).to_have_value("for a new one")


HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
ASKABLE = """window.Notification = class {
  static permission = "default";
  static async requestPermission() { return (this.permission = "granted"); }
};"""


def test_a_hidden_tab_shows_that_a_turn_has_ended(link: str, page: Page, second_page: Page) -> None:
    page.add_init_script(ASKABLE)
    open_page(page, link)
    name, icon = page.title(), page.locator("link[rel=icon]")
    ask(page, "hold the line")
    page.get_by_test_id("notify").click()
    expect(page.get_by_test_id("notify")).to_have_count(0)
    page.evaluate(HIDE, True)
    open_page(second_page, link)
    ask(second_page, "release the line")
    answered(page, 1)
    expect(page).to_have_title("(1) Done: hold the line")
    expect(icon).to_have_attribute("href", "/static/icon-unseen.svg")
    page.evaluate(HIDE, False)
    expect(page).to_have_title(name)
    expect(icon).to_have_attribute("href", "/static/icon.svg")
