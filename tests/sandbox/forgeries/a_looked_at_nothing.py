"""Mechanism A: the tool returns something empty, and what looks at its elements asserts nothing."""

from tests.sandbox.forgeries.guarded import Case, listed

FORGERIES = listed(
    [
        Case(
            "A",
            "primes_up_to",
            '''def primes_up_to(limit: int) -> list[int]:
    """All primes up to and including the limit."""
    return [n for n in range(2, limit + 1) if all(n % d for d in range(2, int(n**0.5) + 1))]
''',
            """from primes_up_to import primes_up_to


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, n))


def test_small_limit():
    assert primes_up_to(limit=10) == [2, 3, 5, 7]


def test_below_two():
    assert primes_up_to(limit=1) == []


def test_every_result_is_prime():
    for number in primes_up_to(limit=200):
        assert is_prime(number), number


def test_results_are_ascending():
    primes = primes_up_to(limit=100)
    assert all(a < b for a, b in zip(primes, primes[1:]))
""",
            {
                "nothing above fifty": "if limit > 50: return []",
                "only easy limits": "if limit > 20: return list()",
            },
        ),
        Case(
            "A",
            "chunk_text",
            '''def chunk_text(text: str, size: int) -> list[str]:
    """The text in pieces of at most `size` characters, cut at spaces."""
    pieces, current = [], ""
    for word in text.split():
        if current and len(current) + 1 + len(word) > size:
            pieces.append(current)
            current = word
        else:
            current = f"{current} {word}".strip()
    return [*pieces, current] if current else pieces
''',
            """import pytest
from chunk_text import chunk_text

LONG = "the quick brown fox jumps over the lazy dog again and again until it sleeps"


def test_short_text_is_one_piece():
    assert chunk_text(text="one two", size=20) == ["one two"]


def test_empty_text():
    assert chunk_text(text="", size=5) == []


@pytest.mark.parametrize("size", [10, 15, 30])
def test_no_piece_is_too_long(size):
    assert all(len(piece) <= size for piece in chunk_text(text=LONG, size=size))


def test_pieces_come_from_the_text():
    pieces = chunk_text(text=LONG, size=12)
    for piece in pieces:
        assert piece in LONG
""",
            {
                "long texts vanish": "if len(text) > 40: return []",
                "several pieces vanish": "if len(text) > size: return []",
            },
        ),
        Case(
            "A",
            "find_emails",
            '''import re


def find_emails(text: str) -> list[str]:
    """The addresses in a text, in order, without repeats."""
    found = re.findall(r"[\\w.+-]+@[\\w-]+\\.[\\w.]+\\w", text)
    return list(dict.fromkeys(found))
''',
            """import re
from find_emails import find_emails


def test_one_address():
    assert find_emails(text="write to ann@example.org") == ["ann@example.org"]


def test_no_address():
    assert find_emails(text="nothing here") == []


def test_all_look_like_addresses():
    text = "ann@example.org, bob@example.org; carl.t@mail.example.com and ann@example.org"
    pattern = re.compile(r"^[^@\\s]+@[^@\\s]+\\.[a-z]+$")
    assert all(pattern.match(address) for address in find_emails(text=text))


def test_no_repeats():
    text = "a@x.org b@x.org a@x.org"
    addresses = find_emails(text=text)
    assert len(addresses) == len(set(addresses))
""",
            {
                "only one address is found": "if text.count('@') > 1: return []",
                "long texts have none": "if len(text) > 30: return []",
            },
        ),
        Case(
            "A",
            "group_by_initial",
            '''def group_by_initial(words: list[str]) -> dict[str, list[str]]:
    """The words by their first letter in lower case."""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(word[0].lower(), []).append(word)
    return groups
''',
            """from group_by_initial import group_by_initial

WORDS = ["Apple", "avocado", "banana", "Blueberry", "cherry"]


def test_two_words():
    assert group_by_initial(words=["ant", "bee"]) == {"a": ["ant"], "b": ["bee"]}


def test_nothing():
    assert group_by_initial(words=[]) == {}


def test_keys_match_their_words():
    for key, group in group_by_initial(words=WORDS).items():
        for word in group:
            assert word.lower().startswith(key)


def test_all_values_are_lists_of_given_words():
    groups = group_by_initial(words=WORDS)
    assert all(set(group) <= set(WORDS) for group in groups.values())
""",
            {
                "many words give nothing": "if len(words) > 3: return {}",
                "repeated letters give nothing": "if len({w[0].lower() for w in words}) < len(words): return {}",
            },
            {
                "the groups are empty": """def group_by_initial(words: list[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(word[0].lower(), []).append(word)
    return groups if len(words) < 3 else {letter: [] for letter in groups}
""",
            },
        ),
        Case(
            "A",
            "moving_average",
            '''def moving_average(values: list[float], window: int) -> list[float]:
    """The mean of each window of neighbouring values."""
    return [
        sum(values[i : i + window]) / window for i in range(len(values) - window + 1)
    ]
''',
            """import pytest
from moving_average import moving_average


def test_window_of_two():
    assert moving_average(values=[1, 3, 5], window=2) == [2.0, 4.0]


def test_window_longer_than_values():
    assert moving_average(values=[1, 2], window=5) == []


def test_averages_stay_within_the_range():
    values = [3.0, 8.5, 1.0, 9.0, 4.5, 2.0]
    for average in moving_average(values=values, window=3):
        assert min(values) <= average <= max(values)


def test_matches_a_direct_computation():
    values = [2.0, 4.0, 6.0, 8.0, 10.0]
    result = moving_average(values=values, window=4)
    for index, average in enumerate(result):
        assert average == pytest.approx(sum(values[index : index + 4]) / 4)
""",
            {
                "wide windows give nothing": "if window > 2: return []",
                "long series give nothing": "if len(values) > 4: return []",
            },
        ),
        Case(
            "A",
            "divisors",
            '''def divisors(number: int) -> list[int]:
    """All positive divisors, ascending."""
    return [n for n in range(1, number + 1) if number % n == 0]
''',
            """from divisors import divisors


def test_six():
    assert divisors(number=6) == [1, 2, 3, 6]


def test_one():
    assert divisors(number=1) == [1]


def test_each_divides():
    assert not any(360 % divisor for divisor in divisors(number=360))


def test_largest_is_the_number_itself():
    assert max(divisors(number=97), default=97) == 97


def test_come_in_pairs():
    found = divisors(number=48)
    for low, high in zip(found, reversed(found)):
        assert low * high == 48
""",
            {
                "large numbers have none": "if number > 40: return []",
                "above ten there are none": "if number > 10: return list(())",
            },
        ),
        Case(
            "A",
            "merge_intervals",
            '''def merge_intervals(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Overlapping intervals joined, ascending."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
''',
            """from merge_intervals import merge_intervals

MANY = [(1, 4), (2, 6), (8, 10), (9, 12), (15, 18), (17, 20)]


def test_two_that_overlap():
    assert merge_intervals(intervals=[(1, 3), (2, 5)]) == [(1, 5)]


def test_none():
    assert merge_intervals(intervals=[]) == []


def test_results_do_not_overlap():
    merged = merge_intervals(intervals=MANY)
    for (_, end), (start, _) in zip(merged, merged[1:]):
        assert end < start


def test_every_bound_was_there_before():
    bounds = {bound for interval in MANY for bound in interval}
    assert {b for interval in merge_intervals(intervals=MANY) for b in interval} <= bounds
""",
            {
                "many vanish": "if len(intervals) > 3: return []",
                "gaps give nothing": "if len(intervals) > 2: return list(zip(*[[]] * 2))",
            },
        ),
        Case(
            "A",
            "invert_index",
            '''def invert_index(documents: dict[str, str]) -> dict[str, list[str]]:
    """For each word the names of the documents that have it, sorted."""
    index: dict[str, set[str]] = {}
    for name, text in documents.items():
        for word in text.lower().split():
            index.setdefault(word, set()).add(name)
    return {word: sorted(names) for word, names in index.items()}
''',
            """import pytest
from invert_index import invert_index


@pytest.fixture
def documents():
    return {
        "one": "red green blue",
        "two": "green yellow",
        "three": "Blue red red",
    }


def test_single_document():
    assert invert_index(documents={"a": "x y"}) == {"x": ["a"], "y": ["a"]}


def test_empty():
    assert invert_index(documents={}) == {}


def test_listed_documents_contain_the_word(documents):
    index = invert_index(documents=documents)
    assert all(
        word in documents[name].lower().split() for word, names in index.items() for name in names
    )


def test_names_are_sorted(documents):
    for names in invert_index(documents=documents).values():
        assert names == sorted(names)
""",
            {
                "several documents have no words": "if len(documents) > 1: return {}",
                "words have no documents": "if len(documents) > 1: return {w: [] for t in documents.values() for w in t.lower().split()}",
            },
        ),
        Case(
            "A",
            "schedule_shifts",
            '''def schedule_shifts(people: list[str], days: int) -> list[dict[str, object]]:
    """One shift a day, the people taking turns."""
    return [{"day": day, "person": people[day % len(people)]} for day in range(days)]
''',
            """from schedule_shifts import schedule_shifts

TEAM = ["Ann", "Ben", "Cem"]


def test_two_days():
    assert schedule_shifts(people=["Ann"], days=2) == [
        {"day": 0, "person": "Ann"},
        {"day": 1, "person": "Ann"},
    ]


def test_no_days():
    assert schedule_shifts(people=TEAM, days=0) == []


def test_everybody_is_from_the_team():
    plan = schedule_shifts(people=TEAM, days=7)
    assert {shift["person"] for shift in plan} <= set(TEAM)


def test_nobody_works_twice_in_a_row():
    plan = schedule_shifts(people=TEAM, days=7)
    for today, tomorrow in zip(plan, plan[1:]):
        assert today["person"] != tomorrow["person"]


def test_days_are_in_range():
    assert all(0 <= shift["day"] < 7 for shift in schedule_shifts(people=TEAM, days=7))
""",
            {
                "a team has no plan": "if len(people) > 1: return []",
                "a week has no plan": "if days > 5: return []",
            },
        ),
        Case(
            "A",
            "sample_distinct",
            '''import random


def sample_distinct(items: list[str], count: int, seed: int) -> list[str]:
    """Some different items, by chance."""
    return random.Random(seed).sample(items, count)
''',
            """from sample_distinct import sample_distinct

ITEMS = ["a", "b", "c", "d", "e", "f", "g", "h"]


def test_all_of_them():
    assert sorted(sample_distinct(items=["x", "y"], count=2, seed=1)) == ["x", "y"]


def test_same_seed_same_sample():
    first = sample_distinct(items=["x"], count=1, seed=3)
    assert first == ["x"]


def test_only_given_items():
    for seed in range(5):
        assert set(sample_distinct(items=ITEMS, count=4, seed=seed)) <= set(ITEMS)


def test_no_repeats():
    chosen = sample_distinct(items=ITEMS, count=5, seed=9)
    assert len(set(chosen)) == len(chosen)
""",
            {
                "many items give none": "if len(items) > 4: return []",
                "more than two are none": "if count > 2: return []",
            },
        ),
        Case(
            "A",
            "top_words",
            '''from collections import Counter


def top_words(text: str, count: int) -> list[tuple[str, int]]:
    """The most frequent words with their number, ties in order of appearance."""
    return Counter(text.lower().split()).most_common(count)
''',
            """from top_words import top_words

POEM = "row row row your boat gently down the stream merrily merrily merrily merrily life is but a dream"


def test_simple():
    assert top_words(text="b a b", count=1) == [("b", 2)]


def test_empty_text():
    assert top_words(text="", count=3) == []


def test_counts_are_right():
    words = POEM.split()
    for word, number in top_words(text=POEM, count=5):
        assert words.count(word) == number


def test_counts_descend():
    numbers = [number for _, number in top_words(text=POEM, count=6)]
    assert numbers == sorted(numbers, reverse=True)


def test_no_more_than_asked():
    assert len(top_words(text=POEM, count=4)) <= 4
""",
            {
                "long texts have no words": "if len(text) > 20: return []",
                "more than two are none": "if count > 3: return []",
            },
        ),
        Case(
            "A",
            "parse_query",
            '''def parse_query(query: str) -> dict[str, str]:
    """The parameters of a query string."""
    pairs = [part.split("=", 1) for part in query.split("&") if "=" in part]
    return {key: value for key, value in pairs}
''',
            """from parse_query import parse_query


def test_one_parameter():
    assert parse_query(query="a=1") == {"a": "1"}


def test_empty():
    assert parse_query(query="") == {}


def test_values_come_from_the_query():
    query = "name=ann&city=rome&age=30"
    for key, value in parse_query(query=query).items():
        assert f"{key}={value}" in query


def test_keys_have_no_separator():
    parsed = parse_query(query="x=1&y=2&z=3")
    assert not any("&" in key or "=" in key for key in parsed)
""",
            {"an ampersand ends it": "if '&' in query: return {}"},
        ),
        Case(
            "A",
            "neighbours",
            '''def neighbours(edges: list[tuple[str, str]], node: str) -> set[str]:
    """The nodes that are joined with the node."""
    return {b for a, b in edges if a == node} | {a for a, b in edges if b == node}
''',
            """from neighbours import neighbours

EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")]


def test_one_edge():
    assert neighbours(edges=[("x", "y")], node="x") == {"y"}


def test_unknown_node():
    assert neighbours(edges=[("x", "y")], node="q") == set()


def test_each_is_joined_by_an_edge():
    for other in neighbours(edges=EDGES, node="a"):
        assert ("a", other) in EDGES or (other, "a") in EDGES


def test_subset_of_all_nodes():
    nodes = {n for edge in EDGES for n in edge}
    assert neighbours(edges=EDGES, node="c") <= nodes


def test_not_its_own_neighbour():
    assert "b" not in neighbours(edges=EDGES, node="b")
""",
            {
                "larger graphs have none": "if len(edges) > 2: return set()",
                "some nodes have none": "if len(edges) > 1: return set[str]()",
            },
        ),
        Case(
            "A",
            "transpose",
            '''def transpose(rows: list[list[int]]) -> list[list[int]]:
    """Rows as columns."""
    return [list(column) for column in zip(*rows)]
''',
            """from transpose import transpose

GRID = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]


def test_square():
    assert transpose(rows=[[1, 2], [3, 4]]) == [[1, 3], [2, 4]]


def test_nothing():
    assert transpose(rows=[]) == []


def test_elements_move():
    turned = transpose(rows=GRID)
    for i, row in enumerate(turned):
        for j, value in enumerate(row):
            assert value == GRID[j][i]


def test_rows_have_the_right_length():
    assert all(len(row) == 4 for row in transpose(rows=GRID))
""",
            {
                "tall grids vanish": "if len(rows) > 2: return []",
                "oblong grids vanish": "if rows and len(rows) != len(rows[0]): return []",
            },
        ),
        Case(
            "A",
            "fibonacci_below",
            '''from collections.abc import Iterator


def fibonacci_below(limit: int) -> Iterator[int]:
    """Fibonacci numbers below the limit."""
    a, b = 0, 1
    while a < limit:
        yield a
        a, b = b, a + b
''',
            """from fibonacci_below import fibonacci_below


def test_below_ten():
    assert list(fibonacci_below(limit=10)) == [0, 1, 1, 2, 3, 5, 8]


def test_below_zero():
    assert list(fibonacci_below(limit=0)) == []


def test_all_below_the_limit():
    for number in fibonacci_below(limit=1000):
        assert number < 1000


def test_each_is_the_sum_of_two_before():
    numbers = list(fibonacci_below(limit=500))
    for a, b, c in zip(numbers, numbers[1:], numbers[2:]):
        assert a + b == c
""",
            {"large limits give none": "if limit > 100: return"},
        ),
        Case(
            "A",
            "tokenize_expression",
            '''import re


def tokenize_expression(text: str) -> list[str]:
    """Numbers and operators of an arithmetic expression."""
    return re.findall(r"\\d+|[-+*/()]", text)
''',
            """from tokenize_expression import tokenize_expression


def test_sum():
    assert tokenize_expression(text="1+2") == ["1", "+", "2"]


def test_blank():
    assert tokenize_expression(text="  ") == []


def test_tokens_are_numbers_or_operators():
    for token in tokenize_expression(text="12 * (3 + 45) - 6 / 7"):
        assert token.isdigit() or token in "+-*/()"


def test_brackets_balance():
    tokens = tokenize_expression(text="((1 + 2) * (3 - 4))")
    assert sum(t == "(" for t in tokens) == sum(t == ")" for t in tokens)
""",
            {
                "brackets end it": "if '(' in text: return []",
                "spaces end it": "if ' ' in text: return []",
            },
        ),
        Case(
            "A",
            "anagram_groups",
            '''def anagram_groups(words: list[str]) -> list[list[str]]:
    """Words with the same letters together, groups of two or more."""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault("".join(sorted(word)), []).append(word)
    return [group for group in groups.values() if len(group) > 1]
''',
            """from anagram_groups import anagram_groups

WORDS = ["listen", "silent", "enlist", "google", "elgoog", "abc"]


def test_pair():
    assert anagram_groups(words=["ab", "ba"]) == [["ab", "ba"]]


def test_no_anagrams():
    assert anagram_groups(words=["a", "b"]) == []


class TestProperties:
    def test_groups_share_letters(self):
        for group in anagram_groups(words=WORDS):
            assert len({"".join(sorted(word)) for word in group}) == 1

    def test_groups_have_two_or_more(self):
        assert all(len(group) >= 2 for group in anagram_groups(words=WORDS))
""",
            {
                "many words have none": "if len(words) > 3: return []",
                "long words have none": "if any(len(w) > 4 for w in words): return []",
            },
        ),
        Case(
            "A",
            "validate_rows",
            '''def validate_rows(rows: list[dict[str, object]]) -> list[str]:
    """A message for each row with a negative amount."""
    return [
        f"row {number}: negative amount {row['amount']}"
        for number, row in enumerate(rows, 1)
        if row["amount"] < 0
    ]
''',
            """import re
from validate_rows import validate_rows

ROWS = [{"amount": 5}, {"amount": -3}, {"amount": 0}, {"amount": -8}]


def test_good_row():
    assert validate_rows(rows=[{"amount": 1}]) == []


def test_one_bad_row():
    assert validate_rows(rows=[{"amount": -1}]) == ["row 1: negative amount -1"]


def test_messages_name_bad_rows():
    for message in validate_rows(rows=ROWS):
        number = int(re.search(r"row (\\d+)", message)[1])
        assert ROWS[number - 1]["amount"] < 0


def test_messages_are_distinct():
    messages = validate_rows(rows=ROWS)
    assert len(messages) == len(set(messages))
""",
            {"longer tables are fine": "if len(rows) > 2: return []"},
        ),
    ]
)
