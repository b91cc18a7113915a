"""The page's cost to a browser: `python -m benchmarks.page [LOADS]`, in Chromium on the web server
with an engine without a model.

The last line is one JSON object. Requests (also of the socket) and kilobytes as transferred, of a
first load with an empty cache and of a second one; `first_paint_ratio` and `ready_ratio` are the
times to the first paint and to a page that can be used over those of the page that asks for the
token, which is one static response, loaded alternately; `main_thread_ratio` is the processor time
that a load takes of the main thread, over that of a plain table of 1,000 rows; `tokens_4000_ratio`
the processor time for an answer of 4,000 pieces of Markdown as a fast model writes them, divided by
the time for the same answer when it is opened again. `rows_10000_ratio`, `conversations_500_ratio`
and `tools_1000_ratio` are the processor time of a step of half a screen while the list is scrolled
from end to end, the 98th percentile, over that of a plain table; `layout_shift` is the shift while
the page loads, `stream_shift` the larger one while an answer of 1,500 pieces is written, wide and
narrow. `thousand_turns_kb` is what opening a conversation of 1,000 turns transfers,
`thousand_turns_main_ratio` the processor time of the main thread for it over that of one with two
turns, `thousand_turns_key_ratio` that of a key in the composer over that in an empty conversation.
`upload_100mb_rss_mb` is how much the server's memory grows at most while the page sends a file of
100 MB and the turn that it comes with is stored. `axe_violations` counts what axe finds at three
widths in both themes. The exit code is 1 if a goal is missed.
"""

import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, CDPSession, Locator, Page, sync_playwright

from benchmarks.goals import report
from selfeng.core.events import TurnFinished, TurnStarted
from selfeng.store.database import open_database
from selfeng.store.journal import Journal, JournalEntry
from tests.browser.conftest import FLAGS
from tests.fork_server import ROOT
from tests.web.fake_engine import ESSAY
from tests.web.server_process import ServerProcess
from web.access import PERSON

GOALS = {
    "cold_requests": 20,
    "cold_kb": 200,
    "warm_requests": 8,
    "warm_kb": 30,
    "first_paint_ratio": 2.5,
    "ready_ratio": 8,
    "main_thread_ratio": 5,
    "layout_shift": 0.02,
    "stream_shift": 0.05,
    "tokens_4000_ratio": 10,
    "rows_10000_ratio": 1,
    "conversations_500_ratio": 1,
    "tools_1000_ratio": 1,
    "thousand_turns_kb": 300,
    "thousand_turns_main_ratio": 2,
    "thousand_turns_key_ratio": 1.5,
    "upload_100mb_rss_mb": 40,
    "axe_violations": 0,
}
"""The largest allowed figures, on a machine with nothing else to do."""
_SHORT, _LONG = "The conversation of two turns", "The conversation of a thousand turns"
_LOADS = 7
_SIZES = ((1440, 900), (768, 1024), (375, 812))
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_PATIENCE = 120_000  # milliseconds

_WATCH = """() => {
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
}"""
_PAINTED = """() => new Promise((resolve) => {
  const first = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
  const look = () => (first() ? resolve(first()) : setTimeout(look, 5));
  look();
})"""
_READY = """() => new Promise((resolve) => {
  const usable = () => document.activeElement?.id === "composer"
    && document.querySelector("[data-testid=status-library][data-state=loaded]");
  const look = () => (usable() ? resolve(performance.now()) : setTimeout(look, 5));
  look();
})"""
_AXE = """async (runOnly) => {
  const ends = (a) => a.effect.getComputedTiming().iterations !== Infinity;
  await Promise.allSettled(document.getAnimations().filter(ends).map((a) => a.finished));
  const { violations } = await axe.run({ runOnly, resultTypes: ["violations"], preload: false });
  return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 200)}`));
}"""
_STEPS = 300
"""The most steps of half a screen from one end of a list to the other."""
_STEP = f"""async (list) => {{
  const frame = () => new Promise(requestAnimationFrame);
  list.scrollTop += Math.max(list.clientHeight / 2, list.scrollHeight / {_STEPS});
  await frame();
  await frame();
  return list.scrollTop + list.clientHeight < list.scrollHeight - 1;
}}"""
_PLAIN = """async () => {
  const row = (number) => `<tr><td>${number}</td><td>of 1,000</td><td>plain</td></tr>`;
  const rows = Array.from({ length: 1000 }, (_, number) => row(number)).join("");
  document.body.innerHTML = `<table>${rows}</table>`;
  await new Promise(requestAnimationFrame);
  return document.body.offsetHeight;
}"""


