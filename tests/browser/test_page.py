"""The page in Chromium: accessible, usable by keyboard, live, private, and harmless whatever the
model writes.
"""

import ast
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from selfeng.core.spec import SpecificationReply
from selfeng_offline.completion import Completion, CompletionRequest, Flawed
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from selfeng_offline.wire import Rejection
from tests.home import ROOT, Home, bare_home, serving
from tests.script import Script, Step, title_of

pytestmark = [pytest.mark.bubblewrap, pytest.mark.browser, pytest.mark.timeout(240)]

REVERSE = "Reverse the string 'hello world'"
UNUSABLE = Completion(
    content=SpecificationReply(outcome="tool", message="", specification=None).model_dump_json()
)
"""A specification that is refused."""
SPECIFY, TEST, IMPLEMENT, LEARN = (
    "write the specification",
    "write the tests",
    "write the implementation",
    "learn lessons",
)
TITLES = (
    "choose a tool",
    "extract the arguments",
    SPECIFY,
    TEST,
    IMPLEMENT,
    "answer the person",
    "answer from the results of a plan",
    LEARN,
)
WIDE, MIDDLE, NARROW = (
    {"width": width, "height": height} for width, height in ((1440, 900), (768, 1024), (375, 812))
)


@pytest.fixture(scope="module")
def link(tmp_path_factory) -> Iterator[str]:
    """The page on the offline model and bubblewrap, with a library that is empty at first."""
    with serving(bare_home(tmp_path_factory.mktemp("page"), bubblewrap=True)) as link:
        yield link


class Stage:
    """The author of the model server's replies: the cookbook, but for what a test puts in its
    place.
    """

    def __init__(self) -> None:
        self.plays({})

    def complete(self, request: CompletionRequest) -> Completion:
        played = self._script if title_of(request) in self._instead else Cookbook()
        return played.complete(request)

    def plays(self, instead: Mapping[str, Step]) -> None:
        self._instead, self._script = frozenset(instead), Script(titled=instead)


@dataclass(frozen=True)
class Theatre:
    """The page on a model server whose replies a test writes, and on bubblewrap, which starts
    fastest.
    """

    link: str
    stage: Stage
    server: OfflineServer


@contextmanager
def staged(home: Home) -> Iterator[Theatre]:
    stage = Stage()
    with OfflineServer(stage) as server:
        settings = {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": server.api_key,
            "OPENAI_MODEL": server.model,
        }
        with serving(home, **settings) as link:
            yield Theatre(link, stage, server)


@pytest.fixture(scope="module")
def theatre(tmp_path_factory) -> Iterator[Theatre]:
    with staged(bare_home(tmp_path_factory.mktemp("theatre"), bubblewrap=True)) as theatre:
        yield theatre


def open_page(page: Page, link: str) -> None:
    page.goto(link)
    expect(page.get_by_test_id("composer")).to_be_focused()
    expect(page.get_by_test_id("status-library")).to_have_attribute("data-state", "loaded")


def ask(page: Page, request: str) -> None:
    page.get_by_test_id("composer").fill(request)
    page.keyboard.press("Enter")


def ended(page: Page, turns: int, state: str) -> Locator:
    """The newest turn, that of this number, once it has ended so."""
    expect(page.get_by_test_id("turn")).to_have_count(turns)
    turn = page.get_by_test_id("turn").last
    expect(turn).to_have_attribute("data-state", re.compile("done|declined|failed|stopped"))
    expect(turn).to_have_attribute("data-state", state)
    return turn


def finished(page: Page, turns: int = 1) -> Locator:
    """The answer of the newest turn, once it is whole."""
    return ended(page, turns, "done").get_by_test_id("answer")


def step(page: Page, kind: str) -> Locator:
    return page.get_by_test_id("activity").locator(f"[data-step={kind}]")


def opened(page: Page, kind: str) -> Locator:
    """The newest step of that kind, unfolded."""
    newest = step(page, kind).last
    button = newest.locator(".step-name").first
    if button.get_attribute("aria-expanded") == "false":
        button.click()
    return newest


# Accessibility


