"""The README's pictures: the page in both themes, and a short film of a tool that is born and used
again. Both are taken from the page itself, on the offline model's replies.

`make pictures` runs it. The film's model takes a second for each reply, as a fast one does, and
`benchmarks.film`, in an environment with Pillow, joins the frames.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.cookbook import Cookbook
from tests.browser.conftest import FLAGS, PATIENCE
from tests.browser.states import BUILD, REUSE
from tests.browser.test_page import TITLES, WIDE, Theatre, ask, ended, open_page, staged
from tests.home import ROOT, seeded_home

DOCS = ROOT / "docs"
FILM = {"width": 1360, "height": 850}
_LARGEST = 1_500_000
_PAUSE = 0.9
"""Seconds of the film's model."""
_BETWEEN = 0.2
"""Seconds between two frames while something happens."""


def thoughtful(request: CompletionRequest) -> Completion:
    time.sleep(_PAUSE)
    return Cookbook().complete(request)


class Film:
    """Frames of a page, each with the milliseconds that it stays."""

    def __init__(self, page: Page, folder: Path) -> None:
        self._page, self._folder = page, folder
        self.frames: list[tuple[Path, int]] = []

    def take(self, stays: float = _BETWEEN) -> None:
        path = self._folder / f"{len(self.frames):04}.png"
        self._page.screenshot(path=path)
        self.frames.append((path, round(stays * 1000)))

    def until(self, done: Callable[[], bool]) -> None:
        while not done():
            self.take()
            self._page.wait_for_timeout(_BETWEEN * 500)  # a picture takes the other half

    def ask(self, request: str) -> None:
        composer = self._page.get_by_test_id("composer")
        for end in range(4, len(request) + 4, 4):
            composer.fill(request[:end])
            self.take(0.1)
        self.take(0.6)
        self._page.keyboard.press("Enter")

    def join(self, encoder: str, file: Path) -> None:
        lines = "".join(f"{path} {stays}\n" for path, stays in self.frames)
        command = [encoder, "-m", "benchmarks.film", str(file)]
        subprocess.run(command, cwd=ROOT, input=lines, text=True, check=True)  # noqa: S603 - our own


def take_stills(browser: Browser, theatre: Theatre) -> None:
    """A library's tool beside a conversation in which one was built and used again."""
    page = browser.new_context(reduced_motion="reduce", viewport=WIDE).new_page()
    open_page(page, theatre.link)
    for turns, request in enumerate((BUILD, REUSE), 1):
        ask(page, request)
        ended(page, turns, "done")
    page.get_by_role("button", name="Earlier request").click()
    page.get_by_test_id("composer").focus()
    for theme, name in (("light", "page.png"), ("dark", "page-dark.png")):
        page.emulate_media(color_scheme=theme)
        page.screenshot(path=DOCS / name)
    page.context.close()


def take_film(browser: Browser, theatre: Theatre, encoder: str) -> None:
    page = browser.new_context(reduced_motion="reduce", viewport=FILM).new_page()
    theatre.stage.plays(dict.fromkeys(TITLES, thoughtful))
    open_page(page, theatre.link)
    turn = page.get_by_test_id("turn").last
    with tempfile.TemporaryDirectory() as folder:
        film = Film(page, Path(folder))
        film.take(1.5)
        for turns, request in enumerate(
            ("Turn 'Meet me at noon' into Morse code", "Turn 'See you at six' into Morse code"), 1
        ):
            film.ask(request)
            expect(page.get_by_test_id("turn")).to_have_count(turns)
            film.until(lambda: turn.get_attribute("data-state") != "running")
            ended(page, turns, "done")
            film.take(3.5)
        film.join(encoder, DOCS / "birth.webp")
    page.context.close()


def main(encoder: str) -> None:
    expect.set_options(timeout=PATIENCE)
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
            args=FLAGS,
        ) as browser,
    ):
        home = seeded_home(Path(folder) / "home")
        with staged(home) as theatre:
            take_film(browser, theatre, encoder)
            theatre.stage.plays({})
            take_stills(browser, theatre)
    size = (DOCS / "birth.webp").stat().st_size
    if size > _LARGEST:
        sys.exit(f"docs/birth.webp has {size} bytes; {_LARGEST} are the most")


if __name__ == "__main__":
    main(sys.argv[1])
