"""The settings in Chromium: what a person chooses, tests and saves, and a status that is true."""

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from tests.browser.test_page import NARROW, WIDE, ask, flaws, open_page, tab_to
from tests.llm.wire_server import Served, serving
from tests.script import Script
from tests.servers.test_oauth import CODE, Service, oauth_service
from tests.web.server_process import ServerProcess

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

SECRET = "sk-not-for-anybody-else-1234567890"


@pytest.fixture
def link(tmp_path) -> Iterator[str]:
    server = ServerProcess(tmp_path, "threading")
    yield server.link
    assert server.end() == (0, "")


@pytest.fixture
def model() -> Iterator[OfflineServer]:
    with OfflineServer(Cookbook(), model="good-model", api_key=SECRET, delay=0) as server:
        yield server


@pytest.fixture
def service() -> Iterator[Service]:
    with oauth_service() as service:
        yield service


def field(page: Page, name: str) -> Locator:
    return page.get_by_test_id(f"settings-{name}")


def open_settings(page: Page) -> None:
    page.get_by_test_id("open-settings").click()
    expect(field(page, "save")).to_be_visible()


def name_server(page: Page, server: OfflineServer, key: str = SECRET) -> None:
    field(page, "server").select_option("other")
    field(page, "address").fill(server.base_url)
    field(page, "openai_api_key").fill(key)


def test_language_and_theme_are_chosen_in_the_settings_and_apply_at_once(
    link: str, page: Page
) -> None:
    open_page(page, link)
    page.get_by_test_id("open-settings").click()
    page.get_by_test_id("settings-theme").select_option("dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_test_id("settings-theme").select_option("system")
    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")
    page.get_by_test_id("settings-language").select_option("de")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.get_by_test_id("open-settings").click()
    expect(page.get_by_role("dialog", name="Einstellungen")).to_be_visible()
    page.get_by_test_id("settings-language").select_option("system")
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_a_server_is_chosen_by_keyboard_with_a_model_of_its_list_and_used_at_once(
    link: str, page: Page, model: OfflineServer
) -> None:
    open_page(page, link)
    chip = page.get_by_test_id("status-model")
    expect(chip).to_have_attribute("data-state", "offline")
    tab_to(page, page.get_by_test_id("open-settings"))
    page.keyboard.press("Enter")
    expect(field(page, "server")).to_be_visible()
    name_server(page, model)
    name = field(page, "openai_model")
    name.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("combobox-option")).to_have_text(["good-model"])
    expect(page.get_by_test_id("combobox-option")).to_be_focused()
    page.keyboard.press("Enter")
    expect(name).to_be_focused()
    expect(name).to_have_value("good-model")
    field(page, "save").focus()
    page.keyboard.press("Enter")
    expect(field(page, "saved")).to_contain_text("Saved")
    expect(field(page, "openai_api_key")).to_have_value("")
    expect(field(page, "openai_api_key")).to_have_attribute("placeholder", "A key is set")
    assert SECRET not in page.content()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("settings")).to_have_count(0)
    expect(page.get_by_test_id("open-settings")).to_be_focused()
    expect(chip).to_have_attribute("data-state", "online")
    expect(chip).to_contain_text("good-model")

    page.reload()
    page.get_by_test_id("status-model").click()
    page.get_by_test_id("status-settings").click()
    expect(field(page, "address")).to_have_value(model.base_url)
    field(page, "server").select_option("offline")
    field(page, "save").click()
    expect(chip).to_have_attribute("data-state", "offline")


@pytest.mark.extended
def test_escape_closes_the_list_and_keeps_the_dialog(
    link: str, page: Page, model: OfflineServer
) -> None:
    open_page(page, link)
    open_settings(page)
    name_server(page, model)
    field(page, "openai_model").fill("goo")
    expect(page.locator("datalist option")).to_have_attribute("value", "good-model")
    page.get_by_test_id("combobox-open").click()
    expect(page.get_by_test_id("combobox-option")).to_have_text(["good-model"])
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("combobox-option")).to_be_hidden()
    expect(field(page, "openai_model")).to_have_value("goo")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("settings")).to_have_count(0)