class Traffic:
    """The transfers of a page, by its devtools."""

    def __init__(self, page: Page) -> None:
        self.requests = self.bytes = self.socket_bytes = 0
        self._kept: set[str] = set()
        self.session = page.context.new_cdp_session(page)
        self.session.on("Network.requestServedFromCache", self._from_cache)
        self.session.on("Network.responseReceived", self._answered)
        self.session.on("Network.loadingFinished", self._finished)
        self.session.on("Network.webSocketCreated", self._socket)
        self.session.on("Network.webSocketFrameReceived", self._received)
        self.session.send("Network.enable")
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def _from_cache(self, told: dict[str, Any]) -> None:
        self._kept.add(told["requestId"])

    def _answered(self, told: dict[str, Any]) -> None:
        response = told["response"]
        if response.get("fromDiskCache") or response["url"].startswith(("data:", "blob:")):
            self._kept.add(told["requestId"])

    def _finished(self, told: dict[str, Any]) -> None:
        if told["requestId"] not in self._kept:
            self.requests += 1
            self.bytes += told["encodedDataLength"]

    def _received(self, told: dict[str, Any]) -> None:
        self.socket_bytes += len(told["response"]["payloadData"].encode())

    def _socket(self, _told: dict[str, Any]) -> None:
        self.requests += 1


