"""The named states of the page: what axe judges and what `make screenshots` takes. Each is reached
as a person reaches it, on a real engine with a scripted model, or on one that plays what takes long.
"""

import inspect
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from selfeng_offline.completion import Completion
from selfeng_offline.wire import Rejection
from tests.browser.conftest import PATIENCE
from tests.browser.test_page import (
    IMPLEMENT,
    NARROW,
    TITLES,
    WIDE,
    Curtain,
    Theatre,
    ask,
    ended,
    open_page,
    staged,
)
from tests.doubles import fenced
from tests.exchange.bundles import bundle, draft
from tests.home import ROOT, seeded_home
from tests.web.server_process import ServerProcess

BUILD = "Count the vowels of 'hello world'"
REUSE = "How many vowels are in 'programming'?"
REVERSE = "Reverse the string 'hello world'"
SHORTEN = "Shorten 'The quick brown fox' to 9 characters"
SYMPHONY = "Write a symphony in C minor"
GERMAN = {
    BUILD: "Zähle die Vokale in „hallo welt“",
    REUSE: "Zähle die Vokale in „Programmieren“",
    REVERSE: "Drehe „hallo welt“ um",
    SHORTEN: "Kürze „Der schnelle braune Fuchs“ auf 9 Zeichen",
    SYMPHONY: "Schreibe eine Sinfonie in c-Moll",
    "vowels": "Vokale",
}
"""How a person who reads the page in German asks."""
SALES = "month,revenue,costs\n" + "".join(
    f"2025-{month:02},{12_400 + 1_150 * month - 700 * (month % 3)},{9_800 + 330 * month}\n"
    for month in range(1, 13)
)
_ROWS = ",".join(
    f'{{"month":"2025-{n:02}","revenue":{12_400 + 1_150 * n - 700 * (n % 3)},"costs":{9_800 + 330 * n}}}'
    for n in range(1, 13)
)
TABLE = f"return [{_ROWS}]"
TREE = f'return {{"order": 4711, "customer": {{"name": "Ada", "tags": ["new", "b2b"]}}, "rows": [{_ROWS}]}}'
DRAGGED = """(files) => {
  const transfer = new DataTransfer();
  for (const [name, content] of files) transfer.items.add(new File([content], name));
  return transfer;
}"""
LARGE_PICKED = """() => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([new Uint8Array(101 * 2 ** 20)], "video-of-the-year.mov"));
  const picker = document.querySelector("[data-testid=file-input]");
  picker.files = transfer.files;
  picker.dispatchEvent(new Event("change", { bubbles: true }));
}"""
FORMULAS = r"""The roots of $ax^2 + bx + c = 0$ are

$$x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$$

- [x] It is solved by hand.[^1]
- [ ] It is checked by a program:

```sql
SELECT name, sum(price) AS total FROM sales GROUP BY name ORDER BY total DESC;
```

| item | price |
|:--|--:|
| pencil | 1.20 |
| paper | 12.50 |

[^1]: With a ruler, and some patience.
"""
HOSTILE = "\n\n".join(
    (
        "<script>document.title = 'x'</script><img src=x onerror=alert(1)>",
        "Donaudampfschifffahrtsgesellschaft" * 20,
        "\u202egnp.exe\u202c",
        f"| {' | '.join(f'column {n}' for n in range(30))} |",
        ">" * 2_000,
    )
)


