"""A tool that is made faster from its page, with a scripted model and the real sandbox."""

import os
from collections.abc import Iterator

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import expect

from selfeng.capability_registry import CapabilityRegistry
from selfeng.store.database import open_database
from selfeng_offline.completion import Completion
from tests.browser.test_page import (
    NARROW,
    OVERFLOW,
    WIDE,
    bare_home,
    finished,
    flaws,
    open_page,
    step,
)
from tests.doubles import fenced
from tests.embedding.hashing import HashingEmbedder
from tests.engine.test_refactoring import FAST, kept
from tests.home import Home
from tests.script import serving_script

pytestmark = [pytest.mark.bubblewrap, pytest.mark.browser, pytest.mark.timeout(240)]


async def plant(home: Home) -> None:
    engine = open_database(f"sqlite:///{home.folder / 'data' / 'agent.db'}")
    library = CapabilityRegistry(engine, home.tools, home.folder / "chroma_db", HashingEmbedder())
    await library.start()
    await library.add(kept().draft())
    await library.aclose()
    engine.dispose()


@pytest.fixture
def link(tmp_path: object) -> Iterator[str]:
    home = bare_home(tmp_path, bubblewrap=True)
    with start_blocking_portal() as portal:
        portal.call(plant, home)
    titled = {
        "make a tool faster": Completion(content=fenced(FAST)),
        "learn lessons": Completion(content='{"lessons": []}'),
    }
    with serving_script(home, titled) as link:
        yield link


@pytest.mark.extended
def test_a_tool_is_made_faster_from_its_page_and_watched_like_a_build(link, page):
    open_page(page, link)
    page.get_by_test_id("tab-library").click()
    page.locator("[data-tool=distinct]").click()
    page.get_by_test_id("faster").click()
    expect(finished(page)).to_contain_text("It is ")
    expect(step(page, "refactor")).to_contain_text("returns the same for")
    page.get_by_test_id("tab-library").click()
    page.get_by_test_id("tab-versions").click()
    expect(page.get_by_test_id("version").first).to_contain_text("× faster")
    page.get_by_test_id("tab-overview").click()
    assert flaws(page, "a tool that can be made faster") == []
    page.set_viewport_size(NARROW)
    assert page.evaluate(OVERFLOW) <= 0
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/faster-narrow-dark.png")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(WIDE)
        page.screenshot(path=f"{folder}/faster-wide.png")
