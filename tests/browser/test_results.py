"""Long values on the page, in Chromium: a table is sorted, shown further and downloaded whole, and
stands there again after a reload.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import ask, open_page
from tests.web.server_process import ServerProcess

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = ServerProcess(tmp_path_factory.mktemp("results"), "threading")
    yield server.link
    assert server.end() == (0, "")


def test_a_table_is_sorted_shown_further_downloaded_and_there_after_a_reload(
    link: str, page: Page, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 375, "height": 800})
    open_page(page, link)
    ask(page, "return rows 360")
    value = page.get_by_test_id("long-result")
    expect(value).to_contain_text("Table, 360 rows, 4 columns")
    cells = value.locator("tbody tr:first-child td")
    expect(cells).to_have_text(["1", "506.685", "=bank 1", "0.333333"])
    value.get_by_role("button", name="month").dblclick()
    expect(cells.first).to_have_text("360")
    expect(value.locator("th").first).to_have_attribute("aria-sort", "descending")
    value.get_by_test_id("more-rows").click()
    expect(value.locator("tbody tr")).to_have_count(360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    with page.expect_download() as download:
        value.get_by_test_id("result-csv").click()
    download.value.save_as(tmp_path / "table.csv")
    lines = (tmp_path / "table.csv").read_text().splitlines()
    assert (len(lines), lines[1]) == (361, "1,506.685,'=bank 1,0.3333333333333333")
    page.reload()
    expect(cells).to_have_text(["1", "506.685", "=bank 1", "0.333333"])


def test_trees_open_texts_scroll_and_large_values_wait_to_be_asked_for(
    link: str, page: Page
) -> None:
    open_page(page, link)
    rows = ",".join(f'{{"n":{n}}}' for n in range(50))
    ask(page, f'return {{"total": 12345678901234567890, "inner": {{"rows": [{rows}]}}}}')
    value = page.get_by_test_id("long-result").last
    value.get_by_role("button", name="rows").click()
    expect(value.locator("tbody tr")).to_have_count(50)
    ask(page, f'return "{"<b>text</b> " * 100}"')
    expect(page.get_by_test_id("long-result").last).to_have_attribute("data-kind", "text")
    expect(page.get_by_test_id("long-result").last.locator("pre")).to_contain_text("<b>text</b>")
    ask(page, "return rows 36000")
    large = page.get_by_test_id("long-result").last
    large.get_by_role("button", name="Show it").click()
    expect(large.get_by_test_id("more-rows")).to_contain_text("The first 200 of 36,000 rows")
