"""When the offline model takes a request as one for set times."""

import pytest

from selfeng_offline.cookbook.read_prompt import ReadPrompt, once


def prompt(request: str, *earlier: str) -> ReadPrompt:
    return ReadPrompt((*earlier, f"<request>\n{request}\n</request>"))


@pytest.mark.parametrize(
    ("request_text", "single", "cron"),
    [
        ("Every Monday at 8, reverse 'abc'", "reverse 'abc'", "0 8 * * 1"),
        ("every day at 7:30 send me: reverse 'abc'", "reverse 'abc'", "30 7 * * *"),
        ("Reverse 'abc' every weekday at 5 pm.", "Reverse 'abc'", "0 17 * * 1-5"),
        ("reverse 'abc' hourly", "reverse 'abc'", "0 * * * *"),
        ("Jeden Montag um 8 Uhr: drehe 'abc' um", "drehe 'abc' um", "0 8 * * 1"),
        ("täglich um 12:15 drehe 'abc' um", "drehe 'abc' um", "15 12 * * *"),
        ("How many Mondays has 2024?", "How many Mondays has 2024?", ""),
        ("Replace every a with o in banana", "Replace every a with o in banana", ""),
        ("Is 'every Monday at 8' a palindrome?", "Is 'every Monday at 8' a palindrome?", ""),
    ],
)
def test_times_stand_at_the_beginning_or_at_the_end(
    request_text: str, single: str, cron: str
) -> None:
    read, times = once(prompt(request_text))
    assert (read.request, times) == (single, cron)


@pytest.mark.parametrize("words", ["Do that every Monday at 8", "mach das jeden Montag um 8 Uhr"])
def test_a_request_may_point_to_the_one_before(words: str) -> None:
    read, times = once(prompt(words, "Say hello", "Every Monday at 8, Reverse 'abc'"))
    assert (read.request, read.earlier, times) == ("Reverse 'abc'", ("Say hello",), "0 8 * * 1")
