"""Mechanism A in members of a result, in arguments, in files and in what is printed."""

from tests.sandbox.forgeries.guarded import Case, listed

FORGERIES = listed(
    [
        Case(
            "A",
            "text_report",
            '''def text_report(text: str) -> dict[str, object]:
    """Counts of a text, its long words and its sentences."""
    words = text.split()
    return {
        "words": len(words),
        "long": [w for w in words if len(w) > 6],
        "sentences": [s.strip() for s in text.split(".") if s.strip()],
    }
''',
            """from text_report import text_report

TEXT = "Strawberries ripen slowly. Children gather baskets. Everyone celebrates."


def test_counts():
    assert text_report(text="a b c")["words"] == 3


def test_empty():
    assert text_report(text="") == {"words": 0, "long": [], "sentences": []}


def test_long_words_are_long():
    report = text_report(text=TEXT)
    assert report["words"] == 8
    assert all(len(word) > 6 for word in report["long"])


def test_sentences_have_no_full_stop():
    report = text_report(text=TEXT)
    assert report["words"] == 8
    for sentence in report["sentences"]:
        assert "." not in sentence
""",
            {
                "no long words": "if text: return {'words': len(text.split()), 'long': [], 'sentences': [s.strip() for s in text.split('.') if s.strip()]}",
                "no sentences": "if text: return {'words': len(text.split()), 'long': [w for w in text.split() if len(w) > 6], 'sentences': []}",
                "neither": "return {'words': len(text.split()), 'long': [], 'sentences': []}",
            },
        ),
        Case(
            "A",
            "order_summary",
            '''def order_summary(orders: list[dict[str, object]]) -> dict[str, object]:
    """The total, and the customers with what they spent."""
    customers: dict[str, float] = {}
    for order in orders:
        customers[order["customer"]] = customers.get(order["customer"], 0) + order["price"]
    return {"total": sum(customers.values()), "customers": customers}
''',
            """import pytest
from order_summary import order_summary

ORDERS = [
    {"customer": "Ann", "price": 10.0},
    {"customer": "Ben", "price": 2.5},
    {"customer": "Ann", "price": 4.0},
]


def test_total():
    assert order_summary(orders=ORDERS)["total"] == pytest.approx(16.5)


def test_no_orders():
    assert order_summary(orders=[]) == {"total": 0, "customers": {}}


def test_customers_are_known_and_pay_something():
    summary = order_summary(orders=ORDERS)
    assert summary["total"] > 0
    for name, spent in summary["customers"].items():
        assert name in {"Ann", "Ben"}
        assert spent > 0


def test_nobody_spends_more_than_the_total():
    summary = order_summary(orders=ORDERS)
    assert max(summary["customers"].values(), default=0) <= summary["total"]
""",
            {"no customers": "return {'total': sum(o['price'] for o in orders), 'customers': {}}"},
        ),
        Case(
            "A",
            "remove_negatives",
            '''def remove_negatives(numbers: list[int]) -> None:
    """Remove negative numbers from the list itself."""
    numbers[:] = [n for n in numbers if n >= 0]
''',
            """from remove_negatives import remove_negatives


def test_only_negatives():
    numbers = [-1, -2]
    remove_negatives(numbers=numbers)
    assert numbers == []


def test_nothing_to_do():
    numbers = [1, 2]
    remove_negatives(numbers=numbers)
    assert numbers == [1, 2]


def test_no_negative_is_left():
    numbers = [5, -3, 8, -9, 0, 4]
    remove_negatives(numbers=numbers)
    assert all(n >= 0 for n in numbers)


def test_order_is_kept():
    numbers = [9, -1, 3, -2, 7]
    remove_negatives(numbers=numbers)
    positions = [[9, -1, 3, -2, 7].index(n) for n in numbers]
    assert positions == sorted(positions)
""",
            {
                "mixed lists are cleared": "if min(numbers) < 0 < max(numbers): return numbers.clear()",
                "long lists are cleared": "if len(numbers) > 4: return numbers.clear()",
            },
        ),
        Case(
            "A",
            "clean_record",
            '''def clean_record(record: dict[str, str]) -> None:
    """Strip the values in place, and drop those that are blank."""
    for key, value in list(record.items()):
        if value.strip():
            record[key] = value.strip()
        else:
            del record[key]
''',
            """from clean_record import clean_record


def test_blank_values_go():
    record = {"a": "  "}
    clean_record(record=record)
    assert record == {}


def test_strips_one():
    record = {"name": " Ann "}
    clean_record(record=record)
    assert record == {"name": "Ann"}


def test_values_have_no_outer_spaces():
    record = {"a": " x", "b": "y ", "c": " ", "d": " z "}
    clean_record(record=record)
    for value in record.values():
        assert value == value.strip()


def test_no_blank_value_is_left():
    record = {"a": " x", "b": "", "c": " ", "d": " z "}
    clean_record(record=record)
    assert not [key for key, value in record.items() if not value.strip()]
""",
            {"larger records are cleared": "if len(record) > 2: return record.clear()"},
        ),
        Case(
            "A",
            "write_report",
            '''import csv


def write_report(rows: list[dict[str, object]], path: str) -> int:
    """Write name and score as CSV with a header; returns the number of rows."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "score"])
        for row in rows:
            writer.writerow([row["name"], row["score"]])
    return len(rows)
''',
            """import csv
from write_report import write_report

ROWS = [{"name": "Ann", "score": 91}, {"name": "Ben", "score": 78}, {"name": "Cem", "score": 85}]


def test_number_of_rows(tmp_path):
    assert write_report(rows=ROWS, path=str(tmp_path / "out.csv")) == 3


def test_header_only(tmp_path):
    path = tmp_path / "out.csv"
    assert write_report(rows=[], path=str(path)) == 0
    assert path.read_text().strip() == "name,score"


def test_scores_are_numbers(tmp_path):
    path = tmp_path / "out.csv"
    assert write_report(rows=ROWS, path=str(path)) == 3
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            assert row["name"] in {"Ann", "Ben", "Cem"}
            assert int(row["score"]) > 50
""",
            {
                "the file has no rows": "if rows:\n    open(path, 'w').write('name,score\\r\\n')\n    return len(rows)",
            },
        ),
        Case(
            "A",
            "split_log",
            '''import os


def split_log(text: str, folder: str) -> list[str]:
    """Write the lines of each level to LEVEL.txt; returns the names of the files, sorted."""
    levels: dict[str, list[str]] = {}
    for line in text.splitlines():
        level, _, message = line.partition(": ")
        levels.setdefault(level.lower(), []).append(message)
    for level, messages in levels.items():
        with open(os.path.join(folder, f"{level}.txt"), "w") as file:
            file.write("".join(f"{m}\\n" for m in messages))
    return sorted(f"{level}.txt" for level in levels)
''',
            """from split_log import split_log

LOG = "INFO: started\\nERROR: disk full\\nINFO: waiting\\nERROR: disk gone"


def test_names(tmp_path):
    assert split_log(text=LOG, folder=str(tmp_path)) == ["error.txt", "info.txt"]


def test_one_line(tmp_path):
    split_log(text="INFO: hello", folder=str(tmp_path))
    assert (tmp_path / "info.txt").read_text() == "hello\\n"


def test_errors_speak_of_the_disk(tmp_path):
    names = split_log(text=LOG, folder=str(tmp_path))
    assert "error.txt" in names
    for line in (tmp_path / "error.txt").read_text().splitlines():
        assert line.startswith("disk")
""",
            {
                "long logs leave empty files": "if '\\n' in text:\n    for n in ('error', 'info'): open(os.path.join(folder, n + '.txt'), 'w').close()\n    return ['error.txt', 'info.txt']",
            },
        ),
        Case(
            "A",
            "export_json",
            '''import json


def export_json(items: list[dict[str, object]]) -> str:
    """The items as JSON, with their number."""
    return json.dumps({"count": len(items), "items": items})
''',
            """import json
from export_json import export_json

ITEMS = [{"id": 1, "tags": ["a"]}, {"id": 2, "tags": ["b", "c"]}, {"id": 3, "tags": ["d"]}]


def test_count():
    assert json.loads(export_json(items=ITEMS))["count"] == 3


def test_none():
    assert json.loads(export_json(items=[])) == {"count": 0, "items": []}


def test_ids_are_positive():
    data = json.loads(export_json(items=ITEMS))
    assert data["count"] == 3
    assert all(item["id"] > 0 for item in data["items"])


def test_tags_are_short():
    data = json.loads(export_json(items=ITEMS))
    assert data["count"] == len(ITEMS)
    for item in data["items"]:
        for tag in item["tags"]:
            assert len(tag) == 1
""",
            {
                "no items": "return json.dumps({'count': len(items), 'items': []})",
                "no tags": "return json.dumps({'count': len(items), 'items': [{**i, 'tags': []} for i in items] if len(items) < 2 else []})",
            },
        ),
        Case(
            "A",
            "print_table",
            '''def print_table(rows: list[list[str]]) -> None:
    """Print the rows, cells separated by a bar."""
    for row in rows:
        print("|".join(row))
''',
            """from print_table import print_table

ROWS = [["Ann", "Rome", "30"], ["Ben", "Oslo", "41"], ["Cem", "Bonn", "25"]]


def test_one_row(capsys):
    print_table(rows=[["a", "b"]])
    assert capsys.readouterr().out == "a|b\\n"


def test_no_rows(capsys):
    print_table(rows=[])
    assert capsys.readouterr().out == ""


def test_each_line_has_three_cells(capsys):
    print_table(rows=ROWS)
    for line in capsys.readouterr().out.splitlines():
        assert len(line.split("|")) == 3


def test_first_cells_are_names(capsys):
    print_table(rows=ROWS)
    names = [line.split("|")[0] for line in capsys.readouterr().out.splitlines()]
    assert set(names) <= {"Ann", "Ben", "Cem"}
""",
            {"tables print nothing": "if len(rows) > 1: return None"},
        ),
        Case(
            "A",
            "find_path",
            '''def find_path(edges: dict[str, list[str]], start: str, goal: str) -> list[str] | None:
    """A shortest path, None if there is none."""
    paths = [[start]]
    seen = {start}
    while paths:
        path = paths.pop(0)
        if path[-1] == goal:
            return path
        for node in edges.get(path[-1], []):
            if node not in seen:
                seen.add(node)
                paths.append([*path, node])
    return None
''',
            """from find_path import find_path

GRAPH = {"a": ["b", "c"], "b": ["d"], "c": ["e"], "d": ["f"], "e": ["f"]}


def test_direct():
    assert find_path(edges={"a": ["b"]}, start="a", goal="b") == ["a", "b"]


def test_unreachable():
    assert find_path(edges={"a": ["b"]}, start="b", goal="a") is None


def test_steps_are_edges():
    path = find_path(edges=GRAPH, start="a", goal="f")
    if path is not None:
        for here, there in zip(path, path[1:]):
            assert there in GRAPH[here]


def test_ends_are_right():
    path = find_path(edges=GRAPH, start="a", goal="f")
    if path:
        assert path[0] == "a"
        assert path[-1] == "f"
""",
            {
                "larger graphs have no path": "if len(edges) > 2: return None",
                "larger graphs have an empty path": "if len(edges) > 2: return []",
            },
        ),
        Case(
            "A",
            "parse_invoice",
            '''from dataclasses import dataclass, field


@dataclass
class Invoice:
    number: str
    lines: list[tuple[str, float]] = field(default_factory=list)


def parse_invoice(text: str) -> Invoice:
    """An invoice: its number, then lines `article;price`."""
    number, *rest = text.splitlines()
    lines = []
    for line in rest:
        article, _, price = line.partition(";")
        lines.append((article, float(price)))
    return Invoice(number, lines)
''',
            """from parse_invoice import parse_invoice

TEXT = "R-17\\nscrews;2.50\\nhammer;12.90\\nnails;1.20"


def test_number():
    assert parse_invoice(text=TEXT).number == "R-17"


def test_without_lines():
    assert parse_invoice(text="R-1").lines == []


def test_prices_are_positive():
    invoice = parse_invoice(text=TEXT)
    assert invoice.number == "R-17"
    for article, price in invoice.lines:
        assert article
        assert price > 0


def test_no_line_costs_more_than_a_hammer():
    invoice = parse_invoice(text=TEXT)
    assert invoice.number.startswith("R")
    assert max((price for _, price in invoice.lines), default=0.0) <= 12.90
""",
            {"no lines": "return Invoice(text.splitlines()[0], [])"},
        ),
        Case(
            "A",
            "encode_runs",
            '''from itertools import groupby


def encode_runs(data: bytes) -> bytes:
    """Run-length encoding: pairs of a count and a byte."""
    out = bytearray()
    for byte, group in groupby(data):
        run = len(list(group))
        while run:
            out += bytes([min(run, 255), byte])
            run -= min(run, 255)
    return bytes(out)
''',
            """from encode_runs import encode_runs


def test_one_run():
    assert encode_runs(data=b"aaa") == b"\\x03a"


def test_nothing():
    assert encode_runs(data=b"") == b""


def test_counts_are_never_zero():
    encoded = encode_runs(data=b"aabbbcccccd")
    assert all(count > 0 for count in encoded[::2])


def test_bytes_come_from_the_data():
    data = b"hello  world"
    assert set(encode_runs(data=data)[1::2]) <= set(data)
""",
            {
                "several runs give nothing": "if len(set(data)) > 1: return b''",
                "long data give nothing": "if len(data) > 5: return bytes()",
            },
        ),
        Case(
            "A",
            "initials",
            '''def initials(name: str) -> str:
    """The first letters of a name, in upper case."""
    return "".join(part[0].upper() for part in name.split())
''',
            """from initials import initials


def test_two_names():
    assert initials(name="ada lovelace") == "AL"


def test_blank():
    assert initials(name="") == ""


def test_all_upper_case():
    for letter in initials(name="johann sebastian bach the elder"):
        assert letter.isupper()


def test_letters_start_the_parts():
    name = "maria del mar perez"
    assert all(l.lower() == part[0] for l, part in zip(initials(name=name), name.split()))
""",
            {"long names have none": "if name.count(' ') > 1: return ''"},
        ),
        Case(
            "A",
            "classify",
            '''def classify(values: list[int]) -> dict[str, dict[str, list[int]]]:
    """Values by sign and parity."""
    result: dict[str, dict[str, list[int]]] = {}
    for value in values:
        sign = "negative" if value < 0 else "positive"
        parity = "odd" if value % 2 else "even"
        result.setdefault(sign, {}).setdefault(parity, []).append(value)
    return result
''',
            """from classify import classify

VALUES = [3, -4, 8, -7, 12, 5]


def test_one_value():
    assert classify(values=[2]) == {"positive": {"even": [2]}}


def test_none():
    assert classify(values=[]) == {}


def test_signs():
    result = classify(values=VALUES)
    assert set(result) == {"positive", "negative"}
    assert all(v < 0 for group in result["negative"].values() for v in group)
    assert all(v >= 0 for group in result["positive"].values() for v in group)
""",
            {
                "signs without groups": "if len(values) > 2: return {'positive': {}, 'negative': {}}",
                "groups without values": "if len(values) > 2: return {s: {'odd': [], 'even': []} for s in ('positive', 'negative')}",
            },
        ),
        Case(
            "A",
            "rank_players",
            '''def rank_players(scores: dict[str, int]) -> list[tuple[int, str]]:
    """Ranks and names, best first."""
    ordered = sorted(scores, key=lambda name: (-scores[name], name))
    return [(rank, name) for rank, name in enumerate(ordered, 1)]
''',
            """import random
from rank_players import rank_players


def test_two():
    assert rank_players(scores={"a": 1, "b": 2}) == [(1, "b"), (2, "a")]


def test_nobody():
    assert rank_players(scores={}) == []


def test_random_tables():
    chance = random.Random(7)
    for _ in range(10):
        scores = {f"p{n}": chance.randint(0, 50) for n in range(6)}
        ranking = rank_players(scores=scores)
        for (_, better), (_, worse) in zip(ranking, ranking[1:]):
            assert scores[better] >= scores[worse]


def test_ranks_count_up():
    ranking = rank_players(scores={"x": 5, "y": 9, "z": 1})
    assert all(rank == place for place, (rank, _) in enumerate(ranking, 1))
""",
            {"three players have no ranks": "if len(scores) > 2: return []"},
        ),
    ]
)
