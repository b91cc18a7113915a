"""A project on the page: built live by the offline model on bubblewrap, whole after a reload,
accessible, and had as a zip.
"""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.test_page import NARROW, OVERFLOW, WIDE, flaws, open_page
from tests.home import bare_home, serving
from tests.web.server_process import ServerProcess

pytestmark = [pytest.mark.bubblewrap, pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture
def link(tmp_path: Path) -> Iterator[str]:
    with serving(bare_home(tmp_path, bubblewrap=True), SANDBOX="bubblewrap") as link:
        yield link


@pytest.mark.extended
def test_a_project_is_built_step_by_step_and_had_as_a_zip(link: str, page: Page) -> None:
    page.set_viewport_size(WIDE)
    open_page(page, link)
    page.get_by_test_id("new-project").click()
    page.get_by_test_id("example-goal").nth(1).click()
    page.get_by_test_id("step-mode").check()
    assert flaws(page, "the form of a new project") == []
    page.set_viewport_size(WIDE)
    page.get_by_test_id("begin-build").click()
    expect(page.get_by_test_id("waiting")).to_contain_text("Create a file sales.csv")
    page.get_by_test_id("say-act").click()
    expect(page.get_by_test_id("activity")).to_contain_text("sales.csv: created")
    page.get_by_test_id("activity").get_by_role("button", name="Create a file").first.click()
    expect(page.get_by_test_id("diff").first).to_contain_text("month")
    page.reload()
    expect(page.get_by_test_id("waiting")).to_contain_text("Create a file report.py")
    page.get_by_test_id("say-act_on").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("project-state")).to_have_text("done")
    expect(page.get_by_test_id("project-figures")).to_contain_text("main.py works")
    assert flaws(page, "the history of a project") == []
    page.set_viewport_size(WIDE)

    tabs = page.get_by_test_id("project-tab")
    expect(tabs).to_have_text(["History", "7 files"])  # one is requirements.txt
    page.get_by_test_id("changed-file").filter(has_text="sales.csv").click()
    expect(page.get_by_test_id("open-file").get_by_test_id("project-table")).to_contain_text(
        "month"
    )
    page.locator("[data-testid=tree-file][data-path='chart.png']").click()
    picture = page.get_by_test_id("open-file").get_by_test_id("project-picture")
    expect(picture).to_be_visible()
    assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth > 0)")
    assert flaws(page, "a file of a project") == []
    page.set_viewport_size(WIDE)
    tabs.last.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Delete")
    expect(tabs).to_have_text(["History", "7 files", "chart.png"])
    tabs.first.click()
    page.get_by_test_id("run-main").click()
    expect(page.get_by_test_id("outcome")).to_contain_text("python main.py exit code 0")
    page.set_viewport_size(NARROW)
    assert page.evaluate(OVERFLOW) <= 0

    with page.expect_download() as download:
        page.get_by_test_id("download-zip").click()
    with zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes())) as archive:
        assert {"main.py", "chart.png", "report.md"} <= set(archive.namelist())
    page.get_by_test_id("project-more").press("Enter")
    expect(page.get_by_test_id("restore-project")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert flaws(page, "asked whether to delete a project") == []
    page.get_by_test_id("delete-project-yes").click()
    expect(page.get_by_test_id("project-row")).to_have_count(0)
    expect(page.get_by_test_id("composer")).to_be_visible()


@pytest.fixture
def played(tmp_path: Path) -> Iterator[str]:
    """A server whose builds write one file."""
    server = ServerProcess(tmp_path, "threading")
    yield server.link
    server.end()


def test_files_keep_unsaved_text_and_are_marked_where_another_tab_changed_them(
    played: str, page: Page, second_page: Page
) -> None:
    page.set_viewport_size(WIDE)
    second_page.set_viewport_size(WIDE)
    open_page(page, played)
    open_page(second_page, played)
    page.get_by_test_id("new-project").click()
    goal = page.get_by_test_id("project-goal")
    expect(goal).to_be_focused()
    goal.fill("print 42")
    page.reload()
    expect(goal).to_have_value("print 42")
    page.get_by_test_id("begin-build").click()
    expect(page.get_by_test_id("project-state")).to_have_text("done")
    expect(page.get_by_role("heading", name="print-42")).to_be_visible()

    second_page.get_by_test_id("project-row").click()
    second_page.get_by_test_id("changed-file").click()
    expect(second_page.get_by_test_id("open-file")).to_contain_text("print(42)")
    second_page.get_by_test_id("edit-file").click()
    second_page.get_by_test_id("editor").fill("print(44)")
    second_page.get_by_test_id("project-tab").first.click()
    opened = second_page.get_by_test_id("project-tab").last
    expect(opened.get_by_label("not saved")).to_be_visible()

    page.get_by_test_id("changed-file").click()
    page.get_by_test_id("edit-file").click()
    page.get_by_test_id("editor").fill("print(43)")
    page.get_by_test_id("save-file").click()
    expect(page.get_by_test_id("open-file")).to_contain_text("print(43)")
    opened.click()
    expect(second_page.get_by_test_id("editor")).to_have_value("print(44)")
    expect(second_page.get_by_text("The file has changed since")).to_be_visible()
    second_page.keyboard.press("Tab")
    second_page.get_by_test_id("editor").press("Escape")
    expect(second_page.get_by_test_id("open-file")).to_contain_text("print(43)")

    second_page.get_by_test_id("project-tab").first.click()
    page.get_by_test_id("build-on-goal").fill("print 42")
    page.get_by_test_id("build-on-goal").press("Enter")
    expect(page.get_by_test_id("project-turn")).to_have_count(3)
    expect(page.get_by_test_id("build-on-goal")).to_have_value("")
    page.get_by_test_id("project-more").click()
    page.get_by_test_id("restore-project").click()
    page.get_by_test_id("restore-1").click()
    for tab in (page, second_page):
        expect(tab.get_by_test_id("project-tab")).to_have_text(["History", "0 files"])


ACKNOWLEDGEMENT = "43"


def test_a_restore_may_begin_before_its_request_is_acknowledged(played: str, page: Page) -> None:
    held: list[str | bytes] = []
    sockets: list[WebSocketRoute] = []

    def held_back(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        server = socket.connect_to_server()

        def to_page(message: str | bytes) -> None:
            late = str(message).startswith(ACKNOWLEDGEMENT) and restoring
            (held.append if late else socket.send)(message)

        server.on_message(to_page)

    restoring = False
    page.route_web_socket("**", held_back)
    page.set_viewport_size(WIDE)
    open_page(page, played)
    page.get_by_test_id("new-project").click()
    page.get_by_test_id("project-goal").fill("print 42")
    page.get_by_test_id("begin-build").click()
    expect(page.get_by_test_id("project-state")).to_have_text("done")

    restoring = True
    page.get_by_test_id("project-more").click()
    page.get_by_test_id("restore-project").click()
    page.get_by_test_id("restore-1").click()
    expect(page.get_by_test_id("project-turn")).to_have_count(2)
    expect(page.get_by_test_id("backups")).to_have_count(0)
    sockets[-1].send(held[-1])
    expect(page.get_by_test_id("build-on-goal")).to_be_visible()
    expect(page.get_by_test_id("project-tab")).to_have_text(["History", "0 files"])
