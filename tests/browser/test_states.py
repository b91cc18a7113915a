"""Each named state of the page is accessible and fits, at three widths and in both themes."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.states import ONLY_NARROW, STATES, Visit, reached, servers
from tests.browser.test_page import MIDDLE, NARROW, OVERFLOW, WIDE, flaws

pytestmark = [
    pytest.mark.bubblewrap,
    pytest.mark.browser,
    pytest.mark.extended,
    pytest.mark.timeout(700),  # the first use after a change also makes a home with seed tools
]

ZOOMED = {"width": 320, "height": 256}
"""A page of 1280 by 1024 pixels, four times as large."""
UNSEEN = """() => {
  const focused = document.activeElement;
  const { left, top, width, height } = focused.getBoundingClientRect();
  const isSeen = ([x, y]) => {
    const there = document.elementFromPoint(left + x * width, top + y * height);
    return there && (focused.contains(there) || there.contains(focused));
  };
  const places = [[0.5, 0.5], [0.1, 0.2], [0.9, 0.2], [0.1, 0.8], [0.9, 0.8]];
  return places.some(isSeen) ? "" : focused.outerHTML.slice(0, 200);
}"""


@pytest.fixture
def visit(tmp_path, unwatched: Page) -> Iterator[Visit]:
    with servers(tmp_path) as (theatre, played):
        yield Visit(unwatched, theatre, played)


def test_every_state_is_accessible_and_fits_the_page(visit: Visit) -> None:
    found: list[str] = []
    for name in STATES:
        with reached(name, visit):
            sizes = (NARROW,) if name in ONLY_NARROW else (WIDE, MIDDLE, NARROW)
            found += flaws(visit.page, name, sizes)
            visit.page.set_viewport_size(ZOOMED)
            if (wider := visit.page.evaluate(OVERFLOW)) > 0:
                found.append(f"{name} is {wider} pixels wider than {ZOOMED['width']}")
    assert found == [], "\n".join(found)


@pytest.mark.parametrize("name", ["built", "library"])
def test_what_has_the_focus_is_seen(visit: Visit, name: str) -> None:
    for before in ("building", "built") if name == "built" else (name,):
        with reached(before, visit):
            pass
    visit.page.set_viewport_size({"width": 375, "height": 560})
    unseen = []
    for _ in range(40):
        visit.page.keyboard.press("Tab")
        unseen.append(visit.page.evaluate(UNSEEN))
    assert [one for one in unseen if one] == []