@dataclass(frozen=True)
class Visit:
    """A person at the page."""

    page: Page
    theatre: Theatre
    played: str
    """The link of a server whose engine plays what it is asked for."""
    locale: str = "en"

    def words(self, message: str) -> str:
        """A message of the page's catalogue, without values."""
        texts = (ROOT / f"web/static/locales/{self.locale}.ftl").read_text("utf-8")
        found = re.search(rf"^{message} = (.*)$", texts, re.M)
        assert found, message
        return found[1]

    def say(self, text: str) -> str:
        """A text in the page's language."""
        return GERMAN.get(text, text) if self.locale == "de" else text

    def begin(self, link: str = "") -> None:
        """A new conversation on a wide page, with the model's own replies."""
        self.theatre.stage.plays({})
        self.page.goto("about:blank")
        open_page(self.page, link or self.theatre.link)

    def ready(self) -> None:
        """Wait for the set-up of a first start: a request that builds a tool waits for it, too."""
        for part in ("sandbox", "library"):
            chip = self.page.get_by_test_id(f"status-{part}")
            expect(chip).to_have_attribute("data-tone", "good", timeout=PATIENCE)

    def see(self, testid: str) -> None:
        expect(self.page.get_by_test_id(testid).last).to_be_visible()

    def click(self, testid: str, **which: Any) -> None:
        self.page.get_by_test_id(testid).filter(**which).last.click()

    def attach(self) -> None:
        self.page.get_by_test_id("file-input").set_input_files(
            [{"name": "sales.csv", "mimeType": "text/csv", "buffer": SALES.encode()}]
        )
        self.see("attached-file")


@contextmanager
def servers(folder: Path) -> Iterator[tuple[Theatre, str]]:
    """Both servers: one with the tools of a first start, one that plays."""
    home = seeded_home(folder / "home")
    (folder / "played").mkdir()
    played = ServerProcess(folder / "played", "threading", FILES_MAX_MB="50")
    try:
        with staged(home) as theatre:
            yield theatre, played.link
    finally:
        played.end()


def open_drawer(page: Page, name: str) -> None:
    """Show a state of `IN_DRAWER` on a narrow page."""
    page.locator("[popovertarget=conversations]").click()
    if name == "renaming":  # which ended when the column went
        page.get_by_test_id("conversation-row").first.press("F2")


Reach = Callable[[Visit], Iterator[None] | None]
STATES: dict[str, Reach] = {}
"""By name, in the order in which they are best reached: later ones use tools of earlier ones."""


ONLY_NARROW = frozenset({"drawer", "feed", "steps", "statuses"})
"""States that a wide page does not have."""
IN_DRAWER = frozenset({"searched", "renaming", "undo"})
"""States of the list of conversations, which a narrow page has in its drawer."""


def state(reach: Reach) -> Reach:
    STATES[reach.__name__.replace("_", "-")] = reach
    return reach


@contextmanager
def reached(name: str, visit: Visit) -> Iterator[None]:
    """The page in the state."""
    reach = STATES[name]
    visit.page.emulate_media(color_scheme="light")
    visit.page.set_viewport_size(NARROW if name in ONLY_NARROW else WIDE)
    if inspect.isgeneratorfunction(reach):
        with contextmanager(reach)(visit):
            yield
    else:
        reach(visit)
        yield


@state
def empty(v: Visit) -> None:
    v.begin()
    v.see("example")


@state
def typing(v: Visit) -> None:
    v.begin()
    v.attach()
    v.page.get_by_test_id("composer").fill(v.words("example-file-request"))


@state
def dropping(v: Visit) -> Iterator[None]:
    """Goes on from the one before."""
    files = [["prices.csv", "a,b"], ["notes.txt", "c"]]
    v.page.dispatch_event(
        "body", "dragover", {"dataTransfer": v.page.evaluate_handle(DRAGGED, files)}
    )
    yield
    v.page.dispatch_event("body", "drop", {"dataTransfer": v.page.evaluate_handle(DRAGGED, files)})
    expect(v.page.get_by_test_id("attached-file")).to_have_count(3)


@state
def too_large(v: Visit) -> None:
    """Goes on from the one before."""
    v.page.evaluate(LARGE_PICKED)
    v.see("files-refused")


@state
def uploading(v: Visit) -> Iterator[None]:
    v.begin(v.played)
    network = v.page.context.new_cdp_session(v.page)
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 300_000}
    network.send("Network.emulateNetworkConditions", slow)
    file = {"name": "measured.csv", "mimeType": "text/csv", "buffer": b"7,5\n" * 2_000_000}
    v.page.get_by_test_id("file-input").set_input_files([file])
    ask(v.page, "say hello")
    v.see("pending-upload")
    yield
    v.click("pending-cancel")
    network.send("Network.emulateNetworkConditions", {**slow, "uploadThroughput": -1})


