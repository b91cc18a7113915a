"""The changes of a service that the drift alarm notices, and those that it lets pass."""

import json
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from selfeng.core.http import Exchange, HttpRequest, HttpResponse
from selfeng.stages.execution.contract import changes

URL = "https://api.example.org/v1/rates/EUR?day=2026-11-02"
JSON, CSV, HTML = "application/json", "text/csv; charset=utf-8", "text/html; charset=utf-8"
RATES = {
    "base": "EUR",
    "day": "2026-11-02",
    "rate": 1.08,
    "text": "1.08",
    "source": {"name": "Bank", "open": True},
    "items": [{"id": 1, "price": 2.5, "note": "fresh"}, {"id": 2, "price": 3, "note": "old"}],
    "quotes": {"USD": 1.08, "GBP": 0.86},
    "next": "https://api.example.org/v1/rates/EUR?day=2026-11-03",
}
TABLE = "city,day,degrees\nBonn,2026-11-02,7.5\nKöln,2026-11-03,8.0\n"
PAGE = (
    "<html><body><h1>Prices</h1><table><tr><th>Name</th><th>Price</th></tr>"
    "<tr><td>Tea</td><td>2.50</td></tr><tr><td>Milk</td><td>1.20</td></tr></table></body></html>"
)


def exchange(body: Any, media: str = JSON, *, url: str = URL, status: int = 200) -> Exchange:
    content = (
        body
        if isinstance(body, bytes)
        else (body if isinstance(body, str) else json.dumps(body)).encode()
    )
    return Exchange(
        request=HttpRequest(method="GET", url=url),
        response=HttpResponse(
            status=status,
            headers=(("content-type", media),),
            body=b64encode(content).decode(),
            url=url,
        ),
        at=datetime(2026, 11, 2, tzinfo=UTC),
    )


def rates(without: str = "", **new: Any) -> Mapping[str, Any]:
    return {key: value for key, value in {**RATES, **new}.items() if key != without}


def item(**new: Any) -> Mapping[str, Any]:
    return rates(items=[{**RATES["items"][0], **new}])


CHANGES: Mapping[str, tuple[Exchange, Exchange]] = {
    **{
        name: (exchange(RATES), exchange(body))
        for name, body in {
            "a renamed key": rates("rate", price=1.08),
            "a removed key": rates("source"),
            "a key removed deep inside": rates(source={"name": "Bank"}),
            "a key renamed in a list": rates(items=[{"id": 1, "cost": 2.5, "note": "fresh"}]),
            "a key missing in some items": rates(items=[RATES["items"][0], {"id": 2}]),
            "text for a number": rates(rate="1.08"),
            "a unit in a text": rates(text="1.08 USD"),
            "a number with its unit": rates(rate="1.08 USD per EUR"),
            "a number for a text": rates(text=1.08),
            "a decimal comma": rates(text="1,08"),
            "an object for a number": rates(rate={"value": 1.08, "unit": "USD"}),
            "a list for an object": rates(source=[{"name": "Bank", "open": True}]),
            "an object for a list": rates(items={"1": {"id": 1}}),
            "an empty list": rates(items=[]),
            "another order of a day": rates(day="02.11.2026"),
            "a moment for a day": rates(day="2026-11-02T00:00:00Z"),
            "text for a truth value": rates(source={"name": "Bank", "open": "yes"}),
            "a text for a number in a list": item(price="2.50 €"),
            "text in an object with keys of data": rates(quotes={"USD": "1.08", "GBP": "0.86"}),
            "all of it in an envelope": {"data": RATES},
            "a list of it": [RATES],
            "a number with cents": rates(rate=108),
        }.items()
    },
    "another status": (exchange(RATES), exchange({"error": "gone"}, status=410)),
    "not found where it was": (exchange(RATES), exchange({"error": "unknown"}, status=404)),
    "a page for JSON": (exchange(RATES), exchange("<html>Log in</html>", "text/html")),
    "a cut off answer": (exchange(RATES), exchange(json.dumps(RATES)[:80])),
    "no content": (exchange(RATES), exchange("", status=204)),
    "JSON under another type": (exchange(RATES), exchange(RATES, "text/plain")),
    "other columns": (exchange(TABLE, CSV), exchange(TABLE.replace("degrees", "temp"), CSV)),
    "another order of columns": (
        exchange(TABLE, CSV),
        exchange("day,city,degrees\n2026-11-02,Bonn,7.5\n", CSV),
    ),
    "a column in the middle": (
        exchange(TABLE, CSV),
        exchange("city,country,day,degrees\nBonn,DE,2026-11-02,7.5\n", CSV),
    ),
    "no rows": (exchange(TABLE, CSV), exchange("city,day,degrees\n", CSV)),
    "another delimiter and comma": (
        exchange(TABLE, CSV),
        exchange("city;day;degrees\nBonn;2026-11-02;7,5\n", CSV),
    ),
    "another encoding": (exchange(TABLE, CSV), exchange(TABLE.encode("latin-1"), CSV)),
    "another declared encoding": (
        exchange(TABLE, CSV),
        exchange(TABLE.encode("latin-1"), "text/csv; charset=iso-8859-1"),
    ),
    "a renamed column of a page": (
        exchange(PAGE, HTML),
        exchange(PAGE.replace("Price<", "Cost<"), HTML),
    ),
    "a page without its table": (exchange(PAGE, HTML), exchange("<html>Soon</html>", HTML)),
    "a price with its currency": (
        exchange(PAGE, HTML),
        exchange(PAGE.replace("2.50", "2.50 €"), HTML),
    ),
}

