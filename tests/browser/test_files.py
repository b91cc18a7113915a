"""Files on the page: attached, dropped and pasted; sent with a request; pictures shown in the
answer, and after a reload.
"""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.test_page import ask, ended, finished, flaws, open_page, step
from tests.home import bare_home, serving

pytestmark = [pytest.mark.bubblewrap, pytest.mark.browser, pytest.mark.timeout(240)]

one_mode = pytest.mark.parametrize("link", ["eventlet"], indirect=True)
"""For what takes long, and for which the way of serving makes no difference."""
CSV = "day,price\n2024-01-01,3\n2024-01-02,5\n2024-01-03,4\n"
TRANSFER = """(files) => {
  const transfer = new DataTransfer();
  for (const [name, content] of files) transfer.items.add(new File([content], name));
  return transfer;
}"""


@pytest.fixture(
    scope="module", params=["eventlet", pytest.param("threading", marks=pytest.mark.everywhere)]
)
def link(request, tmp_path_factory):
    settings = {
        "SANDBOX": "bubblewrap",
        "ASYNC_MODE": request.param,
        "FILES_MAX_COUNT": "2",
        "FILES_MAX_MB": "1",
    }
    with serving(bare_home(tmp_path_factory.mktemp("files"), bubblewrap=True), **settings) as link:
        yield link


def built(page: Page, turns: int = 1) -> Locator:
    """The answer, once it is whole; a tool that draws is verified with several runs that each load
    matplotlib.
    """
    expect(page.get_by_test_id("turn")).to_have_count(turns)
    expect(page.get_by_test_id("turn").last).not_to_have_attribute(
        "data-state", "running", timeout=180_000
    )
    return finished(page, turns)


def attach(page: Page, *files: tuple[str, str]) -> None:
    page.get_by_test_id("file-input").set_input_files(
        [
            {"name": name, "mimeType": "text/csv", "buffer": content.encode()}
            for name, content in files
        ]
    )