def test_a_test_shows_each_ability_as_it_comes_and_can_be_cancelled(link: str, page: Page) -> None:
    gone_on = threading.Event()

    def slow(request: CompletionRequest) -> Completion:
        gone_on.wait(20)
        return Completion(content="They are five.")

    with OfflineServer(Script(*[slow] * 20), model="m", api_key=SECRET, delay=0) as server:
        open_page(page, link)
        open_settings(page)
        name_server(page, server)
        field(page, "openai_model").fill("m")
        field(page, "test-begin").click()
        expect(field(page, "ability")).to_contain_text(["Lists this model"])
        field(page, "test-stop").click()
        expect(field(page, "ability")).to_have_count(0)
        gone_on.set()
        field(page, "test-begin").click()
        expect(field(page, "verdict")).to_contain_text("This model can’t be used.")
        expect(field(page, "ability")).to_have_count(10)
        assert flaws(page, "the settings, tested") == []


def test_refused_values_are_told_at_their_fields_and_the_focus_goes_there(
    link: str, unwatched: Page
) -> None:
    page = unwatched
    open_page(page, link)
    open_settings(page)
    field(page, "synthesis_candidates").fill("9")
    field(page, "turn_max_cost").fill("much")
    field(page, "save").click()
    expect(field(page, "error")).to_have_text("Some values can’t be used. Nothing was changed.")
    expect(field(page, "turn_max_cost")).to_be_focused()
    expect(field(page, "turn_max_cost")).to_have_accessible_description(
        re.compile("A number is needed.")
    )
    expect(field(page, "synthesis_candidates")).to_have_accessible_description(
        re.compile("At most 8.")
    )
    field(page, "server").select_option("openai")
    field(page, "save").click()
    expect(field(page, "openai_api_key")).to_be_focused()


def test_a_limit_is_changed_and_taken_back_by_emptying_it(link: str, page: Page) -> None:
    open_page(page, link)
    for written, shown in (("7", "7"), ("", "40")):
        open_settings(page)
        field(page, "turn_max_calls").fill(written)
        field(page, "save").click()
        expect(field(page, "saved")).to_contain_text("Saved")
        expect(field(page, "turn_max_calls")).to_have_value(shown)
        page.keyboard.press("Escape")


def test_without_the_server_what_was_typed_stays(link: str, unwatched: Page) -> None:
    page = unwatched
    open_page(page, link)
    open_settings(page)
    field(page, "turn_max_calls").fill("7")
    page.context.set_offline(True)
    field(page, "save").click()
    expect(field(page, "error")).to_contain_text("Check that it runs, then try again")
    expect(field(page, "turn_max_calls")).to_have_value("7")
    page.context.set_offline(False)
    field(page, "save").click()
    expect(field(page, "saved")).to_contain_text("Saved")


def test_what_is_set_elsewhere_is_read_only_and_says_why(
    tmp_path, page: Page, model: OfflineServer
) -> None:
    given = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": SECRET}
    server = ServerProcess(tmp_path, "threading", **given)
    open_page(page, server.link)
    open_settings(page)
    expect(field(page, "server")).to_be_disabled()
    for name in ("address", "openai_api_key"):
        expect(field(page, name)).not_to_be_editable()
    expect(field(page, "openai_api_key")).to_have_accessible_description(
        "Set as OPENAI_API_KEY where the server was started, which wins. Remove it there to "
        "change it here."
    )
    expect(field(page, "elsewhere")).to_contain_text(f"Data{tmp_path}")
    assert SECRET not in page.content()
    assert flaws(page, "settings that are fixed") == []
    assert server.end() == (0, "")


def test_the_chip_is_red_when_the_models_server_is_gone(
    link: str, page: Page, model: OfflineServer
) -> None:
    open_page(page, link)
    open_settings(page)
    name_server(page, model, key="sk-wrong")
    field(page, "save").click()
    chip = page.get_by_test_id("status-model")
    expect(chip).to_contain_text("Access refused")
    model.stop()
    field(page, "openai_api_key").fill(SECRET)
    field(page, "save").click()
    expect(chip).to_contain_text("Not reachable")
    page.keyboard.press("Escape")
    chip.click()
    expect(page.get_by_test_id("model-trouble")).to_contain_text("Check that the server runs")
    assert flaws(page, "a model that is gone") == []


@pytest.mark.extended
def test_the_palette_opens_the_settings(link: str, page: Page) -> None:
    open_page(page, link)
    page.keyboard.press("Control+k")
    page.keyboard.type("settings")
    page.keyboard.press("Enter")
    expect(field(page, "save")).to_be_visible()


