"""Grants: they hold for later versions that need the same, and for no other tool."""

import sqlalchemy as sa

from selfeng.core.http import NetworkAccess, SecretUse
from selfeng.core.package_lock import Package
from selfeng.core.tool import Need
from selfeng.core.verdict import CallLimits
from selfeng.store.grants import Grants

RATES = NetworkAccess(host="api.example.org", path="/rates", purpose="It gives the rates.")
POSTS = RATES.model_copy(update={"methods": ("GET", "POST")})
KEY = RATES.model_copy(update={"secrets": (SecretUse(name="KEY", place="bearer"),)})


def test_a_grant_holds_for_later_versions_that_need_the_same(database: sa.Engine) -> None:
    grants = Grants(database)
    grants.put("me", "rate_of", 1, [RATES])
    reworded = RATES.model_copy(update={"purpose": "For the rates."})
    assert grants.ungranted("rate_of", [reworded]) == ()
    assert grants.ungranted("rate_of", [POSTS, KEY, RATES]) == (POSTS, KEY)
    assert grants.ungranted("other_tool", [RATES]) == (RATES,)
    grants.put("you", "rate_of", 2, [RATES, KEY])
    assert [(g.version, g.owner, g.need) for g in grants.read("rate_of")] == [
        (1, "me", RATES),
        (2, "you", KEY),
    ]


def test_what_was_revoked_is_asked_for_again(database: sa.Engine) -> None:
    grants = Grants(database)
    elsewhere = NetworkAccess(host="other.example.org")
    grants.put("me", "rate_of", 1, [RATES, elsewhere])
    grants.put("me", "other_tool", 1, [RATES])
    assert grants.revoke("rate_of", "other.example.org") == 1
    assert grants.revoke("rate_of", "other.example.org") == 0
    assert grants.ungranted("rate_of", [RATES, elsewhere]) == (elsewhere,)
    assert grants.revoke("rate_of") == 1
    assert [grant.tool for grant in grants.read()] == ["other_tool"]


def test_packages_are_granted_by_version_and_limits_up_to_the_granted_ones(
    database: sa.Engine,
) -> None:
    grants, humanize = Grants(database), Package(name="humanize", version="4.9.0", licence="MIT")
    needs: list[Need] = [humanize, CallLimits(seconds=600, memory=2048)]
    grants.put("me", "rate_of", 1, needs)
    assert {grant.need.name: grant.need for grant in grants.read("rate_of")} == {
        "humanize": humanize,
        "limits": needs[1],
    }
    less, more = CallLimits(seconds=300), CallLimits(seconds=600, space=100)
    same = Package(name="humanize", version="4.9.0", size=1)
    newer = Package(name="humanize", version="4.10.0")
    assert grants.ungranted("rate_of", [same, newer, less, more]) == (newer, more)
    assert grants.revoke("rate_of", "limits") == 1
    assert grants.ungranted("rate_of", [same, less]) == (less,)
