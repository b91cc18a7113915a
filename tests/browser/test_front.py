"""The front of the page: the command palette, requests that wait for the connection, and requests
that no tool can serve as they are.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.test_page import NARROW, OVERFLOW, ask, finished, flaws, open_page
from tests.home import seeded_home, serving

pytestmark = [pytest.mark.bubblewrap, pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def link(tmp_path_factory) -> Iterator[str]:
    """The page on the offline model and bubblewrap, with the seed tools."""
    home = seeded_home(tmp_path_factory.mktemp("front") / "home")
    with serving(home) as link:
        yield link


# Both keys before the dialog's event of the first, as from a quick hand on a busy machine.
CLOSE_AND_OPEN_AT_ONCE = """async () => {
  const press = () => document.activeElement.dispatchEvent(
    new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true, cancelable: true }));
  press();
  await new Promise((done) => queueMicrotask(() => queueMicrotask(done)));
  press();
}"""


def test_the_palette_leads_by_keyboard_to_a_tool_a_conversation_and_a_command(link, page: Page):
    open_page(page, link)
    ask(page, "How many words are in 'zum Café'?")
    expect(page.get_by_test_id("turn")).to_have_attribute("data-state", "done")
    page.keyboard.press("Control+Shift+O")
    expect(page.get_by_test_id("turn")).to_have_count(0)

    palette, field = page.get_by_test_id("palette"), page.get_by_test_id("palette-input")
    page.keyboard.press("Control+k")
    expect(field).to_be_focused()
    assert flaws(page, "the command palette") == []  # which leaves the page narrow and dark
    page.keyboard.type("zum cafe")
    option = page.get_by_test_id("palette-option")
    expect(option.first).to_contain_text("zum Café")
    expect(field).to_have_attribute("aria-activedescendant", "palette-option-0")
    page.keyboard.press("Enter")
    expect(palette).to_have_count(0)
    expect(page.get_by_test_id("request")).to_contain_text("zum Café")

    page.keyboard.press("Control+k")
    page.keyboard.type("prcnt chng")
    expect(option.first).to_contain_text("percentage_change")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("tool-detail")).to_contain_text("percentage_change")

    page.keyboard.press("Control+k")
    expect(option.first).to_contain_text("percentage_change")  # what was used last comes first
    page.keyboard.press("Control+k")
    expect(palette).to_have_count(0)
    page.keyboard.press("Control+k")
    page.evaluate(CLOSE_AND_OPEN_AT_ONCE)
    page.wait_for_timeout(100)
    expect(field).to_be_focused()
    page.keyboard.type("language")
    page.keyboard.press("Enter")
    page.get_by_test_id("settings-language").select_option("de")
    expect(page.locator("html")).to_have_attribute("lang", "de")


def test_the_palette_fits_a_narrow_page_and_makes_a_request_of_what_it_does_not_know(link, page):
    page.set_viewport_size(NARROW)
    open_page(page, link)
    page.get_by_test_id("open-palette").click()
    page.get_by_test_id("palette-input").fill("Is 97 prime?")
    option = page.locator("[data-testid=palette-option][data-kind=ask]")
    expect(option).to_contain_text("Is 97 prime?")
    assert page.evaluate(OVERFLOW) <= 0
    option.click()
    expect(page.get_by_test_id("composer")).to_be_focused()
    page.keyboard.press("Enter")
    expect(finished(page)).to_contain_text("97")


@pytest.fixture
def traveller(browser: Browser) -> Iterator[Page]:
    """A page that may lose its network, which the console complains about."""
    context = browser.new_context(reduced_motion="reduce")
    yield context.new_page()
    context.close()


def test_a_request_waits_for_the_connection_and_is_sent_once_also_after_a_reload(link, traveller):
    page = traveller
    open_page(page, link)
    ask(page, "How many words are in 'one two'?")
    finished(page)
    here = page.url

    page.context.set_offline(True)
    expect(page.get_by_test_id("banner")).to_be_visible()
    note = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"one two three"}
    page.get_by_test_id("file-input").set_input_files([note])
    ask(page, "How many words are in 'one two three'?")
    ask(page, "Is 97 prime?")
    waits = page.get_by_test_id("pending-waits")
    expect(waits).to_have_count(2)
    expect(waits.first).to_contain_text("Will be sent when the connection is back")
    page.get_by_test_id("pending-cancel").last.click()
    expect(waits).to_have_count(1)

    page.goto("about:blank")
    page.context.set_offline(False)
    for _ in range(2):  # the second time nothing is left to be sent
        page.goto(here)
        expect(finished(page, turns=2)).to_contain_text("3 words")
        expect(page.get_by_test_id("request-file")).to_have_text("note.txt13 B")
        expect(page.get_by_test_id("pending")).to_have_count(0)
        page.goto("about:blank")

    page.goto(here)
    expect(page.get_by_test_id("turn")).to_have_count(2)
    page.context.set_offline(True)
    expect(page.get_by_test_id("banner")).to_be_visible()
    ask(page, "Is 97 prime?")
    expect(waits).to_have_count(1)
    page.context.set_offline(False)
    expect(finished(page, turns=3)).to_contain_text("97")
    expect(page.get_by_test_id("pending")).to_have_count(0)


def test_a_request_that_lacks_a_value_opens_the_form_of_its_tool(link, page: Page):
    open_page(page, link)
    ask(page, "What is 20 percent?")
    form = page.get_by_test_id("lacking")
    expect(form).to_contain_text("calculate_percentage can do this. What is missing?")
    expect(form.get_by_test_id("run-percentage")).to_have_value("20")
    assert flaws(page, "the form for what a request lacks") == []
    form.get_by_test_id("run-number").fill("45")
    page.keyboard.press("Enter")
    expect(finished(page, turns=2)).to_contain_text("9")
    expect(form).to_have_count(0)


def test_what_can_t_be_done_is_told_calmly_and_offers_only_tools_that_are_near(link, page: Page):
    open_page(page, link)
    ask(page, "Hello!")
    expect(finished(page)).to_contain_text("Hello!")
    ask(page, "What will the weather be in Rome?")
    expect(page.get_by_test_id("turn-declined")).to_contain_text("I can’t do this yet")
    expect(page.get_by_test_id("turn-declined")).to_have_attribute("data-tone", "calm")
    expect(page.get_by_test_id("turn-declined").get_by_role("button")).to_have_text(
        ["Rephrase", "Settings"]
    )
    expect(page.get_by_test_id("turn-failure")).to_have_count(0)
    ask(page, "Is 97 a prime number in the ring of Gaussian integers?")
    near = page.get_by_test_id("turn-declined").last.get_by_role("button", name="is_prime")
    near.click()
    expect(page.get_by_test_id("tool-detail")).to_contain_text("is_prime")
