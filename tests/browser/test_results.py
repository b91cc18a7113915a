"""Values and files on the page, in Chromium: tables, trees, numbers and texts; what was sent and
made opens wide.
"""

import base64
import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_page import NARROW, ask, flaws, open_page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
NOTEBOOK = {
    "metadata": {"language_info": {"name": "python"}},
    "cells": [
        {"cell_type": "markdown", "source": "# Prices"},
        {
            "cell_type": "code",
            "execution_count": 2,
            "source": "prices.plot()",
            "outputs": [
                {
                    "output_type": "display_data",
                    "data": {"image/png": base64.b64encode(PNG).decode(), "text/plain": "<Figure>"},
                },
                {
                    "output_type": "execute_result",
                    "data": {
                        "text/html": "<table><tr><td>9</td></tr></table>"
                        "<img src=x><script>document.title = 'hacked'</script>"
                    },
                },
                {"output_type": "error", "traceback": ["\x1b[31mValueError\x1b[0m: no"]},
            ],
        },
    ],
}


def returned(page: Page, value: str, turns: int = 1) -> Locator:
    """The value below the newest answer."""
    ask(page, f"return {value}")
    expect(page.get_by_test_id("turn")).to_have_count(turns)
    return page.get_by_test_id("turn").last.get_by_test_id("long-result")


def saved(page: Page, button: Locator, path: Path) -> str:
    with page.expect_download() as download:
        button.click()
    download.value.save_as(path)
    return path.read_text("utf-8-sig")


def test_a_table_is_sorted_filtered_downloaded_and_there_after_a_reload(
    link: str, page: Page, tmp_path: Path
) -> None:
    page.set_viewport_size(NARROW)
    open_page(page, link)
    value = returned(page, "rows 360")
    expect(value).to_contain_text("Table, 360 rows, 4 columns")
    cells = value.locator("tbody tr[data-index='0'] td")
    expect(cells).to_have_text(["1", "506.685", "=bank 1", "0.333333"])
    value.get_by_role("button", name="month").dblclick()
    expect(cells.first).to_have_text("360")
    expect(value.locator("th").first).to_have_attribute("aria-sort", "descending")
    value.get_by_test_id("filter-rows").fill("bank 4 0.33")
    expect(value.get_by_test_id("rows-found")).to_have_text("5 of 360 rows")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    lines = saved(page, value.get_by_test_id("result-csv"), tmp_path / "found.csv").splitlines()
    assert len(lines) == 6
    assert "'=bank " in lines[1]
    page.reload()
    expect(cells).to_have_text(["1", "506.685", "=bank 1", "0.333333"])
    lines = saved(page, value.get_by_test_id("result-csv"), tmp_path / "whole.csv").splitlines()
    assert (len(lines), lines[1]) == (361, "1,506.685,'=bank 1,0.3333333333333333")


def test_of_many_rows_those_in_view_are_drawn_and_all_can_be_reached(link: str, page: Page) -> None:
    open_page(page, link)
    value = returned(page, "rows 36000")
    value.get_by_role("button", name="Show it").click()
    table = value.locator("table")
    expect(table).to_have_attribute("aria-rowcount", "36001")
    expect(value.locator("tbody tr[data-index='0']")).to_be_visible()
    value.locator(".value-table").press("Control+End")
    last = value.locator("tbody tr[data-index='35999']")
    expect(last).to_have_attribute("aria-rowindex", "36001")
    expect(last.locator("td").first).to_have_text("36,000")
    assert value.locator("tbody tr").count() < 100


def test_a_table_of_numbers_is_drawn_and_read_by_the_arrow_keys(link: str, page: Page) -> None:
    open_page(page, link)
    days = [{"day": f"2024-01-{n:02}", "price": n * 1.5, "cost": 20 - n} for n in range(1, 15)]
    value = returned(page, json.dumps(days))
    value.get_by_test_id("view-chart").click()
    chart = value.get_by_test_id("chart")
    expect(chart).to_have_attribute("data-form", "line")
    chart.get_by_test_id("chart-keys").press("ArrowRight")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(chart.get_by_test_id("chart-keys")).to_have_attribute(
        "aria-valuetext", "Jan 4, 2024: price 6, cost 16"
    )
    expect(chart.get_by_test_id("chart-tip")).to_contain_text("Jan 4, 2024")
    assert flaws(page, "a chart") == []
    value.get_by_test_id("chart-form").select_option("bar")
    expect(chart).to_have_attribute("data-form", "bar")
    value.get_by_role("checkbox", name="cost").uncheck()
    expect(chart.get_by_test_id("chart-keys")).to_have_attribute(
        "aria-valuetext", "Jan 1, 2024: price 1.5"
    )
    chart.get_by_test_id("chart-plot").hover(position={"x": 200, "y": 100})
    expect(chart.get_by_test_id("chart-tip")).to_contain_text("price")
    expect(
        returned(page, json.dumps(["no", "number"] * 300), 2).get_by_test_id("view-chart")
    ).to_have_count(0)


