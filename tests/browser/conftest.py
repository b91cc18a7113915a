"""Headless Chromium on the served page; a test fails on a request to another origin, a console
error or an exception.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect

from tests.web.server_process import ServerProcess

PATIENCE = 60_000
"""Milliseconds that whatever is expected may take; on a busy machine a page that did nothing wrong
takes many seconds.
"""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE)
    shell = shutil.which(
        "chromium-headless-shell"
    )  # draws no window that nobody sees, and takes half the time
    browser = playwright.chromium.launch(
        executable_path=shell or shutil.which("chromium"), args=FLAGS
    )
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, object]) -> dict[str, object]:
    """Without a graphics card every frame of an animation is work for the processor."""
    return {**browser_context_args, "reduced_motion": "reduce"}


@pytest.fixture(scope="session")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page on an engine without a model, for tests that begin conversations of their own. A
    module whose tests need more, or change what all share, defines its own.
    """
    server = ServerProcess(tmp_path_factory.mktemp("played"), "threading")
    yield server.link
    assert server.end() == (0, "")


@contextmanager
def watched(page: Page) -> Iterator[Page]:
    problems: list[str] = []
    page.set_default_timeout(PATIENCE)

    def on_request(request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.hostname != "127.0.0.1":
            problems.append(f"a request to another host: {request.url}")

    page.on("request", on_request)
    page.on("pageerror", lambda error: problems.append(f"an uncaught exception: {error}"))
    page.on(
        "console",
        lambda message: (
            problems.append(f"console: {message.text}") if message.type == "error" else None
        ),
    )
    yield page
    assert problems == []


@pytest.fixture
def page(page: Page) -> Iterator[Page]:
    with watched(page):
        yield page


@pytest.fixture
def second_page(page: Page) -> Iterator[Page]:
    """Another tab of the same person."""
    with watched(page.context.new_page()) as second:
        yield second


@pytest.fixture
def unwatched(browser: Browser) -> Iterator[Page]:
    """A page whose console reports what a test brings about, such as a lost connection."""
    context = browser.new_context(reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture
def stranger(browser: Browser) -> Iterator[Page]:
    """The page on another device."""
    context = browser.new_context(reduced_motion="reduce")
    with watched(context.new_page()) as page:
        yield page
    context.close()


@pytest.fixture
def unguarded(browser: Browser) -> Iterator[Page]:
    """A page without its content security policy, which would hide what the sanitiser lets
    through.
    """
    context = browser.new_context(bypass_csp=True, reduced_motion="reduce")
    with watched(context.new_page()) as page:
        yield page
    context.close()