@state
def building(v: Visit) -> Iterator[None]:
    curtain = Curtain()
    v.begin()
    v.ready()
    v.theatre.stage.plays({IMPLEMENT: curtain})
    with curtain.down():
        ask(v.page, v.say(BUILD))
        expect(
            v.page.get_by_test_id("activity").locator("[data-step=implement]")
        ).to_have_attribute("data-state", "running")
        yield
    v.theatre.stage.plays({})
    ended(v.page, 1, "done")


@state
def built(v: Visit) -> None:
    """Goes on from the one before."""
    v.see("birth")


@state
def reused(v: Visit) -> None:
    ask(v.page, v.say(REUSE))
    ended(v.page, 2, "done")


@state
def wrong(v: Visit) -> None:
    """Goes on from the one before."""
    v.click("wrong")
    v.see("wrong-form")


@state
def branches(v: Visit) -> None:
    """Goes on from the one before."""
    v.page.keyboard.press("Escape")
    v.click("ask-again")
    expect(v.page.get_by_test_id("versions")).to_contain_text("2")
    ended(v.page, 2, "done")


@state
def editing(v: Visit) -> None:
    """Goes on from the one before."""
    v.click("edit-request")
    v.see("edits")


@state
def searched(v: Visit) -> Iterator[None]:
    """Goes on from the one before."""
    v.click("cancel-edit")
    if not v.page.get_by_test_id("conversation-search").is_visible():
        v.page.locator("[popovertarget=conversations]").click()
    v.page.get_by_test_id("conversation-search").fill(v.say("vowels"))
    v.see("conversation-found")
    yield
    v.page.set_viewport_size(WIDE)
    v.page.get_by_test_id("conversation-search").fill("")


@state
def renaming(v: Visit) -> Iterator[None]:
    """Goes on from the one before."""
    v.page.get_by_test_id("conversation-row").first.press("F2")
    v.see("conversation-name")
    yield
    v.page.keyboard.press("Escape")


@state
def steps(v: Visit) -> None:
    v.click("view-activity")
    v.see("step")


@state
def repaired(v: Visit) -> None:
    """A bar with as many stages as a build goes through, and a failed step that is open."""
    wrong = "def reverse_string(text: str) -> str:\n    return text\n"
    v.begin()
    v.theatre.stage.plays({IMPLEMENT: Completion(content=fenced(wrong))})
    ask(v.page, v.say(REVERSE))
    ended(v.page, 1, "done")
    v.theatre.stage.plays({})


@state
def feed(v: Visit) -> None:
    """Goes on from the one before: on a narrow page."""
    v.page.locator("[data-testid=progress] [data-stage=repair] button").click()
    v.see("step")


@state
def feed_open(v: Visit) -> None:
    """Goes on from the one before."""
    v.click("activity-more")
    v.click("expand-steps")


@state
def feed_search(v: Visit) -> None:
    """Goes on from the one before."""
    v.click("search-steps")
    v.page.keyboard.type("text")
    v.see("feed-found")


@state
def feed_errors(v: Visit) -> Iterator[None]:
    """Goes on from the one before."""
    v.page.keyboard.press("Escape")
    v.click("activity-more")
    v.click("toggle-errors")
    v.see("errors-only")
    yield
    v.click("activity-more")
    v.click("toggle-errors")


@state
def graph(v: Visit) -> Iterator[None]:
    """Goes on from the one before."""
    v.click("activity-more")
    v.click("show-graph")
    v.see("graph")
    yield
    v.page.keyboard.press("Escape")


@state
def value_missing(v: Visit) -> None:
    v.begin()
    ask(v.page, "What is 15 percent?")
    expect(v.page.get_by_test_id("turn").last).not_to_have_attribute("data-state", "running")


@state
def question(v: Visit) -> None:
    v.begin(v.played)
    ask(v.page, "question")
    v.see("questions")


@state
def answered(v: Visit) -> None:
    form = v.page.get_by_test_id("questions")
    form.get_by_role("radio").first.focus()
    v.page.keyboard.press("ArrowDown")
    v.page.keyboard.press("Tab")
    v.page.keyboard.type("2.5")
    v.page.keyboard.press("Enter")
    v.see("answered")


