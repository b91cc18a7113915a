import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from benchmarks.calibrate import calibrate, calibration_lines
from benchmarks.fitting.calibration import Calibration, Figures, fit_library, reciprocal_ranks
from benchmarks.fitting.confidence_training import (
    balanced,
    calibration_error,
    fit_logistic,
    present,
    probabilities,
    search,
)
from benchmarks.fitting.data import read_sets
from benchmarks.fitting.judged import Bm25, Judged, leave_one_out
from benchmarks.fitting.map_training import TrainingPart, train
from selfeng.core.errors import ConfigurationError
from selfeng.library.confidence import Scale
from selfeng.library.ranking import current, shipped
from tests.embedding.hashing import HashingEmbedder
from tests.registry.conftest import Place
from tests.registry.drafts import COUNT, REVERSE, SHOUT, draft

DOCUMENTS = (
    "reverse a text",
    "turn text to upper case",
    "count letters of a word",
    "sorting words",
    "add two numbers",
)
QUERIES = ("reversing words", "count the upper letters", "unheard of")
EMBEDDER = HashingEmbedder(dimensions=64)


def test_bm25_is_that_of_the_full_text_index() -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE t USING fts5(words, tokenize='porter unicode61')")
    database.executemany("INSERT INTO t (rowid, words) VALUES (?, ?)", enumerate(DOCUMENTS))
    expected = np.zeros((len(QUERIES), len(DOCUMENTS)))
    for row, query in enumerate(QUERIES):
        words = " OR ".join(f'"{word}"' for word in query.split())
        for tool, score in database.execute(
            "SELECT rowid, -bm25(t) FROM t WHERE t MATCH ?", (words,)
        ):
            expected[row, tool] = score
    database.close()
    scores = Bm25(DOCUMENTS, QUERIES).scores(np.arange(len(QUERIES)), np.arange(len(DOCUMENTS)))
    np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_a_request_that_is_left_out_says_nothing_for_its_tool() -> None:
    judged = leave_one_out([(REVERSE, ()), (SHOUT, ("louder please",)), (COUNT, ())], EMBEDDER)
    asked = [*REVERSE.example_requests, *SHOUT.example_requests, "louder please"]
    assert judged.gold.argmax(axis=1).tolist() == [
        0,
        0,
        1,
        1,
        1,
    ]  # the one request of COUNT can't be left out
    np.testing.assert_array_equal(judged.requests, EMBEDDER.embed(asked))
    plain = judged.requests @ judged.tools.T
    assert (judged.cosines()[judged.gold] < plain[judged.gold]).all()
    np.testing.assert_array_equal(judged.cosines()[~judged.gold], plain[~judged.gold])
    assert judged.bm25[4, 1] == 0


def test_the_right_tool_is_missing_where_it_is_taken_away() -> None:
    judged = leave_one_out([(REVERSE, ()), (SHOUT, ())], EMBEDDER)
    rows, tools = np.arange(4), np.arange(2)
    found = search(judged, judged.cosines(), Scale(0.3, 20.0), rows, tools)
    assert found.present.all()
    assert found.right.any(axis=1).all()
    gone = search(judged, judged.cosines(), Scale(0.3, 20.0), rows, tools, without_gold=True)
    assert not gone.right.any()
    np.testing.assert_allclose(gone.weights.sum(), 1)


def test_the_right_tool_is_absent_in_three_of_ten_requests_of_every_size() -> None:
    judged = leave_one_out([(REVERSE, ()), (SHOUT, ()), (COUNT, ())], EMBEDDER)
    rows, tools = np.arange(4), np.arange(3)
    there = search(judged, judged.cosines(), Scale(0.3, 20.0), rows, tools)
    gone = search(judged, judged.cosines(), Scale(0.3, 20.0), rows[:1], tools, without_gold=True)
    weights = balanced([there, gone])
    np.testing.assert_allclose([w.sum() for w in weights], [0.7, 0.3])


def test_a_stated_probability_is_judged_by_the_share_that_is_right() -> None:
    stated, right = np.array([0.75] * 4 + [0.2] * 5), np.array([True] * 3 + [False] * 5 + [True])
    assert calibration_error(stated, right) == pytest.approx(0)
    assert calibration_error(stated, ~right) == pytest.approx((4 * 0.5 + 5 * 0.6) / 9)
    weight = np.array([1.0] * 4 + [0.0] * 5)
    assert calibration_error(stated, ~right, weight) == pytest.approx(0.5)


def test_a_map_learns_what_requests_mean_here() -> None:
    random = np.random.default_rng(0)
    tools = np.eye(8, dtype=np.float32)
    gold = np.eye(8, dtype=np.bool_)[np.arange(64) % 8]
    requests = 0.8 * gold + np.roll(gold, 1, axis=1) + random.normal(0, 0.1, (64, 8))
    requests = (requests / np.linalg.norm(requests, axis=1, keepdims=True)).astype(np.float32)
    judged = Judged(
        "shifted", tuple(map(str, range(8))), requests, tools, gold, Bm25([""] * 8, [""] * 64)
    )
    seen, unseen = np.arange(32), np.arange(32, 64)
    fitted = train([TrainingPart(judged, seen)], bm25_weight=0.0, strength=0.001)
    assert reciprocal_ranks(judged, None, 0.0, unseen).mean() < 0.7
    assert reciprocal_ranks(judged, fitted, 0.0, unseen).mean() > 0.9


