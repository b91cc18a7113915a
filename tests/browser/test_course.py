"""The stages of a turn on the page, with an engine that plays them: a bar that is live, marked in
the graph, accessible, whole after a reload.
"""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import NARROW, WIDE, ask, flaws, open_page
from tests.web.fake_engine import WAY

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

NODES = list(dict.fromkeys(node for _, node in WAY))
"""Those of the bar: each once, without the first, which takes no time."""

OVERLAPS = """(graph) => {
  const words = [...graph.querySelectorAll("text")].map((e) => [e, e.getBoundingClientRect()]);
  const meet = (a, b) => a.left < b.right && b.left < a.right
    && a.top + 3 < b.bottom && b.top + 3 < a.bottom;
  return words.flatMap(([one, a], i) => words.slice(i + 1).filter(([, b]) => meet(a, b))
    .map(([two]) => `${one.textContent} | ${two.textContent}`));
}"""


def stages(page: Page) -> list[list[str]]:
    return (
        page.get_by_test_id("progress")
        .locator("li")
        .evaluate_all("(all) => all.map(({ dataset }) => [dataset.stage, dataset.state])")
    )


def test_the_stages_of_a_turn_are_followed_live_and_marked_in_the_graph(link: str, page: Page):
    open_page(page, link)
    ask(page, "build once")
    present = page.get_by_test_id("progress").locator("[aria-current=step]")
    expect(present).to_have_attribute("data-stage", "execute")
    assert stages(page) == [
        *([node, "done"] for node in NODES[:-1]),
        ["execute", "running"],
        ["respond", "waiting"],
    ]
    assert flaws(page, "the bar of a running turn") == []
    page.set_viewport_size(WIDE)

    page.get_by_test_id("activity-more").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("expand-steps")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    graph = page.get_by_test_id("graph")
    expect(graph.get_by_role("img", name="The stages of a turn")).to_be_visible()
    marks = {
        name: graph.locator(f"g.node[data-node={name}]").get_attribute("data-state")
        for name in ("verify", "execute", "clarify")
    }
    assert marks == {"verify": "done", "execute": "running", "clarify": "waiting"}
    assert graph.locator("[data-taken=true]").evaluate_all(
        "(all) => all.map((g) => g.querySelector('title').textContent)"
    )[:3] == [
        "gather → search: new",
        "search → specify: nothing fits",
        "specify → test: ordered",
    ]
    assert flaws(page, "a running turn's graph") == []
    assert graph.evaluate(OVERLAPS) == []
    for size in (WIDE, NARROW):
        page.set_viewport_size(size)
        labels = graph.locator("text").evaluate_all(
            "(all) => all.map((e) => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a)"
        )
        assert round(min(labels), 2) >= 11  # the browser lays out in 64ths of a pixel
    expect(graph.locator("g.node[data-node=verify]")).to_be_in_viewport(ratio=1)
    page.set_viewport_size(WIDE)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("activity-more")).to_be_focused()

    ask(page, "release once")
    for _ in range(2):
        expect(page.get_by_test_id("progress").locator("[data-stage=respond]")).to_have_attribute(
            "data-state", "done"
        )
        assert stages(page) == [[node, "done"] for node in (*NODES, "respond")]
        page.reload()