@state
def declined(v: Visit) -> None:
    v.begin()
    ask(v.page, v.say(SYMPHONY))
    ended(v.page, 1, "declined")


@state
def failed(v: Visit) -> None:
    v.begin()
    gone = Rejection(503, "Overloaded.", headers={"retry-after-ms": "1"})
    v.theatre.stage.plays(dict.fromkeys(TITLES, gone))
    ask(v.page, v.say(SHORTEN))
    ended(v.page, 1, "failed")


@state
def stopped(v: Visit) -> None:
    curtain = Curtain()
    v.begin()
    v.theatre.stage.plays(dict.fromkeys(TITLES, curtain))
    with curtain.down():
        ask(v.page, v.say(SHORTEN))
        v.click("stop")
        ended(v.page, 1, "stopped")
    v.theatre.stage.plays({})


@state
def queued(v: Visit) -> Iterator[None]:
    v.begin(v.played)
    ask(v.page, "queue state")
    expect(v.page.get_by_test_id("now")).to_contain_text("2")
    yield
    ask(v.page, "release state")
    ended(v.page, 2, "done")


@state
def refused(v: Visit) -> None:
    v.begin(v.played)
    ask(v.page, "crash")
    expect(v.page.get_by_test_id("pending").locator(".problem button").first).to_be_visible()


@state
def hostile(v: Visit) -> None:
    """A long request, and an answer that would break a page if it could."""
    v.begin(v.played)
    ask(v.page, f"recite {HOSTILE}")
    v.see("request-more")
    v.see("summary")


@state
def conversation_menu(v: Visit) -> None:
    """Goes on from the one before."""
    v.page.get_by_test_id("conversation-more").first.click()
    v.see("conversation-menu")


@state
def undo(v: Visit) -> None:
    """Goes on from the one before."""
    v.page.keyboard.press("Escape")
    v.page.get_by_test_id("conversation-row").first.press("Delete")
    v.see("undo")


@state
def formulas(v: Visit) -> None:
    v.begin(v.played)
    ask(v.page, f"recite {FORMULAS}")
    v.see("summary")
    v.see("copy")
    expect(v.page.locator(".formula math").first).to_be_visible()


@state
def silent(v: Visit) -> Iterator[None]:
    """A model that is silent for a while."""
    curtain = Curtain()
    v.begin()
    v.theatre.stage.plays({IMPLEMENT: curtain})
    with curtain.down():
        ask(v.page, v.words("example-build-request"))
        expect(v.page.get_by_test_id("silent")).to_be_visible(timeout=40_000)
        yield
        v.click("stop")
    v.theatre.stage.plays({})


@state
def plan(v: Visit) -> None:
    v.begin()
    ask(v.page, v.words("example-plan-request"))
    ended(v.page, 1, "done")


@state
def script(v: Visit) -> None:
    v.begin()
    ask(v.page, v.words("example-script-request"))
    ended(v.page, 1, "done")


@state
def table(v: Visit) -> None:
    v.begin(v.played)
    ask(v.page, TABLE)
    v.see("long-result")


@state
def tree(v: Visit) -> None:
    v.begin(v.played)
    ask(v.page, TREE)
    v.see("long-result")


@state
def chart(v: Visit) -> None:
    v.begin(v.played)
    ask(v.page, TABLE)
    v.click("view-chart")
    v.page.get_by_test_id("chart-plot").hover(position={"x": 200, "y": 100})
    v.see("chart-tip")


@state
def picture(v: Visit) -> None:
    v.begin()
    v.attach()
    ask(v.page, v.words("example-file-request"))
    expect(v.page.get_by_test_id("turn").last).not_to_have_attribute(
        "data-state", "running", timeout=180_000
    )
    v.see("made-picture")


@state
def library(v: Visit) -> None:
    v.begin()
    v.click("tab-library")
    v.see("tool-row")


@state
def tool(v: Visit) -> None:
    v.page.locator("[data-tool=count_vowels]").click()
    v.see("run-form")