def test_logistic_regression_stays_with_its_prior_until_there_is_reason() -> None:
    x = np.stack([np.ones(200), np.tile([0.0, 1.0], 100)], axis=1)
    right = np.tile([False, True], 100)
    right[::10] = True
    prior = np.zeros(2)
    free = fit_logistic(x, right, np.ones(200), prior, strength=0.1)
    held = fit_logistic(x, right, np.ones(200), prior, strength=1e6)
    np.testing.assert_allclose(probabilities(x[:1], free), [0.2], atol=0.01)
    np.testing.assert_allclose(held, prior, atol=0.01)
    assert (
        calibration_error(probabilities(x, free), right)
        < 0.01
        < calibration_error(np.full(200, 0.9), right)
    )


def test_a_small_library_changes_nothing(tmp_path: Path) -> None:
    assert (
        fit_library(
            [(REVERSE, ()), (SHOUT, ())],
            EMBEDDER,
            tmp_path / "ranking",
            None,
            lambda what, done, of: None,
        )
        is None
    )
    assert not (tmp_path / "ranking").exists()


def test_a_library_is_learnt_from_and_what_is_better_is_kept(tmp_path: Path) -> None:
    """Tools that nothing tells apart but the words of their requests: what ships is far too sure of
    them.
    """
    words = [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
    ]
    asked = ("do {} now", "please {} it", "{} this for me", "can you {} that")
    tools = [
        (
            draft(f"tool_{w}", "A tool.", tuple(form.format(w) for form in asked[:3])),
            (asked[3].format(w),),
        )
        for w in words
    ]
    heard = []
    found = fit_library(
        tools, EMBEDDER, tmp_path, None, lambda what, done, of: heard.append((what, done, of))
    )
    assert found is not None
    assert (found.tools, found.requests, found.reciprocal_rank) == (12, 48, None)
    assert heard[-1] == ("embedding", 12, 12)
    assert found.changed
    assert found.log_loss.after < found.log_loss.before
    kept = current(EMBEDDER.id, tmp_path)
    np.testing.assert_allclose(kept.weights, found.parameters.weights, rtol=1e-5)
    assert kept.weights != shipped(EMBEDDER.id).weights


def test_data_sets_are_read_with_what_they_have(tmp_path: Path) -> None:
    folder = tmp_path / "retrieval" / "mine"
    folder.mkdir(parents=True)
    rows = [
        {"id": "a#1", "name": "math.add", "description": "Add.", "params": "x: one; y: other"},
        {"id": "a#2", "name": "math.add", "description": "Add more.", "params": '{"x": "one"}'},
    ]
    (folder / "tools.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "queries.heldout.jsonl").write_text(
        '{"query": "1 + 1", "gold": ["a#2"], "kind": "single"}\n{"query": "sing", "gold": []}\n'
    )
    (read,) = read_sets(tmp_path)
    assert [(t.name, [p.name for p in t.signature.parameters]) for t in read.tools] == [
        ("math_add", ["x", "y"]),
        ("math_add_2", ["x"]),
    ]
    assert [(q.request, set(q.gold)) for q in read.queries] == [
        ("1 + 1", {"math_add_2"}),
        ("sing", set()),
    ]
    with pytest.raises(ConfigurationError, match="no such set: other"):
        read_sets(tmp_path, ["other"])
    with pytest.raises(ConfigurationError, match="holds no retrieval sets"):
        read_sets(folder)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"query": "1 + 1"}', "gold: Field required"),
        (b'{"query": "1 + 1", "gold": "a"}', "gold: Input should be a valid array"),
        (b"[1, 2]", "Input should be an object"),
        (b'{"query": "caf\xe9", "gold": []}', "Invalid JSON: invalid unicode code point"),
    ],
)
def test_a_line_that_is_no_query_is_named(tmp_path: Path, line: bytes, problem: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "tools.jsonl").write_text(
        '{"id": "a", "name": "add", "description": "Add.", "params": "{x: one}"}\n'
    )
    (tmp_path / "mine" / "queries.jsonl").write_bytes(b'{"query": "1 + 1", "gold": ["a"]}\n' + line)
    with pytest.raises(ConfigurationError, match=f"queries.jsonl, line 2: {problem}"):
        read_sets(tmp_path)


def test_absent_tools_are_those_of_the_protocol() -> None:
    assert present([f"tool{n}" for n in range(1000)], "A").mean() == pytest.approx(0.7, abs=0.05)
    assert present(["x"], "A").tolist() == present(["x"], "A").tolist()


async def test_a_library_calibrates_itself_by_the_requests_of_the_tools_that_it_offers(
    place: Place,
) -> None:
    async with place.open(EMBEDDER) as library:
        for number in range(8):
            await library.add(
                draft(
                    f"tool_{number}",
                    "A tool.",
                    (f"do {number} now", f"please {number} it", f"{number} for me"),
                )
            )
        await library.record_request("tool_0", 1, "zero please")
        await library.add(
            draft("retired_tool", "A tool.", ("do nothing", "please nothing", "nothing for me"))
        )
        await library.retire("retired_tool")
        found = await calibrate(library, EMBEDDER, place.root / "ranking")
    assert found is not None
    assert (found.tools, found.requests) == (8, 25)


def test_a_calibration_is_told_in_figures() -> None:
    assert list(calibration_lines(None)) == [
        "Fewer than 20 requests to learn from: nothing was changed."
    ]
    better, worse = Figures(0.4, 0.3, adopted=True), Figures(0.1, 0.2, adopted=False)
    told = calibration_lines(
        Calibration(
            shipped(""), 60, 1500, reciprocal_rank=worse, log_loss=better, calibration_error=better
        )
    )
    assert list(told) == [
        "Learnt from 1,500 requests and 60 tools; the figures are for requests that the fit had "
        "not seen.",
        "Request map: mean reciprocal rank of the right tool 0.100 before, 0.200 after: left as "
        "it was.",
        "Confidence: log loss 0.400 before, 0.300 after: adopted.",
        "Confidence: calibration error 0.400 before, 0.300 after: adopted.",
        "It is used from the next start; `--reset` undoes it.",
    ]
