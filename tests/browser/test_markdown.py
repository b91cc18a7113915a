"""Answers that no renderer should get, in Chromium: the conversation outlives them, and nothing in
them fetches.
"""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import ask, open_page

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
            "(all) => all.flatMap((e) => e.getAttributeNames()).filter((n) => !['class', 'href', "
            "'target', 'rel', 'tabindex'].includes(n))"
        )
        == []
    )
    assert page.locator("[data-testid=answer] [href]:not(a)").count() == 0
    assert fetched == []
