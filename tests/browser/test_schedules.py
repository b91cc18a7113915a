"""A tool's schedules, walked through in Chromium on an engine that plays."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import MIDDLE, NARROW, OVERFLOW, WIDE, ask, flaws, open_page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def open_schedules(page: Page, link: str) -> None:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    open_page(page, link)
    page.get_by_test_id("tab-library").click()
    page.locator("[data-tool=add]").click()
    page.get_by_test_id("tab-schedules").click()


def test_a_tool_is_scheduled_run_paused_and_removed(link: str, page: Page) -> None:
    open_schedules(page, link)
    form = page.get_by_test_id("schedule-form")
    form.get_by_test_id("schedule-a").fill("2")
    form.get_by_test_id("schedule-timezone").fill("Mars")
    form.get_by_test_id("schedule-add").click()
    expect(form.get_by_role("alert")).to_contain_text("No time zone has this name")
    expect(form.get_by_test_id("schedule-timezone")).to_have_attribute("aria-invalid", "true")
    form.get_by_test_id("schedule-timezone").fill("Europe/Berlin")
    form.get_by_test_id("schedule-name").fill("sums")
    form.get_by_test_id("schedule-add").click()
    expect(form.get_by_role("alert")).to_have_count(0)
    schedule = page.get_by_test_id("schedule")
    expect(schedule).to_contain_text("every Monday at 08:00 (Europe/Berlin)")
    expect(schedule.locator(".schedule-time")).to_have_count(3)
    assert flaws(page, "a schedule", [WIDE, MIDDLE]) == []

    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    schedule.get_by_test_id("schedule-run").click()
    expect(schedule.get_by_test_id("schedule-last")).to_contain_text("3")
    expect(schedule).to_have_attribute("data-state", "active")
    schedule.get_by_test_id("schedule-pause").click()
    expect(schedule).to_have_attribute("data-state", "paused")
    expect(schedule.locator(".schedule-time")).to_have_count(0)
    schedule.get_by_test_id("schedule-pause").click()
    expect(schedule).to_have_attribute("data-state", "active")
    schedule.get_by_test_id("schedule-results").click()
    expect(page.locator(".chat")).to_contain_text("3")

    schedule.get_by_test_id("schedule-remove").click()
    schedule.get_by_test_id("schedule-remove-yes").click()
    expect(page.get_by_test_id("schedule")).to_have_count(0)


def test_a_request_for_set_times_is_agreed_to_with_one_click(link: str, page: Page) -> None:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    open_page(page, link)
    ask(page, "weekly")
    questions = page.get_by_test_id("questions")
    expect(questions).to_contain_text("every Monday at 08:00 (UTC)")
    assert flaws(page, "the question about a schedule", [WIDE, NARROW]) == []
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    questions.get_by_test_id("send-answers").click()
    expect(page.get_by_test_id("answered")).to_contain_text("yes, at these times")
    page.get_by_test_id("tab-library").click()
    page.locator("[data-tool=add]").click()
    page.get_by_test_id("tab-schedules").click()
    schedule = page.get_by_test_id("schedule").filter(has_text="every Monday")
    expect(schedule.first).to_contain_text("version 1")


def test_a_folder_and_signed_requests_begin_runs_and_results_are_delivered(
    link: str, page: Page
) -> None:
    open_schedules(page, link)
    form = page.get_by_test_id("schedule-form")
    form.get_by_test_id("schedule-every").select_option("file")
    expect(form.get_by_test_id("schedule-timezone")).to_have_count(0)
    form.get_by_test_id("schedule-folder").fill("/srv/inbox")
    form.get_by_test_id("schedule-pattern").fill("*.csv")
    form.get_by_test_id("schedule-deliver").select_option("mail")
    expect(form.get_by_test_id("schedule-server")).to_be_visible()
    assert flaws(page, "a form for a watched folder", [WIDE, MIDDLE]) == []
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]

    form.get_by_test_id("schedule-every").select_option("hook")
    expect(form.get_by_test_id("schedule-hook")).to_be_visible()
    form.get_by_test_id("schedule-every").select_option("day")
    form.get_by_test_id("schedule-deliver").select_option("folder")
    form.get_by_test_id("schedule-name").fill("inbox")
    form.get_by_test_id("schedule-a").fill("2")
    form.get_by_test_id("schedule-add").click()
    schedule = page.get_by_test_id("schedule").filter(has_text="inbox")
    expect(schedule).to_contain_text("Results also go to the folder scheduled/inbox.")


@pytest.mark.extended
def test_a_run_that_fails_pauses_its_schedule_and_tells(link: str, page: Page) -> None:
    open_schedules(page, link)
    form = page.get_by_test_id("schedule-form")
    form.get_by_test_id("schedule-a").fill("-1")
    form.get_by_test_id("schedule-every").select_option("cron")
    form.get_by_test_id("schedule-cron").fill("*/30 9-17 * * mon-fri")
    form.get_by_test_id("schedule-name").fill("negative")
    form.get_by_test_id("schedule-add").click()
    schedule = page.get_by_test_id("schedule").filter(has_text="negative")
    expect(schedule).to_contain_text("*/30 9-17 * * mon-fri")
    schedule.get_by_test_id("schedule-run").click()
    expect(schedule).to_have_attribute("data-state", "troubled")
    expect(schedule.get_by_test_id("schedule-problem")).to_be_visible()
    listed = page.get_by_test_id("conversation-row").filter(has_text="negative")
    expect(listed.locator(".unread")).to_be_visible()
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    assert page.evaluate(OVERFLOW) <= 0
