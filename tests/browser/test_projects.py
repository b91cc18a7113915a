"""A project on the page: built live by the offline model on bubblewrap, whole after a reload,
accessible, and had as a zip.
"""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import NARROW, OVERFLOW, WIDE, bare_home, flaws, open_page
from tests.home import serving

pytestmark = [pytest.mark.bubblewrap, pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture
def link(tmp_path: Path) -> Iterator[str]:
    with serving(bare_home(tmp_path, bubblewrap=True), SANDBOX="bubblewrap") as link:
        yield link


@pytest.mark.extended
def test_a_project_is_built_step_by_step_and_had_as_a_zip(link: str, page: Page) -> None:
    page.set_viewport_size(WIDE)
    open_page(page, link)
    page.get_by_test_id("tab-projects").click()
    page.get_by_test_id("example-goal").nth(1).click()
    page.get_by_test_id("step-mode").check()
    assert flaws(page, "the form of a new project") == []
    page.set_viewport_size(WIDE)
    page.get_by_test_id("begin-build").click()
    expect(page.get_by_test_id("waiting")).to_contain_text("Create a file sales.csv")
    page.get_by_test_id("say-act").click()
    expect(page.get_by_test_id("diff").first).to_contain_text("month")
    page.reload()
    expect(page.get_by_test_id("waiting")).to_contain_text("Create a file report.py")
    page.get_by_test_id("say-act_on").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("project-state")).to_have_text("done")
    expect(page.get_by_test_id("project-figures")).to_contain_text("main.py works")
    expect(page.get_by_test_id("tree-file")).to_have_count(7)  # one is requirements.txt

    page.locator("[data-testid=tree-file][data-path='sales.csv']").click()
    expect(page.get_by_test_id("open-file").get_by_test_id("project-table")).to_contain_text(
        "month"
    )
    page.locator("[data-testid=tree-file][data-path='chart.png']").click()
    picture = page.get_by_test_id("open-file").get_by_test_id("project-picture")
    expect(picture).to_be_visible()
    assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth > 0)")
    page.get_by_test_id("run-main").click()
    expect(page.get_by_test_id("outcome")).to_contain_text("python main.py exit code 0")
    assert flaws(page, "a project that is built") == []
    page.set_viewport_size(NARROW)
    assert page.evaluate(OVERFLOW) <= 0

    with page.expect_download() as download:
        page.get_by_test_id("download-zip").click()
    with zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes())) as archive:
        assert {"main.py", "chart.png", "report.md"} <= set(archive.namelist())
    page.get_by_test_id("delete-project").click()
    page.get_by_test_id("delete-project-yes").click()
    expect(page.get_by_test_id("project-form")).to_be_visible()