@state
def run(v: Visit) -> None:
    """Goes on from the one before."""
    v.page.get_by_test_id("run-text").fill("Abracadabra")
    v.click("run")
    v.see("run-result")


@state
def teaching(v: Visit) -> Iterator[None]:
    """Goes on from the one before."""
    v.click("tab-teach")
    v.click("teach-add")
    v.page.get_by_test_id("teach-text").fill("rhythm")
    v.page.get_by_test_id("teach-value").fill("1")
    expect(v.page.get_by_test_id("edit-verdict")).to_have_attribute("data-state", "failed")
    yield
    v.page.get_by_test_id("teach-row").get_by_role("button").click()


@state
def code(v: Visit) -> None:
    v.click("tab-code")
    v.see("tool-detail")


@state
def versions(v: Visit) -> None:
    v.click("tab-versions")
    v.see("version")


@state
def tool_wide(v: Visit) -> None:
    """Goes on from the one before."""
    v.click("tab-overview")
    v.click("widen")
    v.see("run-form")


@state
def code_wide(v: Visit) -> None:
    """Goes on from the one before."""
    v.click("tab-code")


@state
def panel_hidden(v: Visit) -> Iterator[None]:
    v.begin()
    v.page.keyboard.press("Control+b")
    v.see("show-panel")
    yield
    v.page.set_viewport_size(WIDE)
    v.page.keyboard.press("Control+b")


@state
def library_large(v: Visit) -> None:
    v.begin(v.played)
    ask(v.page, "stock 400")
    v.click("tab-library")
    expect(v.page.get_by_test_id("tab-library")).to_contain_text("401")


@state
def library_searched(v: Visit) -> None:
    """Goes on from the one before."""
    v.page.get_by_test_id("library-search").fill("plus")
    v.see("tool-row")


@state
def tool_used(v: Visit) -> None:
    """Goes on from the one before."""
    v.page.get_by_test_id("library-search").fill("0004")
    v.page.locator("[data-tool=extract_addresses_0004]").click()
    v.page.get_by_test_id("uses").scroll_into_view_if_needed()
    v.see("chart")


@state
def importing(v: Visit) -> Iterator[None]:
    v.begin(v.played)
    v.click("tab-library")
    v.click("library-menu")
    v.click("import-tools")
    with tempfile.TemporaryDirectory() as folder:
        drafts = draft("count_letters"), draft("wrong_words")
        file = {
            "name": "friends.zip",
            "mimeType": "application/zip",
            "buffer": bundle(Path(folder), *drafts),
        }
        v.page.get_by_test_id("import-file").set_input_files([file])
        expect(v.page.locator("[data-testid=import-tool][data-outcome=refused]")).to_be_visible()
        yield
    v.page.keyboard.press("Escape")


@state
def lessons(v: Visit) -> None:
    v.begin()
    v.click("tab-lessons")


@state
def shortcuts(v: Visit) -> None:
    v.begin()
    v.page.keyboard.press("Control+/")


@state
def settings(v: Visit) -> None:
    v.begin(v.played)
    v.click("open-settings")
    v.see("settings-save")


@state
def settings_tested(v: Visit) -> None:
    """Goes on from the one before."""
    v.page.get_by_test_id("settings-server").select_option("other")
    v.page.get_by_test_id("settings-address").fill(v.theatre.server.base_url)
    v.page.get_by_test_id("settings-openai_api_key").fill(v.theatre.server.api_key)
    v.page.get_by_test_id("settings-openai_model").fill(v.theatre.server.model)
    v.click("settings-test-begin")
    v.see("settings-verdict")


@state
def settings_refused(v: Visit) -> None:
    """Goes on from the one before."""
    v.page.get_by_test_id("settings-turn_max_calls").fill("0")
    v.page.get_by_test_id("settings-synthesis_candidates").fill("many")
    v.click("settings-save")
    v.see("settings-error")


@state
def settings_fixed(v: Visit) -> None:
    v.begin()
    v.click("open-settings")
    v.see("settings-save")