@pytest.mark.extended
def test_whole_numbers_of_a_small_range_are_drawn(link: str, page: Page) -> None:
    open_page(page, link)
    days = [{"day": f"2024-01-{n:02}", "open": 1 + n % 2} for n in range(1, 6)]
    value = returned(page, json.dumps(days))
    value.get_by_test_id("view-chart").click()
    expect(value.get_by_test_id("chart").locator("canvas")).to_be_visible()


@pytest.mark.extended
def test_a_table_of_twelve_months_is_seen_whole(link: str, page: Page) -> None:
    open_page(page, link)
    value = returned(page, json.dumps([{"month": n, "sum": n / 8} for n in range(1, 13)]))
    expect(value.locator("tbody tr").nth(11).locator("td")).to_have_text(["12", "1.500"])
    assert value.locator(".value-table").evaluate("(e) => e.scrollHeight - e.clientHeight") <= 0


def test_a_tree_is_opened_by_keys_and_its_tables_are_tables(link: str, page: Page) -> None:
    open_page(page, link)
    rows = ",".join(f'{{"n":{n}}}' for n in range(50))
    text = f'{{"total": 12345678901234567890, "inner": {{"rows": [{rows}], "<b>": "{"x" * 400}"}}}}'
    value = returned(page, text)
    lines = value.get_by_test_id("tree-line")
    expect(lines.first).to_have_text("total12345678901234567890")
    lines.first.focus()
    for key in ("ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(value.get_by_role("treeitem", name="rows")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(value.get_by_test_id("reader")).to_contain_text("x" * 400)
    page.keyboard.press("Escape")
    expect(value.get_by_test_id("reader")).to_have_count(0)
    assert flaws(page, "a tree") == []
    value.get_by_test_id("as-table").click()
    expect(value.locator("tbody tr")).to_have_count(50)
    value.get_by_test_id("back-to-tree").click()
    value.get_by_test_id("filter-tree").fill("49")
    expect(lines).to_have_text(["inner2 members", "rows50 rowsTable", "491 member", "n49"])


@pytest.mark.extended
def test_a_large_tree_draws_what_is_in_view(link: str, page: Page) -> None:
    open_page(page, link)
    value = returned(page, json.dumps({"all": {f"k{n}": {"v": n} for n in range(400)}, "one": 1}))
    value.get_by_test_id("tree-open-all").click()
    first = value.get_by_test_id("tree-line").first
    first.focus()
    page.keyboard.press("End")
    expect(value.get_by_role("treeitem", name="one")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(value.get_by_role("treeitem", name="v 399")).to_be_focused()
    assert value.get_by_test_id("tree-line").count() < 100


def test_numbers_are_grouped_and_texts_fold(link: str, page: Page) -> None:
    open_page(page, link)
    number = returned(page, "1234567.891251")
    expect(number.get_by_test_id("number")).to_have_text("1,234,567.8913")
    number.get_by_test_id("exact").click()
    expect(number.get_by_test_id("number")).to_have_text("1234567.891251")
    text = returned(page, json.dumps("<b>text</b> " * 200), 2)
    expect(text).to_have_attribute("data-kind", "text")
    expect(text.locator("pre")).to_contain_text("<b>text</b>")
    text.get_by_test_id("more-text").click()
    expect(text.get_by_test_id("more-text")).to_have_text("Show less")
    text.get_by_test_id("open-wide").click()
    expect(page.get_by_test_id("viewer").locator("pre")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("viewer")).to_have_count(0)
    expect(text.get_by_test_id("open-wide")).to_be_focused()


def test_files_that_a_tool_made_are_previewed(link: str, page: Page) -> None:
    open_page(page, link)
    rows = "".join(f"2026-01-{day:02},{3 * day}\n" for day in range(1, 31))
    files = {
        "prices.csv": f"day,price\n{rows}".encode(),
        "notes.txt": b"<script>document.title='hacked'</script>\nthe last line\n",
        "report.pdf": b"%PDF-1.7\n%%EOF\n",
    }
    page.get_by_test_id("file-input").set_input_files(
        [
            {"name": name, "mimeType": "application/octet-stream", "buffer": content}
            for name, content in files.items()
        ]
    )
    expect(page.get_by_test_id("attached-file")).to_have_count(3)
    ask(page, "say back")
    made = page.get_by_test_id("made-files").locator(":scope > li")
    expect(made).to_have_count(3)
    previews = page.get_by_test_id("made-preview")
    expect(previews).to_have_count(2)
    expect(made.nth(0).locator("tbody tr").first).to_contain_text("2026-01-01")
    expect(made.nth(1).locator("pre")).to_contain_text("the last line")
    expect(made.nth(2)).to_contain_text("report.pdf")
    link_of_pdf = made.nth(2).get_by_test_id("file-link")
    expect(link_of_pdf).to_have_attribute("download", "back-report.pdf")
    assert flaws(page, "previews") == []
    assert "hacked" not in page.title()


@pytest.mark.extended
def test_files_open_wide_by_their_kind(link: str, page: Page) -> None:
    open_page(page, link)
    files = {
        "prices.csv": b"day,price\n2024-01-01,3\n2024-01-02,5\n",
        "notes.md": b"# Notes\n\n<script>document.title='hacked'</script>\n\n- one",
        "run.sh": b"#!/bin/sh\nif true; then echo 'x'; fi\n",
        "book.ipynb": json.dumps(NOTEBOOK).encode(),
        "dot.png": PNG,
        "data.bin": b"\0\1",
    }
    sent = page.get_by_test_id("request-file")
    for turn, names in enumerate((list(files)[:3], list(files)[3:]), 1):
        page.get_by_test_id("file-input").set_input_files(
            [
                {"name": name, "mimeType": "application/octet-stream", "buffer": files[name]}
                for name in names
            ]
        )
        expect(page.get_by_test_id("attached-file")).to_have_count(3)
        ask(page, "say hello")
        expect(page.get_by_test_id("turn")).to_have_count(turn)
        expect(sent).to_have_count(3 * turn)
    expect(sent.filter(has_text="data.bin").get_by_role("button")).to_have_count(0)
    sent.filter(has_text="prices.csv").get_by_test_id("open-file-wide").click()
    viewer = page.get_by_test_id("viewer")
    expect(viewer.locator("tbody tr")).to_have_count(2)
    expect(viewer.get_by_test_id("view-chart")).to_be_visible()
    assert flaws(page, "a table in the viewer") == []
    viewer.get_by_test_id("view-source").click()
    expect(viewer.locator("pre")).to_contain_text("day,price")
    viewer.get_by_role("button", name="Next file").click()
    expect(viewer.get_by_role("heading", name="Notes", exact=True)).to_be_visible()
    viewer.get_by_role("button", name="Next file").click()
    expect(viewer.locator("pre .hljs-keyword").first).to_have_text("if")
    page.keyboard.press("Escape")
    sent.filter(has_text="book.ipynb").get_by_test_id("open-file-wide").click()
    book = viewer.get_by_test_id("notebook")
    expect(book.get_by_role("heading", name="Prices")).to_be_visible()
    expect(book.locator("td")).to_have_text("9")
    expect(book).to_contain_text("ValueError: no")
    page.wait_for_function(
        "() => document.querySelector('[data-testid=notebook] img')?.naturalWidth === 1"
    )
    expect(book.locator("img, script")).to_have_count(1)
    page.keyboard.press("Escape")
    sent.filter(has_text="dot.png").get_by_test_id("open-file-wide").click()
    picture = viewer.get_by_test_id("zoom-picture")
    expect(picture).to_have_attribute("alt", "dot.png")
    viewer.locator(".zoom").press("1")
    viewer.get_by_test_id("zoom-in").click()
    expect(viewer.get_by_test_id("zoom-fit")).to_have_text("150%")
    assert flaws(page, "a picture in the viewer") == []
    page.keyboard.press("Escape")
    expect(viewer).to_have_count(0)
    assert "hacked" not in page.title()
