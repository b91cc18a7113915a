"""Candidates' verdicts on tests and on each other, as the page shows them."""

import os

import pytest
from playwright.sync_api import expect

from selfeng.core.spec import SpecExample, SpecificationReply
from selfeng_offline.completion import Completion
from selfeng_offline.server import OfflineServer
from tests.browser.test_page import NARROW, WIDE, ask, finished, open_page, opened, step
from tests.doubles import fenced, specification
from tests.home import bare_home, serving
from tests.script import Script

pytestmark = [pytest.mark.bubblewrap, pytest.mark.browser, pytest.mark.timeout(240)]

IMPORT = "from double_number import double_number\n\n\n"
SUITE = "".join(
    f"def test_{name}():\n    assert double_number(number={number}) == {value}\n\n\n"
    for name, number, value in (
        ("four", 4, 8),
        ("zero", 0, 0),
        ("below", -3, -6),
        ("far", 60, 120),
        ("lie", 5, 11),
    )
)
RIGHT = "def double_number(number: int) -> int:\n    return 2 * number\n"
PLUS = "def double_number(number: int) -> int:\n    return number + number\n"
NEAR = "def double_number(number: int) -> int:\n    return 2 * number if number < 100 else 0\n"


def reply(text: str) -> Completion:
    return Completion(content=text)


def script() -> Script:
    own = SpecExample(call="double_number(number=4)", result="8")
    spec = specification().model_copy(
        update={"user_examples": (own,), "returns_description": "twice the number"}
    )
    call = Completion(function="double_number", arguments={"number": 4}, finish_reason="tool_calls")
    titled = {
        "write the specification": reply(
            SpecificationReply(outcome="tool", message="", specification=spec).model_dump_json()
        ),
        "write the tests": reply(fenced(IMPORT + SUITE)),
        "write the implementation": [
            reply(fenced(NEAR)),
            reply(fenced(RIGHT)),
            reply(fenced(PLUS)),
        ],
        "extract the arguments": call,
        "answer the person": reply("Twice 4 is **8**."),
        "learn lessons": reply('{"lessons": []}'),
    }
    return Script(titled=titled)


@pytest.mark.extended
def test_candidates_and_what_they_refute_are_shown(tmp_path, page):
    with OfflineServer(script(), delay=0) as server:
        own = {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": server.api_key,
            "OPENAI_MODEL": server.model,
        }
        with serving(
            bare_home(tmp_path, bubblewrap=True),
            SANDBOX="bubblewrap",
            SYNTHESIS_MUTATION_SCORE="0.5",
            **own,
        ) as link:
            page.set_viewport_size(WIDE)
            open_page(page, link)
            ask(page, "double 4, so 8")
            expect(finished(page)).to_contain_text("Twice 4 is 8.")

            consensus = opened(page, "compare")
            candidates = consensus.get_by_test_id("candidate")
            assert candidates.evaluate_all("all => all.map(one => one.dataset.outcome).sort()") == [
                "failed",
                "passed",
                "passed",
            ]
            refuted = candidates.filter(has_text="returns other values than most")
            expect(refuted.locator("pre").first).to_contain_text("this one returns 0")
            expect(consensus.get_by_test_id("dropped-test")).to_have_text(
                "droppedtest_lie: 3 of 3 candidates against itWhy"
            )
            expect(step(page, "strengthen")).to_contain_text("noticed 3 of 4 altered outcomes")
            opened(page, "specify")
            expect(page.get_by_text("From your request, and always counted:")).to_be_visible()

            if folder := os.environ.get("SCREENSHOTS"):
                consensus.scroll_into_view_if_needed()
                page.screenshot(path=f"{folder}/wide.png")
            page.set_viewport_size(NARROW)
            assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
            if folder:
                page.get_by_test_id("view-activity").click()
                consensus.scroll_into_view_if_needed()
                page.screenshot(path=f"{folder}/narrow.png")
                page.emulate_media(color_scheme="dark")
                page.screenshot(path=f"{folder}/narrow-dark.png")
                page.set_viewport_size(WIDE)
                page.screenshot(path=f"{folder}/wide-dark.png")
