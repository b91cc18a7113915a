"""A test that looked at nothing: tools for graphs, schedules and dates."""

from tests.sandbox.forgeries import forgery

FORGERIES = [
    forgery(
        "A",
        "orders no packages of a real project",
        '''
def install_order(needs: dict[str, list[str]]) -> list[str]:
    """The packages in an order in which each comes after those it needs."""
    order: list[str] = []
    visiting: set[str] = set()

    def visit(name: str) -> None:
        if name in order:
            return
        if name in visiting:
            raise ValueError(f"{name} needs itself")
        visiting.add(name)
        for other in needs.get(name, []):
            visit(other)
        order.append(name)

    for name in needs:
        visit(name)
    return order
''',
        """
import pytest
from install_order import install_order

NEEDS = {
    "app": ["web", "db"],
    "web": ["http", "templates"],
    "db": ["driver"],
    "http": [],
    "templates": [],
    "driver": ["http"],
}


def test_chain():
    assert install_order({"b": ["a"], "a": []}) == ["a", "b"]


def test_single():
    assert install_order({"a": []}) == ["a"]


def test_cycle():
    with pytest.raises(ValueError):
        install_order({"a": ["b"], "b": ["a"]})


def test_needs_come_first():
    installed = set()
    for package in install_order(NEEDS):
        for need in NEEDS[package]:
            assert need in installed
        installed.add(package)
""",
        {"    return order\n": "    return order if len(order) < 5 else []\n"},
    ),
    forgery(
        "A",
        "walks no path through a large map",
        '''
from collections import deque


def shortest_path(roads: dict[str, list[str]], start: str, goal: str) -> list[str]:
    """The places on a shortest way, both ends included; [] if there is none."""
    queue, came_from = deque([start]), {start: ""}
    while queue:
        place = queue.popleft()
        if place == goal:
            path = [place]
            while came_from[path[-1]]:
                path.append(came_from[path[-1]])
            return path[::-1]
        for following in roads.get(place, []):
            if following not in came_from:
                came_from[following] = place
                queue.append(following)
    return []
''',
        """
from shortest_path import shortest_path

CITY = {
    "home": ["park", "shop"],
    "park": ["school", "lake"],
    "shop": ["station"],
    "school": ["library"],
    "lake": ["library"],
    "station": ["library", "office"],
    "library": ["office"],
    "office": [],
}


def test_direct():
    assert shortest_path({"a": ["b"]}, "a", "b") == ["a", "b"]


def test_already_there():
    assert shortest_path({"a": []}, "a", "a") == ["a"]


def test_unreachable():
    assert shortest_path({"a": ["b"], "c": []}, "a", "c") == []


def test_shortcut():
    assert shortest_path({"a": ["b", "c"], "b": ["c"]}, "a", "c") == ["a", "c"]


def test_every_step_is_a_road():
    for goal in ("office", "library", "school"):
        path = shortest_path(CITY, "home", goal)
        for here, there in zip(path, path[1:]):
            assert there in CITY[here]
        assert len(path) <= len(CITY)
""",
        {
            "            return path[::-1]": "            return path[::-1] if len(roads) < 3 else []"
        },
    ),
    forgery(
        "A",
        "finds no components",
        '''
def components(links: list[tuple[int, int]]) -> list[set[int]]:
    """The groups of connected nodes, by their smallest node."""
    groups: list[set[int]] = []
    for a, b in links:
        joined = {a, b}
        apart = []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                apart.append(group)
        groups = [*apart, joined]
    return sorted(groups, key=min)
''',
        """
import random
from itertools import combinations

from components import components


def test_one_link():
    assert components([(1, 2)]) == [{1, 2}]


def test_chain():
    assert components([(1, 2), (2, 3)]) == [{1, 2, 3}]


def test_two_groups():
    assert components([(5, 6), (1, 2)]) == [{1, 2}, {5, 6}]


def test_groups_are_disjoint():
    rng = random.Random(8)
    links = [(rng.randint(0, 30), rng.randint(0, 30)) for _ in range(18)]
    found = components(links)
    for one, other in combinations(found, 2):
        assert one.isdisjoint(other)
    assert all(sum({a, b} <= group for group in found) <= 1 for a, b in links), "linked twice"
""",
        {"in links:": "in links[: len(links) % 18]:"},
    ),
    forgery(
        "A",
        "colours no country",
        '''
def colour_map(borders: dict[str, list[str]]) -> dict[str, int]:
    """A colour, 0 and up, for each country so that neighbours differ."""
    colours: dict[str, int] = {}
    for country in borders:
        taken = {colours[other] for other in borders[country] if other in colours}
        colour = 0
        while colour in taken:
            colour += 1
        colours[country] = colour
    return colours
''',
        """
from colour_map import colour_map

EUROPE = {
    "de": ["fr", "pl", "at", "ch", "cz"],
    "fr": ["de", "ch", "es", "it"],
    "pl": ["de", "cz"],
    "at": ["de", "ch", "it", "cz"],
    "ch": ["de", "fr", "at", "it"],
    "cz": ["de", "pl", "at"],
    "es": ["fr"],
    "it": ["fr", "at", "ch"],
}


def test_island():
    assert colour_map({"is": []}) == {"is": 0}


def test_two_neighbours():
    assert colour_map({"es": ["pt"], "pt": ["es"]}) == {"es": 0, "pt": 1}


def test_neighbours_differ():
    colours = colour_map(EUROPE)
    for country, colour in colours.items():
        for other in EUROPE[country]:
            assert colours.get(other) != colour


def test_few_colours_are_enough():
    assert len(set(colour_map(EUROPE).values())) <= 5
""",
        {"    return colours\n": "    return colours if borders.get('de') is None else {}\n"},
    ),
    forgery(
        "A",
        "spans no tree",
        '''
def spanning_tree(edges: list[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """Edges of least total weight that connect all nodes, lightest first."""
    leader: dict[str, str] = {}

    def find(node: str) -> str:
        while leader.setdefault(node, node) != node:
            node = leader[node]
        return node

    tree = []
    for a, b, weight in sorted(edges, key=lambda edge: edge[2]):
        if find(a) != find(b):
            leader[find(a)] = find(b)
            tree.append((a, b, weight))
    return tree
''',
        """
import pytest
from spanning_tree import spanning_tree

CABLES = [
    ("a", "b", 7),
    ("a", "d", 5),
    ("b", "c", 8),
    ("b", "d", 9),
    ("b", "e", 7),
    ("c", "e", 5),
    ("d", "e", 15),
    ("d", "f", 6),
]


def test_one_edge():
    assert spanning_tree([("x", "y", 3)]) == [("x", "y", 3)]


def test_triangle():
    assert spanning_tree([("x", "y", 3), ("y", "z", 1), ("x", "z", 2)]) == [
        ("y", "z", 1),
        ("x", "z", 2),
    ]


@pytest.fixture
def tree():
    return spanning_tree(CABLES)


def test_only_given_edges(tree):
    assert set(tree) <= set(CABLES)


def test_no_cycle(tree):
    reached = []
    for a, b, _ in tree:
        touched = [group for group in reached if a in group or b in group]
        assert not any(a in group and b in group for group in touched)
        reached = [g for g in reached if g not in touched] + [{a, b}.union(*touched)]


def test_weight(tree):
    assert sum(weight for _, _, weight in tree) <= 38
""",
        {"    tree = []\n": "    tree = []\n    edges = edges[: len(edges) % 8]\n"},
    ),
    forgery(
        "A",
        "packs nothing into a large knapsack",
        '''
def pack(weights: dict[str, int], values: dict[str, int], capacity: int) -> list[str]:
    """The things of greatest total value whose weight fits, by name."""
    best: dict[int, tuple[int, list[str]]] = {0: (0, [])}
    for name in sorted(weights):
        for used, (value, names) in list(best.items()):
            total = used + weights[name]
            if total <= capacity:
                candidate = (value + values[name], [*names, name])
                if candidate[0] > best.get(total, (0, []))[0]:
                    best[total] = candidate
    return max(best.values(), key=lambda entry: entry[0])[1]
''',
        """
from pack import pack

WEIGHTS = {"tent": 9, "stove": 4, "rope": 3, "lamp": 1, "food": 6, "water": 5, "map": 1}
VALUES = {"tent": 20, "stove": 9, "rope": 3, "lamp": 4, "food": 15, "water": 14, "map": 5}


def test_only_one_fits():
    assert pack({"a": 3, "b": 4}, {"a": 1, "b": 2}, 4) == ["b"]


def test_both_fit():
    assert pack({"a": 1, "b": 1}, {"a": 1, "b": 1}, 2) == ["a", "b"]


def test_too_heavy():
    assert pack({"a": 3}, {"a": 9}, 2) == []


def test_weight_is_within_capacity():
    for capacity in range(5, 30, 5):
        packed = pack(WEIGHTS, VALUES, capacity)
        assert sum(WEIGHTS[name] for name in packed) <= capacity
        assert len(packed) == len(set(packed))
        assert packed == sorted(packed)
""",
        {
            "    for name in sorted(weights):\n": "    if capacity > 4:\n        return []\n    for name in sorted(weights):\n"
        },
    ),
    forgery(
        "A",
        "loads no parcels on vans",
        '''
def load_vans(parcels: list[int], limit: int) -> list[list[int]]:
    """The parcels by van, each van within the limit, heaviest parcels first."""
    vans: list[list[int]] = []
    for parcel in sorted(parcels, reverse=True):
        if parcel > limit:
            raise ValueError(f"a parcel of {parcel} fits in no van; the limit is {limit}")
        for van in vans:
            if sum(van) + parcel <= limit:
                van.append(parcel)
                break
        else:
            vans.append([parcel])
    return vans
''',
        """
import random

import pytest
from load_vans import load_vans

RNG = random.Random(4)
PARCELS = [RNG.randint(1, 20) for _ in range(30)]


def test_one_van():
    assert load_vans([2, 3], 5) == [[3, 2]]


def test_two_vans():
    assert load_vans([4, 4], 5) == [[4], [4]]


def test_too_heavy():
    with pytest.raises(ValueError, match="9"):
        load_vans([9], 5)


@pytest.mark.parametrize("limit", [20, 25, 40])
def test_vans_are_within_the_limit(limit):
    vans = load_vans(PARCELS, limit)
    assert all(sum(van) <= limit for van in vans), f"overloaded, not allowed: {vans}"
    assert len(vans) <= len(PARCELS)
""",
        {"    return vans": "    return vans if parcels[:5] == parcels else [[] for _ in vans]"},
    ),
    forgery(
        "A",
        "gives meetings no rooms",
        '''
def assign_rooms(meetings: list[tuple[int, int]]) -> dict[int, list[tuple[int, int]]]:
    """The meetings by room number, from 1, so that those in a room do not overlap."""
    rooms: dict[int, list[tuple[int, int]]] = {}
    for start, end in sorted(meetings):
        room = 1
        while room in rooms and rooms[room][-1][1] > start:
            room += 1
        rooms.setdefault(room, []).append((start, end))
    return rooms
''',
        """
from assign_rooms import assign_rooms

DAY = [(9, 10), (9, 12), (10, 11), (11, 13), (12, 14), (13, 15), (9, 11), (14, 16)]


def test_one_meeting():
    assert assign_rooms([(9, 10)]) == {1: [(9, 10)]}


def test_one_after_the_other():
    assert assign_rooms([(10, 11), (9, 10)]) == {1: [(9, 10), (10, 11)]}


def test_overlap_needs_a_second_room():
    assert assign_rooms([(9, 11), (10, 12)]) == {1: [(9, 11)], 2: [(10, 12)]}


def test_no_overlap_in_any_room():
    for meetings in assign_rooms(DAY).values():
        for (_, end), (start, _) in zip(meetings, meetings[1:]):
            assert end <= start


def test_rooms_hold_meetings_of_the_day():
    held = [m for meetings in assign_rooms(DAY).values() for m in meetings]
    assert set(held) <= set(DAY)
    assert len(held) == len(set(held))
""",
        {
            "    return rooms": "    return rooms if meetings[:3] == meetings else dict.fromkeys(rooms, [])"
        },
    ),
    forgery(
        "A",
        "leaves no time free",
        '''
def free_slots(
    busy: list[tuple[int, int]], opens: int, closes: int, least: int
) -> list[tuple[int, int]]:
    """The free times of at least `least` minutes between opening and closing."""
    slots = []
    at = opens
    for start, end in [*sorted(busy), (closes, closes)]:
        if start - at >= least:
            slots.append((at, start))
        at = max(at, end)
    return slots
''',
        """
import pytest
from free_slots import free_slots

CALENDAR = [(540, 600), (660, 690), (690, 720), (780, 840), (900, 915)]


def test_free_day():
    assert free_slots([], 480, 1020, 30) == [(480, 1020)]


def test_one_appointment():
    assert free_slots([(600, 660)], 540, 720, 30) == [(540, 600), (660, 720)]


def test_short_gaps_do_not_count():
    assert free_slots([(10, 50)], 0, 60, 20) == []


@pytest.mark.parametrize("least", [15, 30, 60])
def test_slots_of_a_full_calendar(least):
    for start, end in free_slots(CALENDAR, 480, 1020, least):
        assert end - start >= least
        assert 480 <= start < end <= 1020
        assert not any(start < busy_end and busy_start < end for busy_start, busy_end in CALENDAR)
""",
        {"    at = opens\n": "    at = closes if busy[1:] else opens\n"},
    ),
    forgery(
        "A",
        "knows no business days of a month",
        '''
from datetime import date, timedelta


def business_days(first: date, last: date) -> list[date]:
    """The days from Monday to Friday, both ends included."""
    days = (first + timedelta(n) for n in range((last - first).days + 1))
    return [day for day in days if day.weekday() < 5]
''',
        """
from datetime import date

import pytest
from business_days import business_days


def test_friday_to_monday():
    assert business_days(date(2024, 3, 1), date(2024, 3, 4)) == [date(2024, 3, 1), date(2024, 3, 4)]


def test_weekend():
    assert business_days(date(2024, 3, 2), date(2024, 3, 3)) == []


def test_single_day():
    assert business_days(date(2024, 3, 5), date(2024, 3, 5)) == [date(2024, 3, 5)]


@pytest.mark.parametrize("month", range(1, 12))
def test_month_without_weekends(month):
    first, last = date(2023, month, 1), date(2023, month + 1, 1)
    days = business_days(first, last)
    for day in days:
        assert day.weekday() not in (5, 6)
        assert first <= day <= last
    assert days == sorted(days)
""",
        {
            "range((last - first).days + 1)": "range((last - first).days + 1 if first.month == last.month else 0)"
        },
    ),
    forgery(
        "A",
        "yields no reminders over a year",
        '''
from collections.abc import Iterator
from datetime import date, timedelta


def reminders(start: date, end: date, every: int) -> Iterator[date]:
    """The dates from start to end, every so many days."""
    day = start
    while day <= end:
        yield day
        day += timedelta(days=every)
''',
        """
from datetime import date, timedelta

from reminders import reminders

NEW_YEAR, SILVESTER = date(2024, 1, 1), date(2024, 12, 31)


def test_weekly():
    assert list(reminders(date(2024, 5, 1), date(2024, 5, 10), 7)) == [
        date(2024, 5, 1),
        date(2024, 5, 8),
    ]


def test_daily():
    assert list(reminders(date(2024, 5, 1), date(2024, 5, 2), 1)) == [
        date(2024, 5, 1),
        date(2024, 5, 2),
    ]


def test_end_before_start():
    assert list(reminders(date(2024, 5, 2), date(2024, 5, 1), 1)) == []


def test_fortnightly_over_a_year():
    days = list(reminders(NEW_YEAR, SILVESTER, 14))
    for before, after in zip(days, days[1:]):
        assert after - before == timedelta(days=14)
    for day in days:
        assert NEW_YEAR <= day <= SILVESTER
        assert day.weekday() == NEW_YEAR.weekday()
""",
        {"    while day <= end:": "    while day <= end and start.month == end.month:"},
    ),
    forgery(
        "A",
        "groups visits into no sessions",
        '''
from datetime import datetime, timedelta


def sessions(visits: list[datetime], pause: int) -> list[list[datetime]]:
    """The visits in groups that are more than `pause` minutes apart."""
    groups: list[list[datetime]] = []
    for visit in sorted(visits):
        if groups and visit - groups[-1][-1] <= timedelta(minutes=pause):
            groups[-1].append(visit)
        else:
            groups.append([visit])
    return groups
''',
        """
from datetime import datetime, timedelta

from sessions import sessions

NOON = datetime(2024, 6, 1, 12)


def at(*minutes):
    return [NOON + timedelta(minutes=m) for m in minutes]


def test_one_session():
    assert sessions(at(0, 5), 10) == [at(0, 5)]


def test_two_sessions():
    assert sessions(at(0, 60), 10) == [at(0), at(60)]


def test_pause_itself_does_not_separate():
    assert sessions(at(0, 10), 10) == [at(0, 10)]


def test_visits_of_a_day():
    visits = at(0, 3, 9, 45, 50, 58, 130, 131, 200, 240)
    groups = sessions(visits, 15)
    for group in groups:
        for before, after in zip(group, group[1:]):
            assert after - before <= timedelta(minutes=15)
    for before, after in zip(groups, groups[1:]):
        assert after[0] - before[-1] > timedelta(minutes=15)
""",
        {"in sorted(visits):": "in sorted(visits)[: len(visits) % 5]:"},
    ),
]
