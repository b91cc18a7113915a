"""A model that is slow, silent, or breaks off in the middle of its reply: each is shown as it is."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from selfeng.core.spec import SpecificationReply
from selfeng_offline.completion import Flawed
from selfeng_offline.server import OfflineServer
from tests.browser.test_page import SPECIFY, Stage, Theatre, ask, ended, open_page
from tests.home import bare_home, serving

pytestmark = [pytest.mark.bubblewrap, pytest.mark.browser, pytest.mark.timeout(240)]

PATIENCE = 3
"""Seconds without a piece after which the model's call fails."""
TOKENS_A_SECOND = 5
WORDS = [f"word{n}" for n in range(40)]
PROSE = " ".join(WORDS)
REPLY = SpecificationReply(outcome="answer", message=PROSE, specification=None).model_dump_json()


@pytest.fixture(scope="module")
def slow(tmp_path_factory) -> Iterator[Theatre]:
    stage = Stage()
    with OfflineServer(stage, delay=1 / TOKENS_A_SECOND) as server:
        settings = {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": server.api_key,
            "OPENAI_MODEL": server.model,
            "OPENAI_TIMEOUT": f"{PATIENCE}",
            "OPENAI_MAX_RETRIES": "1",
        }
        home = bare_home(tmp_path_factory.mktemp("slow"), bubblewrap=True)
        with serving(home, **settings) as link:
            yield Theatre(link, stage, server)


def test_prose_at_five_tokens_a_second_is_read_long_before_its_end(slow, page: Page):
    """Though the whole reply takes several times as long as the model may be silent."""
    slow.stage.plays({SPECIFY: Flawed(content=REPLY)})
    open_page(page, slow.link)
    ask(page, "Compose a sonata")
    turn = page.get_by_test_id("turn")
    answer = turn.get_by_test_id("answer")
    expect(answer).to_contain_text(WORDS[2])
    assert answer.get_attribute("data-state") == "streaming"
    assert WORDS[-1] not in answer.inner_text()
    assert turn.get_attribute("data-state") == "running"
    ended(page, 1, "done")
    expect(answer).to_have_text(PROSE)
    expect(turn.get_by_test_id("answer-cut-off")).to_have_count(0)


def test_a_silent_model_is_named_with_its_time_and_what_comes_of_it(slow, page: Page):
    slow.stage.plays({SPECIFY: Flawed(content=REPLY, stop_after=6, then="hang")})
    open_page(page, slow.link)
    ask(page, "Compose a symphony")
    silent = page.get_by_test_id("silent")
    expect(silent).to_have_text(
        re.compile(
            r"The model has been silent for [12] s\."
            r" After 3\.0 s the request ends with an error\."
        )
    )
    turn = ended(page, 1, "failed")
    expect(silent).to_have_count(0)
    failure = turn.get_by_test_id("turn-failure")
    expect(failure).to_contain_text("took too long to answer")
    slow.stage.plays({})
    failure.get_by_test_id("again").click()
    ended(page, 1, "declined")  # in place of the one that failed


def test_a_reply_that_breaks_off_stays_marked_as_incomplete_with_the_reason(slow, page: Page):
    slow.stage.plays({SPECIFY: Flawed(content=REPLY, stop_after=12, then="drop")})
    open_page(page, slow.link)
    ask(page, "Compose a fugue")
    turn = ended(page, 1, "failed")
    answer = turn.get_by_test_id("answer")
    expect(answer).to_contain_text(WORDS[0])
    assert WORDS[-1] not in answer.inner_text()
    expect(turn.get_by_test_id("answer-cut-off")).to_have_text("This answer is incomplete.")
    failure = turn.get_by_test_id("turn-failure")
    expect(failure).to_contain_text("broke off")
    page.reload()
    expect(answer).to_contain_text(WORDS[0])
    expect(turn.get_by_test_id("answer-cut-off")).to_be_visible()
    expect(failure.get_by_test_id("again")).to_be_visible()