@state
def model_gone(v: Visit) -> Iterator[None]:
    v.begin(v.played)
    v.click("open-settings")
    v.page.get_by_test_id("settings-server").select_option("other")
    v.page.get_by_test_id("settings-address").fill("http://127.0.0.1:9/v1")
    v.click("settings-save")
    v.see("settings-saved")
    v.page.keyboard.press("Escape")
    expect(v.page.get_by_test_id("status-model")).to_have_attribute("data-tone", "bad")
    v.page.get_by_test_id("status-model").click()
    yield
    v.page.set_viewport_size(WIDE)
    v.click("status-settings")
    v.page.get_by_test_id("settings-server").select_option("offline")
    v.click("settings-save")
    v.see("settings-saved")


@state
def statuses(v: Visit) -> None:
    v.begin(v.played)
    v.click("status")
    v.see("status-details")


@state
def palette(v: Visit) -> None:
    v.begin()
    v.page.keyboard.press("Control+k")
    v.see("palette")
    v.page.keyboard.type(v.say("vowels")[:3])


@state
def drawer(v: Visit) -> None:
    v.begin()
    v.page.locator("[popovertarget=conversations]").click()


@state
def offline(v: Visit) -> Iterator[None]:
    v.begin()
    v.page.context.set_offline(True)
    v.see("banner")
    ask(v.page, v.say(REUSE))
    yield
    v.page.context.set_offline(False)
    ended(v.page, 1, "done")


@state
def new_project(v: Visit) -> None:
    v.begin()
    v.click("new-project")
    v.click("example-goal", has_text="CSV")


@state
def project_asks(v: Visit) -> None:
    """Goes on from the one before."""
    v.page.get_by_test_id("step-mode").check()
    v.click("begin-build")
    v.see("waiting")


@state
def project(v: Visit) -> None:
    """Goes on from the one before."""
    v.click("say-act_on")
    done = v.page.get_by_test_id("project-state")
    expect(done).to_have_attribute("data-state", "done", timeout=180_000)
    v.see("project-end")


@state
def project_file(v: Visit) -> None:
    """Goes on from the one before."""
    v.click("changed-file", has_text="main.py")
    v.see("open-file")


@state
def sharing(v: Visit) -> None:
    v.begin()
    ask(v.page, v.say(REUSE))
    ended(v.page, 1, "done")
    v.page.get_by_test_id("conversation-more").first.click()
    v.page.get_by_role("menuitem", name=v.words("share-menu")).click()
    v.click("share-create")
    v.see("share-link")


@state
def shared(v: Visit) -> None:
    """Goes on from the one before."""
    v.page.goto(v.page.get_by_test_id("share-link").input_value())
    v.see("shared-turn")


TASKS = (
    "empty",
    "dropping",
    "too-large",
    "uploading",
    "building",
    "built",
    "reused",
    "wrong",
    "branches",
    "editing",
    "searched",
    "renaming",
    "undo",
    "question",
    "declined",
    "failed",
    "stopped",
    "silent",
    "formulas",
    "plan",
    "tree",
    "chart",
    "picture",
    "run",
    "teaching",
    "versions",
    "importing",
    "lessons",
    "shortcuts",
    "settings-tested",
    "model-gone",
    "palette",
    "project-asks",
    "project",
    "project-file",
    "sharing",
    "shared",
)
"""People's actions: the pictures of a walk through the page."""
IMPORTANT = frozenset(
    {
        "empty",
        "building",
        "built",
        "reused",
        "question",
        "declined",
        "failed",
        "chart",
        "run",
        "project",
    }
)
"""The most frequent pictures, of which a walk has both themes."""


@state
def german(v: Visit) -> None:
    v.page.context.add_cookies([{"name": "language", "value": "de", "url": v.theatre.link}])
    v.begin()
    v.see("example")


@state
def german_built(v: Visit) -> None:
    """Goes on from the one before."""
    ask(v.page, "Convert 25 degrees Celsius to Fahrenheit")
    ended(v.page, 1, "done")


@state
def german_tool(v: Visit) -> Iterator[None]:
    """Goes on from the one before."""
    v.click("birth-open")
    v.see("run-form")
    yield
    v.page.context.clear_cookies(name="language")
