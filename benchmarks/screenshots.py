"""Screenshots of the named states of the page (tests/browser/states.py), wide and narrow, light and
dark, below screenshots/. STATES names some of them, or is `walk`: what people do, wide in the light
and narrow in the dark theme, the ten most important in both. LOCALE is the language (`de`).

`make screenshots` runs it; the server, the model's replies and the library are those of the tests.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from tests.browser.conftest import FLAGS, PATIENCE
from tests.browser.states import (
    IMPORTANT,
    IN_DRAWER,
    ONLY_NARROW,
    STATES,
    TASKS,
    Visit,
    open_drawer,
    reached,
    servers,
)
from tests.browser.test_page import NARROW, WIDE
from tests.home import ROOT

LOCALE = os.environ.get("LOCALE", "en")
FOLDER = ROOT / "screenshots" / LOCALE
SETTLING = 300
"""Milliseconds in which a page loads what it shows."""


@contextmanager
def visiting(browser: Browser, **options: object) -> Iterator[Visit]:
    """A person at servers of its own, with the tools of a first start."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        theatre, played = stack.enter_context(servers(folder))
        context = browser.new_context(reduced_motion="reduce", viewport=WIDE, **options)
        stack.callback(context.close)
        page = context.new_page()
        page.set_default_timeout(PATIENCE // 3)
        yield Visit(page, theatre, played, LOCALE)


def shoot(page: Page, name: str, walks: bool) -> None:
    for size in (NARROW,) if name in ONLY_NARROW else (WIDE, NARROW):
        page.set_viewport_size(size)
        if size == NARROW and name in IN_DRAWER:
            open_drawer(page, name)
        for theme in ("light", "dark"):
            if walks and (theme == "dark") != (size == NARROW):
                continue
            page.emulate_media(color_scheme=theme)
            page.wait_for_timeout(SETTLING)
            page.screenshot(path=FOLDER / f"{name}-{size['width']}-{theme}.png")
    if name in IN_DRAWER:
        page.locator("#conversations:popover-open").evaluate("(drawer) => drawer.hidePopover()")


def main(names: list[str]) -> None:
    """Raises: SystemExit."""
    failed, walks = list[str](), names == ["walk"]
    FOLDER.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=PATIENCE // 3)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
            args=FLAGS,
        )
        with visiting(browser, locale=LOCALE) as visit:
            for name in STATES:
                if names and name not in names and not walks:
                    continue
                try:
                    with reached(name, visit):
                        if not walks or name in TASKS:
                            shoot(visit.page, name, walks and name not in IMPORTANT)
                except (AssertionError, Error) as error:  # the others are of use all the same
                    failed.append(name)
                    sys.stderr.write(f"{name} is not reached: {error}\n")
    if failed:
        sys.exit(f"not reached: {', '.join(failed)}")


if __name__ == "__main__":
    main(os.environ.get("STATES", "").split())
