"""Below the composer in Chromium: the model of a conversation, a temporary one, and what was spent."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from selfeng.core.events import TurnFinished
from selfeng.core.stage_event import Usage
from selfeng.store.database import open_database
from selfeng.store.journal import Journal, JournalEntry
from tests.browser.test_page import NARROW, WIDE, ask, finished, flaws, open_page
from tests.engine.test_own_models import AnyModel, Noting
from tests.home import bare_home, serving
from tests.store.test_spending import NOW, Turns
from web.access import PERSON

pytestmark = [pytest.mark.bubblewrap, pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def author() -> Noting:
    return Noting()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def link(folder: Path, author: Noting) -> Iterator[str]:
    home = bare_home(folder, bubblewrap=True)
    with AnyModel(author, models=("usual", "other"), delay=0) as model:
        server = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": model.api_key}
        with serving(home, **server, OPENAI_MODEL="usual", MONTH_MAX_COST="20") as link:
            yield link


def test_a_conversation_gets_another_model_by_keyboard_and_keeps_it(
    link: str, page: Page, author: Noting
) -> None:
    open_page(page, link)
    switch = page.get_by_test_id("model-switch")
    expect(switch).to_have_accessible_name("Model: usual")
    switch.focus()
    page.keyboard.press("Enter")
    items = page.get_by_role("menuitemradio")
    expect(items).to_have_text(["usual (settings)", "other"])
    expect(items.first).to_be_focused()
    expect(items.first).to_have_attribute("aria-checked", "true")
    assert flaws(page, "menu of models", [NARROW, WIDE]) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(switch).to_be_focused()
    expect(switch).to_have_accessible_name("Model: other")
    ask(page, "Hello!")
    finished(page)
    assert author.take() == {"other"}
    page.reload()
    expect(switch).to_have_accessible_name("Model: other")
    page.get_by_test_id("new-conversation").click()
    expect(switch).to_have_accessible_name("Model: usual")
    page.get_by_test_id("conversation-row").click()
    expect(switch).to_have_accessible_name("Model: other")
    switch.click()
    items.first.click()
    expect(switch).to_have_accessible_name("Model: usual")
    ask(page, "Thanks!")
    finished(page, 2)
    assert author.take() == {"usual"}


def test_a_temporary_conversation_outlives_a_reload_and_is_deleted(link: str, page: Page) -> None:
    open_page(page, link)
    rows = page.get_by_test_id("conversation-row").count()
    toggle, note = page.get_by_test_id("temporary"), page.get_by_test_id("temporary-note")
    expect(note).to_have_count(0)
    page.keyboard.press("Control+k")
    page.get_by_test_id("palette-input").fill("temporary")
    page.keyboard.press("Enter")
    expect(note).to_contain_text("tools that it builds stay")
    expect(toggle).to_have_attribute("aria-pressed", "true")
    assert flaws(page, "temporary", [NARROW, WIDE]) == []
    toggle.click()
    expect(note).to_have_count(0)
    toggle.click()
    ask(page, "Hello!")
    finished(page)
    expect(toggle).to_have_count(0)
    page.reload()
    finished(page)
    expect(note).to_be_visible()
    expect(page.get_by_test_id("conversation-row")).to_have_count(rows)
    page.get_by_test_id("temporary-delete").click()
    expect(page.get_by_test_id("turn")).to_have_count(0)
    expect(note).to_have_count(0)
    page.go_back()
    page.reload()
    expect(page.get_by_test_id("missing")).to_be_visible()


def test_cost_is_shown_by_conversation_and_month_with_what_reuse_saved(
    link: str, page: Page, folder: Path
) -> None:
    database = open_database(f"sqlite:///{folder / 'home' / 'data' / 'agent.db'}")
    turns = Turns(database)
    turns.add("slugify")
    turns.build("slugify", Usage(calls=5, input_tokens=90_000, output_tokens=10_000, cost=2.5))
    usage = Usage(calls=2, input_tokens=4_000, output_tokens=1_000, cost=0.0123)
    answered = TurnFinished(answer="slug", usage=usage, reused=("slugify",))
    mine = turns.run(answered, owner=PERSON)
    journal = Journal(database)
    turn = journal.begin_turn(mine, "free")
    free = TurnFinished(answer="", usage=Usage(calls=1, input_tokens=500))
    journal.append([JournalEntry(mine, turn, NOW, free)])
    database.dispose()
    open_page(page, link)
    page.goto(f"{link.partition('?')[0]}#{mine}")
    cost = page.get_by_test_id("conversation-cost")
    expect(cost).to_have_text("$0.0123")
    expect(cost).to_have_attribute("title", "Cost of this conversation: 5,500 tokens")
    page.get_by_test_id("open-settings").click()
    row = page.get_by_test_id("spending").get_by_role("row").nth(1)
    expect(row).to_contain_text(re.compile(r"\$0\.0123.*\$2\.4877 · 95,000 tokens"))
    limit = page.get_by_test_id("spending-limit")
    expect(limit).to_have_text("This month, everybody’s requests cost $0.0123 of $20.00.")
    accounts = page.get_by_test_id("tool-accounts")
    accounts.get_by_role("button").click()
    account = accounts.get_by_role("row").nth(1)
    saved = r"slugify.*\$2\.50 · 100,000 tokens.*1.*\$2\.4877 · 95,000 tokens"
    expect(account).to_contain_text(re.compile(saved))
    assert flaws(page, "spending", [WIDE, NARROW]) == []
