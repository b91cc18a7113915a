"""Proposals that a person decides on, and a tool that they teach and edit, in Chromium on an engine
that plays.
"""

import os

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import NARROW, WIDE, ask, flaws, open_page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def picture(page: Page, name: str) -> None:
    """Where a person wants to look at it."""
    if folder := os.environ.get("PICTURES"):
        for size in (WIDE, NARROW):
            for scheme in ("light", "dark"):
                page.set_viewport_size(size)  # type: ignore[arg-type]
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                page.screenshot(path=f"{folder}/{name}-{size['width']}-{scheme}.png")
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]


def test_a_proposal_shows_what_it_changes_and_every_decision_can_be_undone(
    link: str, page: Page
) -> None:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    open_page(page, link)
    ask(page, "say proposed")
    page.get_by_test_id("turn-proposed").click()
    proposal = page.get_by_test_id("proposal")
    proposal.get_by_role("button", name="What it changes").click()
    expect(page.get_by_test_id("behaviour")).to_contain_text("Of 250 recorded and generated inputs")
    expect(page.get_by_test_id("behaviour")).to_contain_text("returns 4")
    proposal.get_by_role("button", name="Code and tests").click()
    expect(proposal).to_contain_text("return a + b + 1")
    picture(page, "proposal")
    assert flaws(page, "a proposal") == []
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    page.get_by_test_id("proposal-refuse").click()
    expect(proposal).to_have_count(0)
    page.get_by_test_id("proposal-undo").click()
    page.get_by_test_id("proposal-accept").click()
    expect(page.get_by_test_id("proposals")).to_contain_text("add is accepted.")


def open_editor(page: Page) -> None:
    page.get_by_test_id("tab-library").click()
    page.get_by_test_id("library").get_by_role("button", name="add").first.click()
    page.get_by_role("tab", name="Edit").click()


def test_rows_and_edits_survive_a_reload_and_have_their_verdict_beside_them(
    link: str, page: Page
) -> None:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    open_page(page, link)
    open_editor(page)
    page.get_by_test_id("teach-add").click()
    page.get_by_test_id("teach-a").fill("2")
    page.get_by_test_id("teach-b").fill("2")
    page.get_by_test_id("teach-value").fill("5")
    verdict, row = page.get_by_test_id("edit-verdict"), page.get_by_test_id("teach-row")
    expect(row).to_have_attribute("data-state", "failed")
    expect(page.get_by_test_id("edit-save")).to_have_text("Have it corrected")
    page.reload()
    open_editor(page)
    expect(page.get_by_test_id("teach-value")).to_have_value("5")
    expect(verdict).to_have_attribute("data-state", "failed")
    picture(page, "teach")
    assert flaws(page, "a tool that is taught") == []
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    page.get_by_test_id("teach-value").fill("4")
    page.get_by_test_id("edit-code").press("End")
    page.get_by_test_id("edit-code").press_sequentially("  # wrong")
    expect(row).to_have_attribute("data-state", "passed")
    expect(verdict).to_contain_text("One of 2 tests fails.")
    page.get_by_test_id("edit-code").press("Backspace")
    expect(verdict).to_contain_text("All 2 tests pass.")
    page.get_by_test_id("edit-save").click()
    expect(page.get_by_test_id("edit-told")).to_have_text("add is at version 3.")
    expect(row).to_have_count(0)
