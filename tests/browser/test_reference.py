"""The reference conversation in Chromium: real engine, real Chroma, the offline model over HTTP, a
restart in between.
"""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import opened
from tests.home import seeded_home, serving

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

STEPS = ["specify", "test", "implement", "verify", "register"]


def ask(page: Page, request: str) -> None:
    page.get_by_test_id("composer").fill(request)
    page.keyboard.press("Enter")


def open_page(page: Page, link: str) -> None:
    page.goto(link)
    expect(page.get_by_test_id("composer")).to_be_focused()
    assert "token" not in page.url


@pytest.mark.parametrize(
    "sandbox",
    [
        pytest.param("bubblewrap", marks=[pytest.mark.bubblewrap, pytest.mark.everywhere]),
        pytest.param("docker", marks=pytest.mark.docker),
    ],
)
@pytest.mark.extended
def test_the_reference_conversation_holds_over_a_restart(tmp_path, page, sandbox):
    home = seeded_home(tmp_path / "home")
    answer = page.get_by_test_id("answer").last
    with serving(home, SANDBOX=sandbox, SYNTHESIS_MUTATION_SCORE="0.5") as link:
        open_page(page, link)
        ask(page, "What is 15 percent of 300?")
        expect(answer).to_contain_text("45")
        expect(page.get_by_test_id("activity").locator("[data-step=tool_found]")).to_contain_text(
            "calculate_percentage"
        )
        expect(page.get_by_test_id("summary").last).to_contain_text("calculate_percentage")

        ask(page, "Reverse the string 'hello world'")
        expect(answer).to_contain_text("dlrow olleh")
        steps = page.get_by_test_id("activity").get_by_test_id("step")
        states = [
            (s.get_attribute("data-step"), s.get_attribute("data-state")) for s in steps.all()
        ]
        assert [s for s in states if s[0] in STEPS] == [(name, "done") for name in STEPS]
        assert ("no_tool_found", "done") in states
        opened(page, "verify")
        assert {
            row.get_attribute("data-outcome") for row in page.get_by_test_id("test-row").all()
        } >= {"passed"}
        kept = page.url
        page.goto("about:blank")  # a page without its server reports refused connections

    with serving(home, SANDBOX=sandbox, SYNTHESIS_MUTATION_SCORE="0.5") as link:
        open_page(page, link)
        page.goto(link.split("/?")[0] + "/#" + kept.partition("#")[2])
        expect(page.get_by_test_id("turn")).to_have_count(2)
        expect(answer).to_contain_text("dlrow olleh")
        ask(page, "Reverse 'Python'")
        expect(answer).to_contain_text("nohtyP")
        expect(page.get_by_test_id("activity").locator("[data-step=tool_found]")).to_contain_text(
            "reverse_string"
        )
        expect(page.get_by_test_id("activity").locator("[data-step=specify]")).to_have_count(0)