def test_a_narrow_page_has_one_dot_with_a_word_that_leads_to_each_state(
    link: str, page: Page
) -> None:
    open_page(page, link)
    page.set_viewport_size(NARROW)
    dot = page.get_by_test_id("status")
    expect(dot).to_have_text("Offline model")
    expect(page.get_by_test_id("status-model")).to_be_hidden()
    ask(page, "sandbox off")
    expect(dot).to_have_text("Unavailable")
    inside = "(e) => Math.round(e.getBoundingClientRect().right) <= innerWidth"
    assert page.locator(".header > *").evaluate_all(f"(all) => all.every({inside})")
    dot.click()
    assert flaws(page, "the states") == []
    page.set_viewport_size(NARROW)
    page.get_by_test_id("status-row-sandbox").click()
    expect(page.get_by_test_id("status-sandbox-details")).to_be_visible()
    page.set_viewport_size(WIDE)
    expect(dot).to_be_hidden()


def test_a_model_server_of_the_machine_is_used_with_one_click(tmp_path: Path, page: Page) -> None:
    models = [{"id": id, "object": "model", "owned_by": "library"} for id in ("a:8b", "b:3b")]
    answers = [Served({"object": "list", "data": models})]
    with serving(lambda _: answers[0]) as local:
        ports = json.dumps({local.port: "ollama"})
        server = ServerProcess(tmp_path, "threading", LOCAL_PORTS=ports)
        open_page(page, server.link)
        shown = page.locator(".empty").get_by_test_id("local-server")
        expect(shown).to_contain_text("Ollama")
        assert flaws(page, "local servers") == []
        shown.get_by_test_id("local-model").select_option("b:3b")
        shown.get_by_test_id("local-use").click()
        expect(page.get_by_test_id("status-model")).to_contain_text("b:3b")
        expect(page.locator(".empty").get_by_test_id("local-servers")).to_have_count(0)

        page.set_viewport_size(WIDE)
        open_settings(page)
        expect(field(page, "address")).to_have_value(f"http://localhost:{local.port}/v1")
        field(page, "server").select_option("offline")
        field(page, "save").click()
        expect(field(page, "saved")).to_contain_text("Saved")
        expect(page.locator(".settings-local").get_by_test_id("local-server")).to_be_visible()
        answers[0] = Served({}, 404)
        field(page, "look").click()
        expect(page.locator(".settings-local")).to_contain_text("None found")
        expect(page.get_by_test_id("local-server")).to_have_count(0)
        assert server.end() == (0, "")


def test_a_secret_is_entered_listed_by_its_name_and_removed(link: str, page: Page) -> None:
    open_page(page, link)
    open_settings(page)
    page.get_by_test_id("secret-name").fill("api_key")
    page.get_by_test_id("secret-value").fill(SECRET)
    page.get_by_test_id("secret-save").click()
    expect(page.get_by_test_id("secret")).to_contain_text("API_KEY")
    expect(page.get_by_test_id("secret-value")).to_have_value("")
    assert SECRET not in page.content()
    page.get_by_test_id("secret-remove").click()
    page.get_by_test_id("secret-remove-yes").click()
    expect(page.get_by_test_id("secret")).to_have_count(0)


def test_a_token_is_asked_for_with_a_code_and_kept(link: str, page: Page, service: Service) -> None:
    open_page(page, link)
    open_settings(page)
    page.get_by_test_id("secret-name").fill("rates_token")
    page.get_by_role("button", name="Get a token from a service").click()
    expect(page.get_by_test_id("oauth-begin")).to_be_disabled()
    page.get_by_test_id("oauth-device_url").fill(f"{service.url}/device")
    page.get_by_test_id("oauth-token_url").fill(f"{service.url}/token")
    page.get_by_test_id("oauth-client_id").fill("me")
    state = page.get_by_test_id("oauth-state")
    service.answers = [(200, {**CODE, "interval": 0.05}), (400, {"error": "access_denied"})]
    page.get_by_test_id("oauth-begin").click()
    expect(state).to_contain_text("The service gave no permission")
    state.get_by_role("button", name="Details").click()
    expect(state).to_contain_text("access_denied")
    service.answers = [
        (200, {**CODE, "interval": 2}),
        (200, {"access_token": SECRET, "expires_in": 3600}),
    ]
    page.get_by_test_id("oauth-begin").click()
    expect(state).to_contain_text("ABCD-1234")
    expect(state.get_by_role("link")).to_have_attribute("href", CODE["verification_uri"])
    expect(page.get_by_test_id("oauth-begin")).to_be_disabled()
    expect(state).to_contain_text("RATES_TOKEN is kept", timeout=15_000)
    expect(page.get_by_test_id("secret")).to_contain_text("RATES_TOKEN")
    assert SECRET not in page.content()
    page.get_by_test_id("secret-remove").click()
    page.get_by_test_id("secret-remove-yes").click()
    expect(page.get_by_test_id("secret")).to_have_count(0)
