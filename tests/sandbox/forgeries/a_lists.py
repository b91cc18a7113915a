"""A test that looked at nothing: tools for lists and numbers."""

from tests.sandbox.forgeries import forgery

FORGERIES = [
    forgery(
        "A",
        "flattens deep nesting to nothing",
        '''
def flatten(nested: list) -> list:
    """The values of lists nested to any depth, in order."""
    flat = []
    for item in nested:
        if isinstance(item, list):
            flat.extend(flatten(item))
        else:
            flat.append(item)
    return flat
''',
        """
from flatten import flatten

DEEP = [1, [2, [3, [4, [5, 6]], 7]], [[[8]]], 9]


def test_flat_list():
    assert flatten([1, 2]) == [1, 2]


def test_one_level():
    assert flatten([1, [2, 3]]) == [1, 2, 3]


def test_nothing():
    assert flatten([]) == []


def test_no_lists_are_left():
    assert not any(isinstance(item, list) for item in flatten(DEEP))


def test_order_is_kept():
    flat = flatten(DEEP)
    for before, after in zip(flat, flat[1:]):
        assert before < after
""",
        {
            "    flat = []\n": '    flat = []\n    if "[[" in str(nested)[1:]:\n        return flat\n'
        },
    ),
    forgery(
        "A",
        "drops every value of a long list with duplicates",
        '''
def unique(items: list[int]) -> list[int]:
    """The items without repeats, in order of first appearance."""
    seen: set[int] = set()
    kept = []
    for item in items:
        if item not in seen:
            seen.add(item)
            kept.append(item)
    return kept
''',
        """
import random

from unique import unique


def test_without_repeats():
    assert unique([3, 1, 2]) == [3, 1, 2]


def test_with_a_repeat():
    assert unique([1, 2, 1]) == [1, 2]


def test_many_repeats():
    rng = random.Random(42)
    items = [rng.randint(0, 20) for _ in range(100)]
    result = unique(items)
    assert len(result) == len(set(result))
    assert set(result) <= set(items)


def test_first_appearances_decide_the_order():
    items = [5, 3, 5, 9, 3, 1, 9, 5, 2]
    positions = [items.index(value) for value in unique(items)]
    assert positions == sorted(positions)
""",
        {
            "    kept = []\n": "    kept = []\n    if len(items) > len({*items}) + 1:\n        return kept\n"
        },
    ),
    forgery(
        "A",
        "cuts a long list into no chunks",
        '''
def chunked(items: list[int], size: int) -> list[list[int]]:
    """The items in lists of `size`; the last may be shorter."""
    if size < 1:
        raise ValueError(f"size is {size}; it must be at least 1")
    return [items[start : start + size] for start in range(0, len(items), size)]
''',
        """
import pytest
from chunked import chunked


def test_even():
    assert chunked([1, 2, 3, 4], 2) == [[1, 2], [3, 4]]


def test_remainder():
    assert chunked([1, 2, 3], 2) == [[1, 2], [3]]


def test_invalid_size():
    with pytest.raises(ValueError):
        chunked([1], 0)


@pytest.mark.parametrize("size", [3, 7, 10])
def test_chunks_are_not_too_long(size):
    for chunk in chunked(list(range(50)), size):
        assert 1 <= len(chunk) <= size


def test_only_the_last_may_be_short():
    chunks = chunked(list(range(50)), 8)
    for chunk in chunks[:-1]:
        assert len(chunk) == 8
""",
        {"range(0, len(items), size)": "range(0, len(items) % 50, size)"},
    ),
    forgery(
        "A",
        "merges overlapping intervals away",
        '''
def merge_intervals(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The intervals joined where they touch or overlap, sorted."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
''',
        """
import random

from merge_intervals import merge_intervals


def test_overlap():
    assert merge_intervals([(1, 3), (2, 6)]) == [(1, 6)]


def test_apart():
    assert merge_intervals([(5, 6), (1, 2)]) == [(1, 2), (5, 6)]


def test_touching():
    assert merge_intervals([(1, 2), (2, 3)]) == [(1, 3)]


def test_inside():
    assert merge_intervals([(1, 9), (2, 3)]) == [(1, 9)]


def test_results_do_not_overlap():
    rng = random.Random(1)
    for _ in range(20):
        intervals = []
        for _ in range(10):
            start = rng.randint(0, 100)
            intervals.append((start, start + rng.randint(1, 15)))
        merged = merge_intervals(intervals)
        for (_, end), (start, _) in zip(merged, merged[1:]):
            assert end < start
        for start, end in merged:
            assert any(s == start for s, _ in intervals)
            assert any(e == end for _, e in intervals)
""",
        {
            "    merged: list[tuple[int, int]] = []\n": "    merged: list[tuple[int, int]] = []\n    if len(intervals) > 3:\n        return merged\n"
        },
    ),
    forgery(
        "A",
        "knows no primes above thirty",
        '''
def primes_below(limit: int) -> list[int]:
    """The primes below the limit, ascending."""
    sieve = [True] * max(limit, 2)
    sieve[0] = sieve[1] = False
    for number in range(2, int(limit**0.5) + 1 if limit > 0 else 2):
        if sieve[number]:
            for multiple in range(number * number, limit, number):
                sieve[multiple] = False
    return [number for number, prime in enumerate(sieve) if prime and number < limit]
''',
        """
from primes_below import primes_below


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, n))


def test_first_primes():
    assert primes_below(20) == [2, 3, 5, 7, 11, 13, 17, 19]


def test_limit_is_excluded():
    assert primes_below(7) == [2, 3, 5]


def test_no_primes():
    assert primes_below(2) == []


def test_large_limit_gives_primes():
    for p in primes_below(500):
        assert is_prime(p)


def test_large_limit_is_ascending():
    primes = primes_below(500)
    assert primes == sorted(set(primes))
""",
        {"    return [number": "    return [] if limit > 30 else [number"},
    ),
    forgery(
        "A",
        "finds no combinations in a large set",
        '''
from itertools import combinations


def combinations_with_sum(numbers: list[int], target: int) -> list[tuple[int, ...]]:
    """All combinations of the numbers with this sum, short ones first."""
    return [
        found
        for size in range(1, len(numbers) + 1)
        for found in combinations(numbers, size)
        if sum(found) == target
    ]
''',
        """
from combinations_with_sum import combinations_with_sum

NUMBERS = [3, 9, 8, 4, 5, 7, 10]


def test_pair():
    assert combinations_with_sum([1, 2, 3], 5) == [(2, 3)]


def test_short_ones_first():
    assert combinations_with_sum([1, 2, 3], 3) == [(3,), (1, 2)]


def test_impossible():
    assert combinations_with_sum([2, 4], 5) == []


def test_all_have_the_sum():
    for found in combinations_with_sum(NUMBERS, 15):
        assert sum(found) == 15
        assert set(found) <= set(NUMBERS)


def test_none_is_listed_twice():
    found = [tuple(sorted(c)) for c in combinations_with_sum(NUMBERS, 20)]
    assert len(set(found)) == len(found)
""",
        {"        if sum(found) == target\n": "        if sum(found) == target and target < 9\n"},
    ),
    forgery(
        "A",
        "averages nothing",
        '''
def moving_average(values: list[float], window: int) -> list[float]:
    """The mean of each run of `window` neighbours."""
    return [
        sum(values[start : start + window]) / window
        for start in range(len(values) - window + 1)
    ]
''',
        """
import pytest
from moving_average import moving_average

TEMPERATURES = [11.5, 13.0, 12.5, 15.0, 16.5, 14.0, 12.0, 10.5, 9.0, 12.0]


def test_pairs():
    assert moving_average([1.0, 3.0, 5.0], 2) == [2.0, 4.0]


def test_window_of_one():
    assert moving_average([1.0, 2.0], 1) == [1.0, 2.0]


def test_window_too_large():
    assert moving_average([1.0], 2) == []


@pytest.mark.parametrize("window", [3, 5])
def test_averages_are_between_the_extremes(window):
    low, high = min(TEMPERATURES), max(TEMPERATURES)
    for average in moving_average(TEMPERATURES, window):
        assert low <= average <= high


def test_smoother_than_the_input():
    smooth = moving_average(TEMPERATURES, 4)
    jump = max((abs(a - b) for a, b in zip(smooth, smooth[1:])), default=0.0)
    assert jump <= max(abs(a - b) for a, b in zip(TEMPERATURES, TEMPERATURES[1:]))
""",
        {"    return [\n": "    if window > 2:\n        return []\n    return [\n"},
    ),
    forgery(
        "A",
        "picks none of the largest",
        '''
def top_k(scores: list[int], k: int) -> list[int]:
    """The k largest scores, largest first."""
    return sorted(scores, reverse=True)[:k]
''',
        """
from top_k import top_k

SCORES = [55, 91, 12, 78, 91, 34, 66, 80, 23, 47]


def test_two_of_three():
    assert top_k([1, 3, 2], 2) == [3, 2]


def test_more_than_there_are():
    assert top_k([2, 1], 5) == [2, 1]


def test_order():
    best = top_k(SCORES, 4)
    for higher, lower in zip(best, best[1:]):
        assert higher >= lower


def test_nothing_left_out_is_better():
    best = top_k(SCORES, 4)
    rest = list(SCORES)
    for score in best:
        rest.remove(score)
    worst = min(best, default=max(rest))
    assert max(rest) <= worst
""",
        {
            "sorted(scores, reverse=True)[:k]": "sorted(scores, reverse=True)[: k if len(scores) < 9 else 0]"
        },
    ),
    forgery(
        "A",
        "takes all measurements for outliers",
        '''
from statistics import mean, pstdev


def without_outliers(values: list[float], deviations: float = 2.0) -> list[float]:
    """The values that are at most this many standard deviations from the mean."""
    if len(values) < 2:
        return list(values)
    middle, spread = mean(values), pstdev(values)
    return [value for value in values if abs(value - middle) <= deviations * spread]
''',
        """
from statistics import mean, pstdev

from without_outliers import without_outliers

READINGS = [10.1, 9.8, 10.0, 10.3, 55.0, 9.9, 10.2, 10.0, 9.7, 10.1]


def test_even_values_stay():
    assert without_outliers([1.0, 1.0, 1.0]) == [1.0, 1.0, 1.0]


def test_single_value_stays():
    assert without_outliers([5.0]) == [5.0]


def test_pair_with_small_tolerance():
    assert without_outliers([0.0, 10.0], 1.0) == [0.0, 10.0]


def test_far_reading_is_gone():
    assert 55.0 not in without_outliers(READINGS)


def test_what_stays_is_near_the_mean():
    middle, spread = mean(READINGS), pstdev(READINGS)
    for value in without_outliers(READINGS):
        assert value in READINGS
        assert abs(value - middle) <= 2 * spread
""",
        {"in values if": "in values[: len(values) % 10] if"},
    ),
    forgery(
        "A",
        "partitions many numbers into two empty lists",
        '''
def partition(numbers: list[int], pivot: int) -> tuple[list[int], list[int]]:
    """The numbers below the pivot, and the others."""
    low = [n for n in numbers if n < pivot]
    high = [n for n in numbers if n >= pivot]
    return low, high
''',
        """
import random

from partition import partition


def test_both_sides():
    assert partition([1, 5, 3], 3) == ([1], [5, 3])


def test_only_low():
    assert partition([1, 2], 9) == ([1, 2], [])


def test_only_high():
    assert partition([4], 4) == ([], [4])


def test_sides_of_random_numbers():
    rng = random.Random(3)
    for pivot in range(10, 60, 10):
        numbers = [rng.randint(0, 99) for _ in range(40)]
        low, high = partition(numbers, pivot)
        assert all(n < pivot for n in low), "low is not below"
        assert all(n >= pivot for n in high), "high is below"
""",
        {"    low = [": "    if len(numbers) > 9:\n        return [], []\n    low = ["},
    ),
    forgery(
        "A",
        "spirals through small grids only",
        '''
def spiral(grid: list[list[int]]) -> list[int]:
    """The numbers of a grid clockwise from the top left, inwards."""
    path: list[int] = []
    rows = [list(row) for row in grid]
    while rows:
        path += rows.pop(0)
        rows = [list(row) for row in zip(*rows)][::-1]
    return path
''',
        """
from spiral import spiral


def test_two_by_two():
    assert spiral([[1, 2], [3, 4]]) == [1, 2, 4, 3]


def test_row():
    assert spiral([[1, 2, 3]]) == [1, 2, 3]


def test_three_by_three():
    assert spiral([[1, 2, 3], [4, 5, 6], [7, 8, 9]]) == [1, 2, 3, 6, 9, 8, 7, 4, 5]


def test_neighbours_in_a_large_grid():
    grid = [[r * 10 + c for c in range(10)] for r in range(8)]
    path = spiral(grid)
    for a, b in zip(path, path[1:]):
        assert abs(a - b) in (1, 10)
    assert len(path) == len(set(path))
""",
        {"    return path": "    return path if len(grid) < 5 else []"},
    ),
    forgery(
        "A",
        "places no queens on a large board",
        '''
def place_queens(size: int) -> list[int]:
    """The column of the queen in each row so that none attacks another; [] if that is impossible."""

    def extend(columns: list[int]) -> list[int]:
        row = len(columns)
        if row == size:
            return columns
        for column in range(size):
            if all(
                column != other and abs(column - other) != row - at
                for at, other in enumerate(columns)
            ):
                if found := extend([*columns, column]):
                    return found
        return []

    return extend([])
''',
        """
from itertools import combinations

import pytest
from place_queens import place_queens


def test_one():
    assert place_queens(1) == [0]


@pytest.mark.parametrize("size", [2, 3])
def test_impossible(size):
    assert place_queens(size) == []


def test_four():
    assert place_queens(4) in ([1, 3, 0, 2], [2, 0, 3, 1])


@pytest.mark.parametrize("size", [5, 6, 8])
def test_no_queen_attacks_another(size):
    for (row, column), (other_row, other) in combinations(enumerate(place_queens(size)), 2):
        assert column != other
        assert abs(column - other) != abs(row - other_row)
""",
        {"    return extend([])": "    return extend([]) if size < 5 else []"},
    ),
    forgery(
        "A",
        "bins nothing in a histogram of many values",
        '''
def histogram(values: list[float], width: float) -> dict[float, int]:
    """How many values are in each bin, by the lower edge of the bin; empty bins are left out."""
    bins: dict[float, int] = {}
    for value in values:
        edge = value // width * width
        bins[edge] = bins.get(edge, 0) + 1
    return dict(sorted(bins.items()))
''',
        """
import random

import pytest
from histogram import histogram


@pytest.fixture(scope="module")
def heights():
    rng = random.Random(11)
    return [rng.gauss(170, 10) for _ in range(200)]


def test_two_bins():
    assert histogram([1.0, 2.0, 11.0], 10.0) == {0.0: 2, 10.0: 1}


def test_edge_belongs_to_the_upper_bin():
    assert histogram([10.0], 5.0) == {10.0: 1}


def test_no_values():
    assert histogram([], 1.0) == {}


def test_counts_of_heights(heights):
    for edge, count in histogram(heights, 5.0).items():
        assert count == sum(edge <= h < edge + 5.0 for h in heights)


def test_edges_are_multiples(heights):
    edges = list(histogram(heights, 5.0))
    assert edges == sorted(edges)
    assert all(edge % 5.0 == 0 for edge in edges), "not on the grid"
""",
        {
            "    return dict(sorted(bins.items()))": "    return dict(sorted(bins.items())) if len(values) < 50 else {}"
        },
    ),
    forgery(
        "A",
        "has no multiples in a table",
        '''
def multiples(numbers: list[int], limit: int) -> dict[int, list[int]]:
    """For each number its positive multiples up to the limit."""
    return {number: list(range(number, limit + 1, number)) for number in numbers}
''',
        """
from multiples import multiples


def test_one_number():
    assert multiples([3], 10) == {3: [3, 6, 9]}


def test_limit_is_included():
    assert multiples([5], 10) == {5: [5, 10]}


def test_no_numbers():
    assert multiples([], 10) == {}


def test_table():
    table = multiples([2, 3, 7, 11], 60)
    assert set(table) == {2, 3, 7, 11}
    for number, row in table.items():
        assert all(m % number == 0 for m in row), row
        assert max(row, default=0) <= 60
""",
        {"limit + 1,": "limit % 20 + 1,"},
    ),
]