AXE = (ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text()
STANDARD = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN_AXE = """async (runOnly) => {
  const finite = document.getAnimations().filter((a) => a.effect.getComputedTiming().iterations !== Infinity);
  await Promise.allSettled(finite.map((a) => a.finished));  // a colour on its way is no colour to judge
  // Preloading would copy the styles into an inline sheet, which the page's policy refuses and reports.
  const { violations } = await axe.run({ runOnly, resultTypes: ["violations"], preload: false });
  return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html} ${n.failureSummary}`));
}"""
OVERFLOW = (
    "() => Math.max(document.scrollingElement.scrollWidth, document.body.scrollWidth) - innerWidth"
)


TO_FOCUS = (
    """() => document.querySelector("dialog[open] :focus")?.scrollIntoView({ block: "center" })"""
)
"""Where a person looks; another size leaves a dialog scrolled to anywhere, and axe takes a target for
too small that a bar covers by chance.
"""


def flaws(page: Page, where: str, sizes=(WIDE, MIDDLE, NARROW)) -> list[str]:
    """The problems that axe finds in both themes and these sizes, and elements wider than the page.
    Of the dark theme only the colours are looked at, and of the size in the middle only the width:
    nothing else differs.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE)
    found: list[str] = []
    for size in sizes:
        page.set_viewport_size(size)
        page.evaluate(TO_FOCUS)
        themes = {"light": STANDARD, "dark": ["color-contrast"]} if size != MIDDLE else {}
        for theme, rules in themes.items():
            page.emulate_media(color_scheme=theme)
            found += [
                f"{where}, {size['width']}, {theme}: {violation}"
                for violation in page.evaluate(RUN_AXE, rules)
            ]
        if page.evaluate(OVERFLOW) > 0:
            found.append(f"{where} is {page.evaluate(OVERFLOW)} pixels wider than {size['width']}")
    return found


# Keyboard


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the target has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if target.evaluate("(element) => element === document.activeElement"):
            return
    pytest.fail(f"Tab does not reach {target}")


def test_the_first_key_skips_to_the_request(link, page):
    open_page(page, link)
    skip = page.get_by_test_id("skip")
    expect(skip).to_be_attached()
    assert (
        page.evaluate("document.querySelector('a[href], button, input').dataset.testid") == "skip"
    )
    skip.focus()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("composer")).to_be_focused()


def test_enter_sends_and_shift_enter_begins_a_line(link, page):
    open_page(page, link)
    page.keyboard.type("Hello!")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Goodbye!")
    expect(page.get_by_test_id("composer")).to_have_value("Hello!\nGoodbye!")
    expect(page.get_by_test_id("turn")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("composer")).to_have_value("")
    expect(page.get_by_test_id("request")).to_have_text("Hello!\nGoodbye!")
    expect(page.get_by_test_id("composer")).to_be_focused()


def test_an_example_is_put_into_the_composer_whole(link, page):
    open_page(page, link)
    composer, examples = page.get_by_test_id("composer"), page.get_by_test_id("example")
    tab_to(page, examples.nth(1))
    page.keyboard.press("Enter")
    expect(composer).to_have_value("Turn 'Meet me at noon' into Morse code")
    expect(composer).to_be_focused()
    page.locator("[data-testid=example][data-kind=file]").click()
    expect(composer).to_have_value("Plot revenue over month from sales.csv")
    expect(page.get_by_test_id("attached-file")).to_contain_text("sales.csv")
    examples.last.click()  # whose file it was not
    expect(page.get_by_test_id("attached-file")).to_have_count(0)
    expect(composer).to_be_focused()
    expect(page.get_by_test_id("turn")).to_have_count(0)


@pytest.mark.extended
def test_every_example_of_the_front_door_works(link, page):
    open_page(page, link)
    count = page.get_by_test_id("example").count()
    assert count == 6
    for number in range(count):
        page.get_by_test_id("new-conversation").click()
        page.get_by_test_id("example").nth(number).click()
        expect(page.get_by_test_id("composer")).to_be_focused()
        page.keyboard.press("Enter")
        turn = page.get_by_test_id("turn")
        expect(turn).to_have_attribute("data-outcome", "answered")
    page.get_by_test_id("new-conversation").click()
    expect(page.get_by_test_id("recent-tool")).not_to_have_count(0)


def test_a_long_paste_becomes_a_file_and_can_be_text_again(link, page):
    open_page(page, link)
    composer = page.get_by_test_id("composer")
    paste = """(field, text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", text);
      field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }"""
    for _ in range(2):
        composer.evaluate(paste, "word " * 2_500)
    expect(page.get_by_test_id("attached-file")).to_have_count(2)
    expect(page.get_by_test_id("attached-file").last).to_contain_text("pasted-2.txt")
    page.get_by_test_id("file-as-text").first.click()
    expect(composer).to_have_value("word " * 2_500)
    expect(page.get_by_test_id("attached-file")).to_have_count(1)
    expect(page.get_by_test_id("file-as-text")).to_have_count(0)  # too long together
    composer.fill("x" * 20_001)
    expect(page.get_by_test_id("too-long")).to_contain_text("20,001")
    page.keyboard.press("Enter")
    expect(composer).not_to_have_value("")


@pytest.mark.extended
def test_the_library_is_browsed_by_keyboard(link, page):
    open_page(page, link)
    ask(page, REVERSE)
    finished(page)
    tab_to(page, page.get_by_test_id("tab-activity"))
    page.keyboard.press("ArrowRight")
    expect(page.get_by_test_id("tab-library")).to_be_focused()
    expect(page.get_by_test_id("tab-library")).to_have_attribute("aria-selected", "true")

    row, rows = page.locator("[data-tool=reverse_string]"), page.get_by_test_id("tool-row")
    tab_to(page, rows.first)
    for name in rows.evaluate_all("(all) => all.map(({ dataset }) => dataset.tool)"):
        if name == "reverse_string":
            break
        page.keyboard.press("ArrowDown")
    expect(row).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("tool-back")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_test_id("tool-menu").first).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_test_id("tab-code")).to_be_focused()
    expect(page.get_by_test_id("tool-detail")).to_contain_text("def reverse_string(text")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(row).to_be_focused()


@pytest.mark.parametrize(
    ("name", "word", "details"),
    [
        pytest.param(
            "model",
            "Offline model",
            ["Offline model", "cookbook", "Settings"],
            marks=pytest.mark.extended,
        ),
        (
            "sandbox",
            "Ready",
            ["Sandbox ready", "a bubblewrap container of its own", "What it does not guarantee"],
        ),
        pytest.param(
            "library",
            "tool",
            ["tool", "Every tool passed its own tests", "Search by meaning works"],
            marks=pytest.mark.extended,
        ),
    ],
)
def test_a_status_opens_by_keyboard_and_escape_closes_it(link, page, name, word, details):
    open_page(page, link)
    chip, popover = (
        page.get_by_test_id(f"status-{name}"),
        page.get_by_test_id(f"status-{name}-details"),
    )
    expect(chip).to_contain_text(word)
    expect(popover).to_be_hidden()
    tab_to(page, chip)
    page.keyboard.press("Enter")
    expect(popover).to_be_visible()
    for text in details:
        expect(popover).to_contain_text(text)
    page.keyboard.press("Escape")
    expect(popover).to_be_hidden()
    expect(chip).to_be_focused()
    page.keyboard.press("Enter")
    assert flaws(page, f"about the {name}") == []


def test_what_the_sandbox_does_not_guarantee_is_told_on_request(link, page):
    open_page(page, link)
    page.get_by_test_id("status-sandbox").click()
    popover = page.get_by_test_id("status-sandbox-details")
    button = popover.get_by_role("button", name="What it does not guarantee")
    expect(popover.get_by_role("listitem")).to_have_count(0)
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(popover.get_by_role("listitem").first).to_contain_text(
        "Containers share the kernel of their host"
    )
    assert flaws(page, "what the sandbox does not guarantee") == []


# Live


@pytest.mark.extended
def test_the_library_shows_a_new_tool_at_once(link, page, stranger):
    open_page(page, link)
    open_page(stranger, link)
    stranger.get_by_test_id("tab-library").click()
    row = stranger.locator("[data-tool=celsius_to_fahrenheit]")
    expect(row).to_have_count(0)
    ask(page, "Convert 25 degrees Celsius to Fahrenheit")
    expect(finished(page)).to_contain_text("77")
    expect(row).to_be_visible()
    expect(stranger.get_by_test_id("announcer")).to_contain_text("celsius_to_fahrenheit was added")
    row.click()
    detail = stranger.get_by_test_id("tool-detail")
    detail.get_by_test_id("tab-code").click()
    expect(detail).to_contain_text("def celsius_to_fahrenheit")
    detail.get_by_test_id("tab-tests").click()
    expect(detail).to_contain_text("def test_")
    page.get_by_test_id("tab-library").click()
    expect(page.locator("[data-tool=celsius_to_fahrenheit]")).to_contain_text("used once")


@pytest.mark.extended
def test_stopping_ends_a_running_turn_and_says_so(theatre, page):
    asked = threading.Event()

    def hangs(request: CompletionRequest) -> Flawed:
        asked.set()
        return Flawed(content='{"outcome": "tool"', stop_after=0, then="hang")

    theatre.stage.plays({SPECIFY: hangs})
    theatre.server.left.clear()
    open_page(page, theatre.link)
    ask(page, "Count the words of 'one two three'")
    turn, activity = page.get_by_test_id("turn"), page.get_by_test_id("activity")
    expect(step(page, "specify")).to_have_attribute("data-state", "running")
    expect(turn.get_by_test_id("now")).to_contain_text("Writing the specification")
    expect(activity.get_by_test_id("activity-state")).to_have_text("running")
    assert asked.wait(30), "the model is not asked"
    turn.get_by_test_id("stop").click()
    expect(turn).to_have_attribute("data-state", "stopped")
    expect(turn.get_by_test_id("turn-stopped")).to_contain_text("Stopped")
    expect(turn.get_by_test_id("now")).to_have_count(0)
    expect(activity.get_by_test_id("activity-state")).to_have_text("stopped")
    expect(step(page, "specify")).to_have_attribute("data-state", "stopped")
    expect(step(page, "specify").get_by_role("heading")).to_have_text("Specification: stopped")
    expect(step(page, "turn_stopped")).to_contain_text("Stopped")
    assert theatre.server.left.wait(10), "the call of the model goes on"
    assert flaws(page, "a stopped turn") == []


def test_what_cannot_be_done_is_declined_with_the_reason_and_a_way_to_rephrase(link, page):
    open_page(page, link)
    ask(page, "Write a symphony in C minor")
    turn = ended(page, 1, "declined")
    declined = turn.get_by_test_id("turn-declined")
    expect(declined).to_contain_text("This needs a language model")
    expect(page.get_by_test_id("activity").get_by_test_id("activity-state")).to_have_text(
        "declined"
    )
    expect(step(page, "specify")).to_have_attribute("data-state", "declined")
    expect(page.get_by_test_id("turn-failure")).to_have_count(0)
    assert flaws(page, "a declined turn") == []
    declined.get_by_test_id("rephrase").click()
    expect(page.get_by_test_id("composer")).to_have_value("Write a symphony in C minor")


def test_a_turn_that_fails_says_where_and_what_to_do(theatre, page):
    theatre.stage.plays({SPECIFY: UNUSABLE})
    open_page(page, theatre.link)
    ask(page, "Write a symphony in C minor")
    turn = ended(page, 1, "failed")
    failure = turn.get_by_test_id("turn-failure")
    for part in (failure, page.get_by_test_id("activity")):
        part.get_by_role("button", name="Details").click()
        expect(part).to_contain_text("the reply holds no specification")
        expect(part).to_contain_text("Say it in other words")
    expect(turn.get_by_role("button", name="Try again")).to_be_visible()
    expect(page.get_by_test_id("activity").get_by_test_id("activity-state")).to_have_text("failed")
    expect(step(page, "specify").last).to_have_attribute("data-state", "failed")
    expect(step(page, "turn_failed")).to_contain_text("It failed here: Specification")
    assert flaws(page, "a failed turn") == []


def test_the_models_chip_tells_whether_its_server_replies(theatre, page):
    gone = Rejection(503, "Overloaded.", headers={"retry-after-ms": "1"})
    theatre.stage.plays(dict.fromkeys(TITLES, gone))
    open_page(page, theatre.link)
    chip = page.get_by_test_id("status-model")
    expect(chip).to_have_attribute("data-state", "online")
    ask(page, "Hello!")
    turn = ended(page, 1, "failed")
    expect(turn).to_contain_text("answers with an error")
    expect(chip).to_have_attribute("data-state", "unreachable")
    chip.click()
    trouble = page.get_by_test_id("model-trouble")
    trouble.get_by_role("button", name="Details").click()
    expect(trouble).to_contain_text("keeps answering 503")
    page.keyboard.press("Escape")
    turn.get_by_test_id("failure-settings").click()
    expect(page.get_by_test_id("settings-save")).to_be_visible()
    page.keyboard.press("Escape")
    theatre.stage.plays({})
    turn.get_by_role("button", name="Try again").click()
    ended(page, 1, "done")  # in place of the one that failed
    expect(chip).to_have_attribute("data-state", "online")


def test_a_link_to_a_conversation_that_is_not_here_leads_on(link, page):
    open_page(page, link)
    foreign = f"{page.url.partition('#')[0]}#{'0' * 32}"
    page.goto("about:blank")
    page.goto(foreign)
    expect(page.get_by_test_id("missing")).to_contain_text("This conversation isn’t here")
    expect(page.get_by_test_id("notice")).to_have_count(0)
    assert flaws(page, "a conversation that is not here") == []
    expect(page.get_by_test_id("missing")).to_be_in_viewport(ratio=1)
    page.get_by_test_id("example").first.click()
    expect(page.get_by_test_id("composer")).not_to_have_value("")


def test_the_header_fits_on_a_narrow_page_without_a_sandbox(link, page):
    def nothing(route):
        health = route.fetch().json()
        route.fulfill(json={**health, "sandbox": {**health["sandbox"], "available": False}})

    page.route("**/api/v1/health", nothing)
    page.set_viewport_size(NARROW)
    page.goto(link)
    expect(page.get_by_test_id("status")).to_have_text("Unavailable")
    boxes = page.locator(".header > *:visible").evaluate_all(
        "all => all.map((e) => [e.getBoundingClientRect().left, e.getBoundingClientRect().right])"
    )
    assert len(boxes) == 5
    assert boxes[-1][1] <= NARROW["width"]
    assert all(left[1] <= right[0] for left, right in pairwise(boxes))


class Curtain:
    """A reply that waits until it is let through."""

    def __init__(self) -> None:
        self._up = threading.Event()

    def __call__(self, request: CompletionRequest) -> Completion:
        assert self._up.wait(60)
        return Cookbook().complete(request)

    @contextmanager
    def down(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._up.set()


@pytest.mark.extended
def test_reloads_in_the_middle_of_a_turn_miss_nothing_and_show_nothing_twice(
    theatre, page, second_page
):
    curtain = Curtain()
    theatre.stage.plays({IMPLEMENT: curtain})
    open_page(page, theatre.link)
    ask(page, "Hello!")
    finished(page)
    second_page.goto(page.url)
    expect(second_page.get_by_test_id("turn")).to_have_count(1)
    with curtain.down():
        ask(page, REVERSE)
        for each in (page, second_page):
            expect(step(each, "implement")).to_have_attribute("data-state", "running")
        page.reload()
        expect(page.get_by_test_id("turn").last).to_have_attribute("data-state", "running")
        expect(step(page, "implement")).to_have_attribute("data-state", "running")
    expect(page.get_by_test_id("turn").last).to_have_attribute("data-state", "done")
    expect(opened(page, "implement")).to_contain_text("def reverse_string")
    page.reload()
    for each in (page, second_page):
        expect(finished(each, turns=2)).to_contain_text("dlrow olleh")
        for kind in ("stub", "verify"):
            expect(opened(each, kind).get_by_test_id("repeats")).to_have_text(
                re.compile("in reversed and shuffled order.*: same result")
            )
    kinds = [
        s.get_attribute("data-step")
        for s in page.get_by_test_id("activity").get_by_test_id("step").all()
    ]
    assert kinds == [
        "search", "no_tool_found", "specify", "test", "stub", "implement", "verify", "strengthen",
        "register", "execute", "respond",
    ]  # fmt: skip
    for part in ("activity", "turn"):
        reloaded, steady = (
            page.get_by_test_id(part).all_inner_texts(),
            second_page.get_by_test_id(part).all_inner_texts(),
        )
        assert reloaded == steady


# Lessons


@pytest.mark.extended
def test_a_lesson_is_learnt_shown_reworded_and_deleted(theatre, page):
    learnt = {
        "agent": "specify",
        "trigger": "Count the vowels of a text",
        "advice": "Leave accents. <b>bold</b>",
        "known": None,
    }
    taught = Completion(content=json.dumps({"lessons": [learnt]}))
    theatre.stage.plays({SPECIFY: UNUSABLE, LEARN: taught})
    open_page(page, theatre.link)
    ask(page, "Compose a fugue")
    ended(page, 1, "failed")
    lesson = page.get_by_test_id("lesson").filter(has_text="Count the vowels")
    tab_to(page, page.get_by_test_id("tab-activity"))
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_test_id("tab-lessons")).to_be_focused()
    expect(lesson).to_contain_text("Leave accents. <b>bold</b>")
    expect(lesson.locator("b")).to_have_count(0)

    curtain = Curtain()
    theatre.stage.plays({TEST: curtain})
    page.get_by_test_id("tab-activity").click()
    with curtain.down():
        ask(
            page, "How many vowels are in 'programming'?"
        )  # for which no other test has built a tool
        turn = page.get_by_test_id("turn").last
        expect(opened(page, "lessons_shown").get_by_role("listitem")).to_have_text(
            "Count the vowels of a text: Leave accents. <b>bold</b>"
        )
        found = flaws(page, "a running turn")
        page.set_viewport_size(WIDE)
        turn.get_by_test_id("stop").click()
        ended(page, 2, "stopped")

    page.get_by_test_id("tab-lessons").click()
    edit = lesson.get_by_test_id("edit-lesson")
    tab_to(page, edit)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("lesson-trigger")).to_be_focused()
    page.keyboard.press("Escape")
    expect(edit).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("Keep accents where they are.")
    found += flaws(page, "lessons")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(lesson).to_contain_text("Keep accents where they are.")
    expect(edit).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(lesson).to_contain_text("Delete this lesson?")
    expect(lesson.get_by_test_id("delete-lesson-yes")).to_be_focused()
    page.keyboard.press("Enter")
    expect(lesson).to_have_count(0)
    expect(page.get_by_role("region", name="All lessons")).to_be_focused()
    assert found == []


# Privacy


@pytest.mark.extended
def test_what_the_model_thinks_is_folded_beside_the_answer(theatre, page):
    thought = "Is <b>this</b> small talk?"
    spoken = Flawed(content=f"<think>{thought}</think>{UNUSABLE.content}")
    theatre.stage.plays({SPECIFY: spoken})
    open_page(page, theatre.link)
    ask(page, "Compose a symphony about the sea")
    thoughts = page.get_by_test_id("thoughts")
    expect(thoughts.get_by_text(thought).first).to_be_hidden()
    thoughts.get_by_text("Thinking").click()
    expect(thoughts.get_by_text(thought).first).to_be_visible()
    expect(thoughts.locator("b")).to_have_count(0)
    assert flaws(page, "thoughts") == []


def test_a_copied_link_opens_the_conversation_on_another_device(link, page, browser: Browser):
    open_page(page, link)
    ask(page, "Hello!")
    finished(page)
    phone = browser.new_context().new_page()  # unwatched: it reports the 401 as an error
    phone.goto(page.url)
    phone.get_by_test_id("token").fill(link.partition("?token=")[2])
    phone.keyboard.press("Enter")
    expect(phone.get_by_test_id("request")).to_have_text("Hello!")
    assert phone.url == page.url
    expect(phone.get_by_test_id("conversation-row").first).to_have_text("Hello!")
    phone.context.close()


def test_the_access_page_asks_for_the_token_and_opens_the_page(link, browser: Browser):
    address, _, token = link.partition("?token=")
    page = browser.new_page()  # not a watched one: the browser itself reports each 401 as an error
    response = page.goto(address)
    assert response
    assert response.status == 401
    assert flaws(page, "access page") == []
    page.get_by_test_id("token").fill("wrong")
    with page.expect_navigation() as navigation:
        page.get_by_test_id("open").click()
    assert navigation.value.status == 401
    expect(page.get_by_test_id("login-message")).to_contain_text("does not open the page")
    page.get_by_test_id("token").fill(token)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("composer")).to_be_focused()
    assert page.url == address
    page.context.close()


# Harmless


HOSTILE = """Before <img src=x onerror=alert(1)> <script>alert(1)</script> <svg onload=alert(1)></svg>

<iframe src="javascript:alert(1)"></iframe>

[trap](javascript:alert(1)) ![spy](http://198.51.100.1/x.png) [way out](https://example.org/) <a href="https://example.com/">raw</a>

<style>@import "http://198.51.100.1/x.css"; body { background: url(http://198.51.100.1/x.png) }</style><form action="http://198.51.100.1/">

<p style="background: url(http://198.51.100.1/y.png)" onclick="alert(1)">After</p>
"""


def _printed(case: str) -> str:
    """The output of a hostile case's payload."""
    cases = [
        json.loads(line)
        for line in (ROOT / "tests" / "sandbox" / "hostile_cases.jsonl").read_text().splitlines()
    ]
    call = ast.parse(next(c["payload"] for c in cases if c["id"] == case), mode="eval").body
    assert isinstance(call, ast.Call)
    return str(ast.literal_eval(call.args[0]))


@pytest.mark.parametrize("case", ["H04", pytest.param("H05", marks=pytest.mark.extended)])
def test_what_a_hostile_tool_says_fires_and_fetches_nothing(theatre, unguarded, case):
    page = unguarded
    reply = SpecificationReply(
        outcome="answer", message=f"Before\n\n{_printed(case)}\n\nAfter", specification=None
    )
    theatre.stage.plays({SPECIFY: Completion(content=reply.model_dump_json())})
    fired: list[str] = []
    page.on("dialog", lambda dialog: (fired.append(dialog.message), dialog.dismiss()))
    page.on(
        "request", lambda request: fired.append(request.url) if "invalid" in request.url else None
    )
    open_page(page, theatre.link)
    ask(page, "What does it say?")
    answer = finished(page)
    answer.get_by_text("After").click()
    expect(
        answer.locator("img, svg, script, iframe, [onerror], a[href^=javascript]")
    ).to_have_count(0)
    assert fired == []


def test_markup_of_the_model_does_no_harm_even_without_the_policy(theatre, unguarded):
    page = unguarded
    reply = SpecificationReply(outcome="answer", message=HOSTILE, specification=None)
    theatre.stage.plays({SPECIFY: Completion(content=reply.model_dump_json())})
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    open_page(page, theatre.link)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    ask(page, "What do you make of <img src=x onerror=alert(1)>?")
    answer = finished(page)
    expect(page.get_by_test_id("request")).to_have_text(
        "What do you make of <img src=x onerror=alert(1)>?"
    )
    answer.get_by_text("After").click()
    answer.get_by_text("trap").click()
    expect(
        answer.locator("img, script, iframe, style, form, [style], [onclick], [onerror], [onload]")
    ).to_have_count(0)
    links = answer.locator("a[href]").evaluate_all(
        "(all) => all.map((a) => [a.href, a.rel, a.target])"
    )
    assert links == [
        [url, "noopener noreferrer", "_blank"]
        for url in (
            "http://198.51.100.1/x.png",  # a picture elsewhere is only a link
            "https://example.org/",
            "https://example.com/",
        )
    ]
    paths = {urlsplit(url).path for url in requests} - {"/static/icon.svg"}
    own = ("/api/v1/conversations", "/api/v1/projects", "/bundle/later-", "/texts/")
    assert all(path.startswith(own) for path in paths), paths
    page.reload()
    expect(finished(page)).to_contain_text("After")
    assert dialogs == []