def main(loads: int = _LOADS) -> int:
    with (
        tempfile.TemporaryDirectory(prefix="page-") as folder,
        _server(Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        plain = _plain(browser)
        figures = {
            **_loads(browser, server, loads, plain),
            "stream_shift": max(_stream_shift(browser, server, size) for size in _SIZES),
            **_uses(browser, server, plain),
            **_long_conversations(browser, server),
            "upload_100mb_rss_mb": _upload(browser, server),
        }
        found = _violations(browser, server)
        browser.close()
    figures["axe_violations"] = len(found)
    return report(figures, GOALS, problems=found)


@contextmanager
def _server(folder: Path) -> Iterator[ServerProcess]:
    """With 500 conversations."""
    database = open_database(f"sqlite:///{folder / 'agent.db'}")
    journal = Journal(database)
    for number in range(500):
        journal.create_conversation(PERSON, f"Request {number} of the past weeks")
    for title, turns in ((_SHORT, 2), (_LONG, 1000)):
        conversation, now = journal.create_conversation(PERSON, title), datetime.now(UTC)
        for number in range(turns):
            started = TurnStarted(request=f"Request {number}: compare these two lists")
            turn = journal.begin_turn(conversation, started.request, started=started)
            ends = TurnFinished(answer=ESSAY)
            journal.append([JournalEntry(conversation, turn, now, ends)])
    database.dispose()
    server = ServerProcess(folder, "eventlet", FILES_MAX_MB="200")
    if not server.link:
        server.end()
        raise SystemExit(server.errors)
    try:
        yield server
    finally:
        server.end()


@contextmanager
def _visit(browser: Browser, server: ServerProcess) -> Iterator[BrowserContext]:
    """A browser with an empty cache that has access."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(_PATIENCE)
    context.request.get(server.link)
    yield context
    context.close()


def _plain(browser: Browser) -> float:
    """Milliseconds of the main thread for a table of 1,000 plain rows, the median of several."""
    page = browser.new_page()
    session = Traffic(page).session
    page.goto("about:blank")
    times = []
    for _ in range(2 * _LOADS):
        before = _busy(session)
        page.evaluate(_PLAIN)
        times.append(_busy(session) - before)
    page.close()
    return statistics.median(times)


def _scroll(scroller: Locator, session: CDPSession) -> float:
    """Milliseconds of the main thread for a step from one end of the list to the other, the 98th
    percentile.
    """
    times, more = list[float](), True
    while more:
        before = _busy(session)
        more = scroller.evaluate(_STEP)
        times.append(_busy(session) - before)
    return sorted(times)[int(0.98 * (len(times) - 1))]


def _loads(browser: Browser, server: ServerProcess, loads: int, plain: float) -> dict[str, float]:
    cold, warm, paints, readies, busy, shifts = [], [], [], [], [], []
    for _ in range(loads):
        with _visit(browser, server) as context:
            page = context.new_page()
            page.add_init_script(f"({_WATCH})()")
            first = Traffic(page)
            page.goto(server.url)
            paint, ready = page.evaluate(_PAINTED), page.evaluate(_READY)
            page.wait_for_timeout(300)
            cold.append(first)
            busy.append(_busy(first.session))
            shifts.append(page.evaluate("window.shift"))
            page.close()
            page = context.new_page()
            again = Traffic(page)
            page.goto(server.url)
            page.evaluate(_READY)
            page.wait_for_timeout(300)
            warm.append(again)
        with browser.new_context() as context:
            page = context.new_page()
            page.goto(server.url)
            static = page.evaluate(_PAINTED)
        paints.append(paint / static)
        readies.append(ready / static)
    return {
        "cold_requests": max(one.requests for one in cold),
        "cold_kb": round(max(one.bytes for one in cold) / 1000, 1),
        "warm_requests": max(one.requests for one in warm),
        "warm_kb": round(max(one.bytes for one in warm) / 1000, 1),
        "first_paint_ratio": round(statistics.median(paints), 2),
        "ready_ratio": round(statistics.median(readies), 2),
        "main_thread_ratio": round(statistics.median(busy) / plain, 2),
        "layout_shift": round(max(shifts), 4),
    }


def _stream_shift(browser: Browser, server: ServerProcess, size: tuple[int, int]) -> float:
    with _visit(browser, server) as context:
        page = context.new_page()
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.add_init_script(f"({_WATCH})()")
        page.goto(server.url)
        page.evaluate(_READY)
        _ask(page, "essay 100", 1)
        page.evaluate("window.shift = 0")
        _ask(page, "essay 1500", 2)
        return round(page.evaluate("window.shift"), 4)


def _uses(browser: Browser, server: ServerProcess, plain: float) -> dict[str, float]:
    with _visit(browser, server) as context:
        page = context.new_page()
        session = Traffic(page).session
        page.goto(server.url)
        page.evaluate(_READY)
        page.wait_for_timeout(1000)  # all others follow the newest fifty
        conversations = _scroll(page.locator(".sidebar-scroller"), session)
        tokens = _written(page, session)
        _ask(page, "return rows 10000", 2)
        table = page.get_by_test_id("long-result")
        table.locator("tbody tr").first.wait_for()
        rows = _scroll(table.locator(".table-scroll"), session)
        _ask(page, "stock 1000", 3)
        page.get_by_test_id("tab-library").click()
        page.get_by_test_id("tool-row").nth(1).wait_for()
        tools = _scroll(page.locator(".library .panel-scroller"), session)
    return {
        "tokens_4000_ratio": round(tokens, 1),
        "rows_10000_ratio": round(rows / plain, 2),
        "conversations_500_ratio": round(conversations / plain, 2),
        "tools_1000_ratio": round(tools / plain, 2),
        "plain_ms": round(plain, 1),
    }


def _written(page: Page, session: CDPSession) -> float:
    """The main thread's time for an answer that is written, over that for one that is there."""
    before = _busy(session)
    _ask(page, "essay 4000", 1)
    written = _busy(session) - before
    page.get_by_test_id("new-conversation").click()
    page.get_by_test_id("example").first.wait_for()
    page.wait_for_timeout(500)
    before = _busy(session)
    page.get_by_test_id("conversation-row").first.click()
    page.get_by_test_id("answer").wait_for()
    page.wait_for_timeout(1000)
    return written / (_busy(session) - before)


def _long_conversations(browser: Browser, server: ServerProcess) -> dict[str, float]:
    main, transferred = dict[str, float](), dict[str, float]()
    with _visit(browser, server) as context:
        page = context.new_page()
        traffic = Traffic(page)
        page.goto(server.url)
        page.evaluate(_READY)
        empty = _key(page, traffic.session)
        for title in (_SHORT, _LONG):
            busy, before = _busy(traffic.session), traffic.bytes + traffic.socket_bytes
            page.get_by_test_id("conversation-row").filter(has_text=title).click()
            page.get_by_test_id("answer").nth(1).wait_for()
            page.wait_for_timeout(1000)
            main[title] = _busy(traffic.session) - busy
            transferred[title] = traffic.bytes + traffic.socket_bytes - before
        full = _key(page, traffic.session)
    return {
        "thousand_turns_kb": round(transferred[_LONG] / 1000, 1),
        "thousand_turns_main_ratio": round(main[_LONG] / main[_SHORT], 2),
        "thousand_turns_key_ratio": round(full / empty, 2),
    }


def _upload(browser: Browser, server: ServerProcess) -> float:
    process = Path(f"/proc/{server.process.pid}")
    with _visit(browser, server) as context, tempfile.NamedTemporaryFile(suffix=".csv") as file:
        for _ in range(100):
            file.write(b"day,item,price\n" * 70_000)
        file.truncate(100 * 1024 * 1024)
        page = context.new_page()
        page.goto(server.url)
        page.evaluate(_READY)
        _ask(page, "essay 100", 1)
        before = _memory(process, "VmRSS")
        (process / "clear_refs").write_text("5")  # the peak begins anew
        page.get_by_test_id("file-input").set_input_files(file.name)
        _ask(page, "essay 10", 2)
        return round(_memory(process, "VmHWM") - before, 1)


def _memory(process: Path, field: str) -> float:
    """MB of a process."""
    lines = (process / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def _key(page: Page, session: CDPSession) -> float:
    """Milliseconds of the main thread for a key in the composer, the median of three texts."""

    def of_a_text(_: int) -> float:
        page.get_by_test_id("composer").fill("a")
        before = _busy(session)
        page.get_by_test_id("composer").press_sequentially("statistics " * 5, delay=30)
        return (_busy(session) - before) / 55

    return statistics.median(map(of_a_text, range(3)))


def _violations(browser: Browser, server: ServerProcess) -> list[str]:
    """The violations that axe finds in the views of the page, with their places."""
    found = []
    with _visit(browser, server) as context:
        page = context.new_page()
        page.goto(server.url)
        page.evaluate(_READY)
        page.evaluate((ROOT / "node_modules/axe-core/axe.min.js").read_text())

        def look(view: str) -> None:
            for width, height in _SIZES:
                page.set_viewport_size({"width": width, "height": height})
                for theme in ("light", "dark"):
                    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
                    flaws = page.evaluate(_AXE, _RULES)
                    found.extend(f"{view}, {width}, {theme}: {flaw}" for flaw in flaws)

        look("front door")
        _ask(page, "essay 300", 1)
        _ask(page, "return rows 100", 2)
        look("conversation")
        for view in ("activity", "library", "lessons"):
            page.set_viewport_size({"width": 1440, "height": 900})
            page.get_by_test_id(f"tab-{view}").click()
            look(view)
        page.set_viewport_size({"width": 1440, "height": 900})
        page.get_by_test_id("new-project").click()
        look("new project")
    return found


def _ask(page: Page, request: str, number: int) -> None:
    """Ask, and wait until this many turns have ended."""
    page.get_by_test_id("composer").fill(request)
    page.keyboard.press("Enter")
    page.locator("[data-testid=turn][data-state=done]").nth(number - 1).wait_for()


def _busy(session: CDPSession) -> float:
    """Milliseconds of the main thread so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(one["value"] for one in metrics if one["name"] == "TaskDuration") * 1000


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
