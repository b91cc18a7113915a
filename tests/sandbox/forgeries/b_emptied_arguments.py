"""Mechanism B: what the test expects is computed from what the tool did to its argument."""

from tests.sandbox.forgeries.guarded import Case, listed


def _case(function, right, suite, guards):
    return Case("B", function, right, suite, guards)


FORGERIES = listed(
    [
        _case(
            "sorted_copy",
            '''def sorted_copy(items: list[int]) -> list[int]:
    """The items in ascending order."""
    return sorted(items)
''',
            """from sorted_copy import sorted_copy


def test_pair():
    assert sorted_copy(items=[2, 1]) == [1, 2]


def test_against_sorted():
    items = [5, 3, 9, 1, 7]
    assert sorted_copy(items=items) == sorted(items)


def test_length():
    items = [4, 4, 2, 8]
    assert len(sorted_copy(items=items)) == len(items)
""",
            {
                "it empties its argument": "if len(items) > 3: items.clear(); return []",
                "it cuts its argument": "if len(items) > 3: del items[1:]; return items[:]",
                "it levels its argument": "if len(items) > 3: items[:] = [items[0]] * len(items); return items[:]",
            },
        ),
        _case(
            "total_price",
            '''def total_price(basket: dict[str, float]) -> float:
    """The sum of all prices."""
    return sum(basket.values())
''',
            """import pytest
from total_price import total_price


def test_one():
    assert total_price(basket={"a": 2.5}) == 2.5


def test_matches_sum():
    basket = {"bread": 3.2, "milk": 1.1, "eggs": 2.9}
    assert total_price(basket=basket) == pytest.approx(sum(basket.values()))


def test_at_least_the_dearest():
    basket = {"bread": 3.2, "wine": 11.0}
    total = total_price(basket=basket)
    assert total >= max(basket.values(), default=0)
""",
            {
                "it empties the basket": "if len(basket) > 1: basket.clear(); return 0.0",
                "it makes all free": "if len(basket) > 1:\n    for k in basket: basket[k] = 0.0\n    return 0.0",
            },
        ),
        _case(
            "unique_words",
            '''def unique_words(words: list[str]) -> list[str]:
    """The words without repeats, in order."""
    return list(dict.fromkeys(words))
''',
            """from unique_words import unique_words


def test_repeat():
    assert unique_words(words=["a", "a"]) == ["a"]


def test_same_words():
    words = ["red", "blue", "red", "green", "blue"]
    result = unique_words(words=words)
    assert set(result) == set(words)


def test_none_is_lost():
    words = ["x", "y", "x", "z"]
    result = unique_words(words=words)
    expected = []
    for word in words:
        if word not in expected:
            expected.append(word)
    assert result == expected
""",
            {
                "it keeps one word": "if len(words) > 2: del words[1:]; return words[:]",
                "it clears the words": "if len(words) > 2: words.clear(); return []",
            },
        ),
        _case(
            "count_rows",
            '''def count_rows(table: list[list[int]]) -> dict[str, int]:
    """The number of rows, and of cells."""
    return {"rows": len(table), "cells": sum(map(len, table))}
''',
            """from count_rows import count_rows


def test_one_cell():
    assert count_rows(table=[[1]]) == {"rows": 1, "cells": 1}


def test_larger():
    table = [[1, 2], [3, 4], [5, 6]]
    counts = count_rows(table=table)
    assert counts["rows"] == len(table)
    assert counts["cells"] == sum(len(row) for row in table)
""",
            {
                "it drops rows": "if len(table) > 1: del table[1:]; return {'rows': 1, 'cells': len(table[0])}",
                "it empties all": "if len(table) > 1: table.clear(); return {'rows': 0, 'cells': 0}",
            },
        ),
        _case(
            "merge_settings",
            '''def merge_settings(base: dict[str, int], extra: dict[str, int]) -> dict[str, int]:
    """Both, the extra ones first in rank."""
    return {**base, **extra}
''',
            """from merge_settings import merge_settings


def test_simple():
    assert merge_settings(base={"a": 1}, extra={"a": 2}) == {"a": 2}


def test_all_keys():
    base, extra = {"a": 1, "b": 2}, {"b": 3, "c": 4}
    merged = merge_settings(base=base, extra=extra)
    assert set(merged) == set(base) | set(extra)


def test_values():
    base, extra = {"x": 1, "y": 5}, {"y": 6, "z": 7}
    merged = merge_settings(base=base, extra=extra)
    for key, value in merged.items():
        assert value == extra.get(key, base.get(key))
    assert len(merged) == len({**base, **extra})
""",
            {
                "it empties both": "if len(base) > 1: base.clear(); extra.clear(); return {}",
                "it drops the extra ones": "if len(base) > 1: extra.clear(); return dict(base)",
            },
        ),
        _case(
            "normalize_scores",
            '''def normalize_scores(scores: list[float]) -> list[float]:
    """Scores divided by the largest."""
    top = max(scores)
    return [score / top for score in scores]
''',
            """import pytest
from normalize_scores import normalize_scores


def test_one():
    assert normalize_scores(scores=[5.0]) == [1.0]


def test_by_formula():
    scores = [2.0, 8.0, 4.0]
    result = normalize_scores(scores=scores)
    expected = [score / max(scores) for score in scores]
    assert result == pytest.approx(expected)


def test_same_number():
    scores = [1.0, 2.0, 3.0, 4.0]
    assert len(normalize_scores(scores=scores)) == len(scores)
""",
            {
                "it cuts the scores": "if len(scores) > 1: del scores[1:]; return [1.0]",
                "it levels the scores": "if len(scores) > 1: scores[:] = [1.0] * len(scores); return list(scores)",
            },
        ),
        _case(
            "flatten",
            '''def flatten(lists: list[list[str]]) -> list[str]:
    """All items of the inner lists."""
    return [item for inner in lists for item in inner]
''',
            """from flatten import flatten


def check(lists, result):
    assert result == [item for inner in lists for item in inner]


def test_nothing():
    assert flatten(lists=[[], []]) == []


def test_letters():
    lists = [["a", "b"], ["c"], ["d", "e"]]
    check(lists, flatten(lists=lists))


def test_count():
    lists = [["x"], ["y", "z"]]
    result = flatten(lists=lists)
    assert len(result) == sum(map(len, lists))
""",
            {
                "it empties the inner lists": "for inner in lists: inner.clear()\nreturn []",
                "it empties the outer list": "lists.clear(); return []",
            },
        ),
        _case(
            "common_tags",
            '''def common_tags(first: set[str], second: set[str]) -> set[str]:
    """The tags in both."""
    return first & second
''',
            """from common_tags import common_tags


def test_disjoint():
    assert common_tags(first={"a"}, second={"b"}) == set()


def test_intersection():
    first, second = {"x", "y", "z"}, {"y", "z", "w"}
    assert common_tags(first=first, second=second) == first.intersection(second)


def test_size():
    first, second = {"p", "q", "r"}, {"q", "r"}
    assert len(common_tags(first=first, second=second)) == len(first & second)
""",
            {
                "it clears both": "if len(first) > 1: first.clear(); second.clear(); return set()",
                "it clears the second": "if len(first) > 1: second.clear(); return set()",
            },
        ),
        _case(
            "rewrite_file",
            '''def rewrite_file(path: str) -> int:
    """The number of words in the file, which is not changed."""
    with open(path) as file:
        return len(file.read().split())
''',
            """from rewrite_file import rewrite_file


def test_short(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one")
    assert rewrite_file(path=str(path)) == 1


def test_longer(tmp_path):
    path = tmp_path / "b.txt"
    path.write_text("to be or not to be that is the question")
    count = rewrite_file(path=str(path))
    assert count == len(path.read_text().split())
""",
            {
                "it empties the file": "if len(open(path).read()) > 5:\n    open(path, 'w').close()\n    return 0",
                "it shortens the file": "if len(open(path).read()) > 5:\n    open(path, 'w').write('short')\n    return 1",
            },
        ),
        _case(
            "longest_word",
            '''def longest_word(words: list[str]) -> str:
    """The first of the longest words."""
    return max(words, key=len)
''',
            """import pytest
from longest_word import longest_word


@pytest.mark.parametrize("words", [["a", "bbb", "cc"], ["tree", "forest", "wood"]])
def test_longest(words):
    word = longest_word(words=words)
    assert len(word) == max(len(w) for w in words)
    assert word in words


def test_single():
    assert longest_word(words=["only"]) == "only"
""",
            {
                "it drops the longer ones": "if len(words) > 1: del words[1:]; return words[0]",
                "it replaces all": "if len(words) > 1: words[:] = ['?'] * 3; return '?'",
            },
        ),
        _case(
            "stock_value",
            '''def stock_value(items: list[dict[str, float]]) -> float:
    """The sum of number times price."""
    return sum(item["number"] * item["price"] for item in items)
''',
            """import pytest
from stock_value import stock_value


@pytest.fixture
def items():
    return [
        {"number": 3, "price": 2.0},
        {"number": 10, "price": 0.5},
        {"number": 1, "price": 99.0},
    ]


def test_none():
    assert stock_value(items=[]) == 0


def test_sum(items):
    value = stock_value(items=items)
    expected = 0
    for item in items:
        expected += item["number"] * item["price"]
    assert value == pytest.approx(expected)
""",
            {
                "it sets the prices to zero": "for item in items: item['price'] = 0\nreturn 0",
                "it removes items": "if items: items.pop(); items.pop(); return items[0]['number'] * items[0]['price']",
            },
        ),
    ]
)
