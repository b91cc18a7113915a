"""The gallery of the components, in development: each is drawn in both themes, without a flaw."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import AXE, RUN_AXE, STANDARD
from tests.web.server_process import ServerProcess

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def test_every_component_is_drawn_in_both_themes(tmp_path: Path, page: Page) -> None:
    server = ServerProcess(tmp_path, "threading", DEVELOPMENT="true")
    page.goto(server.link)
    page.goto(f"{server.url}/gallery")
    samples = page.get_by_test_id("sample")
    expect(samples.filter(has_text="Steps: plan 1")).to_be_visible()
    drawn = samples.evaluate_all(
        "(all) => all.map((one) => [...one.children].slice(1).map((side) => side.offsetHeight > 24))"
    )
    assert drawn == [[True, True]] * len(drawn)
    page.evaluate(AXE)
    once = [
        rules for rules in STANDARD if rules != "best-practice"
    ]  # each component is there twice
    assert page.evaluate(RUN_AXE, once) == []
    assert server.end() == (0, "")
