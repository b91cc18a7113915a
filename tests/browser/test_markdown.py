"""Answers that no renderer should get, in Chromium: the conversation outlives them, and nothing in
them fetches.
"""

import base64
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from selfeng.core.events import FilesMade, TurnFinished, TurnStarted
from selfeng.core.files import File
from selfeng.store.database import open_database
from selfeng.store.journal import Journal, JournalEntry
from tests.browser.test_page import ask, open_page
from tests.web.server_process import ServerProcess
from web.access import PERSON

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

BREAKING = (
    ">" * 6000,
    "*_" * 4000,
    "[" * 9000,
    "<b>" * 4000,
    "|a" * 9000,
    "~a*b**c" * 2000,
    "<details>" * 2000,
    "`" * 9000,
)
FETCHING = (
    "<table background=http://198.51.100.1/a><td background=http://198.51.100.1/b>x</table>",
    "<blockquote cite=http://198.51.100.1/c poster=http://198.51.100.1/d>x</blockquote>",
    "<a ping=http://198.51.100.1/e href=https://example.org/>x</a>",
    "<div lowsrc=http://198.51.100.1/f dynsrc=http://198.51.100.1/g data=http://198.51.100.1/h "
    "srcset=http://198.51.100.1/i>x</div>",
    "<body background=http://198.51.100.1/j><input type=image src=http://198.51.100.1/k>x",
    "<svg><image href=http://198.51.100.1/l xlink:href=http://198.51.100.1/m /></svg>x",
    "<area href=https://example.org/>x",
    "<p onclick=a()>x</p><img alt=x src=http://198.51.100.1/n onerror=b()>",
)


def answered(page: Page, number: int) -> None:
    expect(page.locator("[data-testid=turn][data-state=done]")).to_have_count(number)


@pytest.mark.extended
def test_a_conversation_outlives_answers_that_no_renderer_copes_with(link: str, page: Page) -> None:
    open_page(page, link)
    for number, text in enumerate(BREAKING, 1):
        ask(page, f"say {text}")
        answered(page, number)
    for _ in range(2):
        answers = page.get_by_test_id("answer")
        expect(answers).to_have_count(len(BREAKING))
        expect(answers.first).to_have_text(BREAKING[0])
        page.reload()
    ask(page, "say **well**")
    expect(page.get_by_test_id("answer").last.locator("strong")).to_have_text("well")


@pytest.mark.extended
def test_no_attribute_that_fetches_survives_even_without_the_policy(
    link: str, unguarded: Page
) -> None:
    page = unguarded
    fetched: list[str] = []
    page.on(
        "request", lambda request: fetched.append(request.url) if "198.51" in request.url else None
    )
    open_page(page, link)
    for number, text in enumerate(FETCHING, 1):
        ask(page, f"recite {text}")
        answered(page, number)
    assert (
        page.locator("[data-testid=answer] *").evaluate_all(
            "(all) => all.flatMap((e) => e.getAttributeNames()).filter((n) => !['class', 'dir', "
            "'href', 'target', 'rel', 'tabindex'].includes(n))"
        )
        == []
    )
    assert page.locator("[data-testid=answer] [href]:not(a)").count() == 0
    assert fetched == []


HERE = Path(__file__).parent
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
# Copy buttons away; of a formula its TeX, of a diagram its size.
SHOWN = """(answers) => answers.map((answer) => {
  const shown = answer.querySelector(".markdown").cloneNode(true);
  shown.querySelectorAll(".answer-code > div:has(button)").forEach((e) => e.remove());
  shown.querySelectorAll(".formula").forEach((e) => {
    e.textContent = e.querySelector("math annotation").textContent;
  });
  shown.querySelectorAll("img").forEach((e) => {
    if (!e.src.startsWith("data:image/svg+xml,")) e.setAttribute("src", e.src.split("/").at(-1));
    else e.setAttribute("src", decodeURIComponent(e.src).match(/>[^<>{}]+(?=<)/g).join(" "));
  });
  return shown.innerHTML.trim();
})"""


def answers(file: str) -> dict[str, str]:
    parts = (HERE / file).read_text("utf-8").split("=== ")[1:]
    return {name: text.strip("\n") for name, _, text in (part.partition("\n") for part in parts)}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page with a conversation whose answers are those of answers.txt."""
    folder = tmp_path_factory.mktemp("answers")
    picture = File(name="chart.png", content=PICTURE)
    made = FilesMade(tool="draw", files=(picture.reference(),), contents=(picture,))
    database = open_database(f"sqlite:///{folder / 'agent.db'}")
    journal = Journal(database)
    conversation, now = journal.create_conversation(PERSON, "Answers"), datetime.now(UTC)
    for name, text in answers("answers.txt").items():
        turn = journal.begin_turn(conversation, name, started=TurnStarted(request=name))
        events = (*((made,) if "chart.png" in text else ()), TurnFinished(answer=text))
        journal.append([JournalEntry(conversation, turn, now, event) for event in events])
    database.dispose()
    server = ServerProcess(folder, "threading")
    yield server.link
    assert server.end() == (0, "")


def test_answers_are_displayed_whole(corpus: str, page: Page) -> None:
    open_page(page, corpus)
    page.get_by_test_id("conversation-row").click()
    expected = answers("answers.html")
    shown = page.get_by_test_id("answer")
    expect(shown).to_have_count(50)  # the newest
    messages = page.get_by_role("region", name="Messages")
    while shown.count() < len(answers("answers.txt")):  # formulas that come late scroll down again
        messages.evaluate("(region) => (region.scrollTop = 0)")
        page.wait_for_timeout(100)
    expect(page.get_by_test_id("earlier")).to_have_count(0)
    expect(page.locator("code.math")).to_have_count(2)  # those that are not TeX
    expect(page.locator("img.diagram")).to_have_count(1)
    expect(page.locator("code.language-rust .hljs-keyword").first).to_be_visible()
    displayed = dict(zip(answers("answers.txt"), shown.evaluate_all(SHOWN), strict=True))
    if os.environ.get("UPDATE_SNAPSHOTS"):
        text = "".join(f"=== {name}\n{markup}\n" for name, markup in displayed.items())
        (HERE / "answers.html").write_text(text, "utf-8")
    else:
        assert displayed == expected