@one_mode
@pytest.mark.extended
def test_a_csv_is_attached_and_its_plot_is_shown_and_survives_a_reload(
    link, page: Page, tmp_path: Path
):
    open_page(page, link)
    attach(page, ("data.csv", CSV))
    expect(page.get_by_test_id("attached-file")).to_contain_text("data.csv")
    assert flaws(page, "attached") == []
    ask(page, "Plot column price against day")
    expect(built(page)).to_contain_text("Here is price against day.")
    expect(page.get_by_test_id("attached-file")).to_have_count(0)
    for _ in range(2):
        expect(page.get_by_test_id("request-file")).to_contain_text("data.csv")
        picture = page.get_by_test_id("made-picture")
        expect(picture).to_have_attribute("alt", "plot.png")
        page.wait_for_function(
            "() => document.querySelector('[data-testid=made-picture]')?.naturalWidth === 800"
        )
        page.reload()
        expect(page.get_by_test_id("turn")).to_have_attribute("data-state", "done")
    assert flaws(page, "a picture") == []
    for name, head in (("plot.png", b"\x89PNG"), ("data.csv", b"day,price")):
        with page.expect_download() as download:
            page.get_by_role("link", name=f"Download {name}").click()
        assert download.value.suggested_filename == name
        download.value.save_as(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(head)
    expect(step(page, "execute")).to_contain_text("plot.png")


@one_mode
def test_a_request_is_asked_again_with_its_files(link, page: Page):
    open_page(page, link)
    attach(page, ("data.csv", CSV))
    ask(page, "Write a symphony in C minor")
    page.get_by_test_id("rephrase").click()
    expect(page.get_by_test_id("attached-file")).to_contain_text("data.csv")
    sent = []
    page.on("request", lambda request: sent.append(request.url) if "/files" in request.url else 0)
    ask(page, "Write a symphony in D minor")
    expect(page.get_by_test_id("versions")).to_have_text("2 of 2")
    turn = ended(page, 1, "declined")
    expect(turn.get_by_test_id("request-file")).to_contain_text("data.csv")
    assert [url.rsplit("/", 1)[-1] for url in sent] == ["data.csv"]  # named, not sent
    with page.expect_download() as download:
        turn.get_by_test_id("file-link").click()
    assert Path(download.value.path()).read_text() == CSV


@one_mode
@pytest.mark.extended
def test_later_requests_use_the_files_of_the_conversation(link, page: Page):
    open_page(page, link)
    attach(page, ("data.csv", CSV))
    ask(page, "Sum column price of this file")
    expect(finished(page)).to_contain_text("adds up to 12")
    ask(page, "Add up column price of data.csv")
    expect(finished(page, turns=2)).to_contain_text("adds up to 12")


@pytest.mark.extended
def test_files_are_dropped_pasted_replaced_and_removed(link, page: Page):
    open_page(page, link)
    dropped = page.evaluate_handle(TRANSFER, [["a.csv", "1"], ["b.csv", "2"]])
    page.dispatch_event("body", "dragover", {"dataTransfer": dropped})
    expect(page.locator("html")).to_have_attribute("data-dropping", "")
    page.dispatch_event("body", "drop", {"dataTransfer": dropped})
    expect(page.locator("html")).not_to_have_attribute("data-dropping", "")
    attached = page.get_by_test_id("attached-file")
    expect(attached).to_have_text([re.compile("a.csv"), re.compile("b.csv")])
    page.get_by_test_id("remove-file").first.click()
    expect(attached).to_have_text([re.compile("b.csv")])
    expect(page.get_by_test_id("composer")).to_be_focused()
    paste = (
        "(field, files) => field.dispatchEvent(new ClipboardEvent('paste', {clipboardData: ("
        + TRANSFER
        + ")(files), bubbles: true}))"
    )
    page.get_by_test_id("composer").evaluate(paste, [["image.png", "x"]])
    attach(page, ("b.csv", "22"))
    expect(attached).to_have_text([re.compile("image.png"), re.compile("b.csv\\s*2 B")])
    expect(page.get_by_test_id("announcer")).to_contain_text("b.csv attached")


@pytest.mark.extended
def test_what_is_too_much_is_said_before_it_is_sent(link, page: Page):
    open_page(page, link)
    expect(page.get_by_test_id("attach")).to_have_attribute(
        "title", "Attach files: up to 2 files, 1 MB together"
    )
    attach(page, ("large.csv", "x" * 1_100_000), ("a.csv", "1"), ("b.csv", "2"), ("c.csv", "3"))
    expect(page.get_by_test_id("attached-file")).to_have_text(
        [re.compile("a.csv"), re.compile("b.csv")]
    )
    notice = page.get_by_test_id("files-refused")
    expect(notice).to_contain_text("large.csv was not attached: all files together may have 1 MB")
    expect(notice).to_contain_text("c.csv was not attached: 2 files may come with a request.")
    expect(notice).to_contain_text("Attach a smaller file, a part of it, or fewer files.")


@pytest.mark.extended
def test_a_file_that_does_not_arrive_keeps_the_request(link, browser: Browser):
    page = (
        browser.new_page()
    )  # not a watched one: the browser itself reports the broken connection as an error
    open_page(page, link)
    attach(page, ("data.csv", CSV))
    page.route("**/api/v1/files*", lambda route: route.abort())
    ask(page, "Sum column price of this file")
    pending = page.get_by_test_id("pending")
    expect(pending).to_contain_text("data.csv could not be sent")
    expect(pending.get_by_test_id("request-file")).to_contain_text("data.csv")
    pending.get_by_role("button", name="Edit").click()
    expect(page.get_by_test_id("composer")).to_have_value("Sum column price of this file")
    expect(page.get_by_test_id("attached-file")).to_contain_text("data.csv")
    expect(page.get_by_test_id("composer")).to_be_focused()
    page.unroute("**/api/v1/files*")
    page.keyboard.press("Enter")
    expect(built(page)).to_contain_text("adds up to 12")
    page.context.close()