OTHER_DAY = URL.replace("-02", "-03")
HARMLESS: Mapping[str, tuple[Exchange, Exchange]] = {
    **{
        name: (exchange(RATES), exchange(body, url=url))
        for name, url, body in (
            ("the same", URL, RATES),
            ("other numbers", OTHER_DAY, rates(rate=-2, text="-7.25")),
            ("a whole number", OTHER_DAY, rates(rate=2)),
            (
                "other texts",
                OTHER_DAY,
                rates(base="the new one", source={"name": "", "open": False}),
            ),
            ("another day", OTHER_DAY, rates(day="2027-01-31")),
            ("null for a number, as on a last page", OTHER_DAY, rates(rate=None)),
            ("further keys", URL, rates(extra={"a": 1})),
            ("further keys in a list", URL, rates(items=[{**i, "tax": 7} for i in RATES["items"]])),
            ("more items", URL, rates(items=RATES["items"] * 9)),
            ("fewer items", URL, rates(items=RATES["items"][:1])),
            ("other keys of data", URL, rates(quotes={"CHF": 0.94, "SEK": 11.2, "JPY": 170.1})),
            ("another order of keys", URL, dict(reversed(RATES.items()))),
            ("another segment of the path", URL.replace("EUR?", "USD?"), rates(base="USD")),
        )
    },
    "more rows": (exchange(TABLE, CSV), exchange(TABLE + "Trier,2026-11-04,-1\n", CSV)),
    "a further column at the end": (
        exchange(TABLE, CSV),
        exchange("city,day,degrees,wind\nBonn,2026-11-02,7.5,3\n", CSV),
    ),
    "other rows of a page": (
        exchange(PAGE, HTML),
        exchange(PAGE.replace("Tea", "Rye bread"), HTML),
    ),
    "a page with more words": (
        exchange(PAGE, HTML),
        exchange(PAGE.replace("Prices", "News"), HTML),
    ),
    "an unknown input": (exchange(RATES), exchange({"error": "?"}, url=OTHER_DAY, status=404)),
    "another endpoint": (exchange(RATES), exchange("pong", url="https://api.example.org/ping")),
    "a suffix of the type": (exchange(RATES), exchange(RATES, "application/json; charset=UTF-8")),
}
MISSED = {"a number with cents"}
"""Values that no form shows."""


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_service_is_noticed(name: str) -> None:
    before, now = CHANGES[name]
    assert bool(changes([before], now)) == (name not in MISSED)


def test_nearly_all_changes_are_noticed() -> None:
    assert len(CHANGES) >= 30
    assert sum(bool(changes([before], now)) for before, now in CHANGES.values()) >= 28


@pytest.mark.parametrize("name", HARMLESS)
def test_other_values_are_no_change(name: str) -> None:
    before, now = HARMLESS[name]
    assert len(HARMLESS) >= 15
    assert changes([before], now) == ()


def test_what_was_recorded_later_belongs_to_the_contract() -> None:
    nothing = exchange(rates(items=[], rate="none"), url=OTHER_DAY)
    assert changes([exchange(RATES)], nothing) == (
        "value.items is an empty list instead of a list",
        "value.rate is a text instead of a number",
    )
    assert changes([exchange(RATES), nothing], nothing) == ()
