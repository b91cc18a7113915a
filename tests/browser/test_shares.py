"""Sharing a conversation in Chromium: the link is made, read by a stranger, and revoked."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import NARROW, OVERFLOW, ask, finished, flaws, open_page
from tests.home import bare_home, serving

pytestmark = [pytest.mark.bubblewrap, pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(bare_home(tmp_path_factory.mktemp("share"), bubblewrap=True)) as link:
        yield link


@pytest.mark.extended
def test_a_conversation_is_read_by_its_link_until_that_is_revoked(
    link: str, page: Page, stranger: Page
) -> None:
    open_page(page, link)
    ask(page, "Reverse the words of '<b>hello</b> big world'")
    finished(page)
    page.get_by_test_id("conversation-more").focus()
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="Share").press("Enter")
    expect(page.get_by_test_id("share-none")).to_be_visible()
    page.get_by_test_id("share-days").select_option("7")
    page.get_by_test_id("share-create").press("Enter")
    address = page.get_by_test_id("share-link")
    expect(address).to_be_focused()
    expect(page.get_by_test_id("share-row")).to_contain_text("Ends")
    assert flaws(page, "links of a conversation") == []

    stranger.set_viewport_size(NARROW)  # type: ignore[arg-type]
    stranger.goto(address.input_value())
    turn = stranger.get_by_test_id("shared-turn")
    expect(turn.get_by_test_id("answer")).to_contain_text("world big <b>hello</b>")
    expect(turn.get_by_test_id("birth")).to_contain_text("New tool: reverse_words")
    expect(stranger.get_by_test_id("shared-step")).to_have_count(0)
    turn.get_by_role("button", name="steps").press("Enter")
    expect(turn.locator("[data-kind=implement]")).to_contain_text("def reverse_words")
    assert stranger.evaluate(OVERFLOW) <= 0
    assert stranger.context.cookies() == []
    assert "big world" in stranger.title()
    assert flaws(stranger, "a shared conversation") == []

    page.get_by_test_id("share-renew").click()
    expect(page.get_by_test_id("share-told")).to_contain_text("as it is now")
    page.get_by_test_id("share-revoke").press("Enter")
    expect(page.get_by_test_id("share-told")).to_contain_text("opens nothing")
    expect(page.get_by_test_id("share-create")).to_be_focused()
    expect(page.get_by_test_id("share-none")).to_be_visible()
    expect(address).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("share")).to_have_count(0)
    assert stranger.request.get(stranger.url).status == 404
