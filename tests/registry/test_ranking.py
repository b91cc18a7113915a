import logging
from pathlib import Path

import numpy as np
import pytest

from benchmarks.fitting.calibration import write
from benchmarks.fitting.map_training import low_rank
from selfeng.library.confidence import Scale, confidences
from selfeng.library.ranking import (
    SHIPPED,
    Evidence,
    Parameters,
    ParametersInvalid,
    Ranking,
    RequestMap,
    current,
    read,
    shipped,
)
from selfeng.models.embedding.model_files import MODEL_ID
from tests.embedding.hashing import HashingEmbedder

WEIGHTS = shipped("").weights


def sure(*evidence: float, tools: int = 20) -> list[float]:
    return confidences(np.array(evidence), tools, WEIGHTS).tolist()


def test_confidence_grows_with_evidence_and_lead_and_falls_with_the_number_of_tools() -> None:
    (base, second) = sure(8.0, 4.0)
    assert 0 < second < base < 1
    assert sure(12.0, 8.0)[0] > base
    assert sure(8.0, 0.0)[0] > base
    assert sure(8.0, 4.0, tools=2000)[0] < base
    assert sure(8.0, tools=1)[0] > base


def test_several_rivals_leave_less_confidence_than_one() -> None:
    (one, *_), (several, *_) = sure(8.0, 6.0), sure(8.0, 6.0, 6.0, 6.0)
    assert several < one
    assert sure(8.0, 6.0, *[-12.0] * 40)[0] == pytest.approx(one, abs=0.01)


def test_words_in_common_count_beside_the_cosine() -> None:
    ranking = Ranking(Parameters("", WEIGHTS, Scale(middle=0.35, steepness=38.7)))
    near, worded, far = (
        Evidence("near", 0.50, 0.0),
        Evidence("worded", 0.45, 8.0),
        Evidence("far", 0.1, 0.0),
    )
    ranked = ranking.rank([far, near, worded], 3)
    assert [(r.name, r.cosine) for r in ranked] == [("worded", 0.45), ("near", 0.50), ("far", 0.1)]
    assert [r.confidence for r in ranked] == sorted((r.confidence for r in ranked), reverse=True)
    assert ranking.rank([], 3) == []


def test_what_ships_is_small_and_made_for_our_embedder() -> None:
    parameters = shipped(MODEL_ID)
    assert parameters.embedder == MODEL_ID
    assert parameters.map is not None
    assert parameters.scale is not None
    assert sum(file.stat().st_size for file in SHIPPED.iterdir()) < 120_000
    request = np.eye(384, dtype=np.float32)[0]
    assert np.linalg.norm(Ranking(parameters).request(request)) == pytest.approx(1, abs=1e-5)


def test_an_embedder_for_which_nothing_ships_is_measured_by_the_seeds() -> None:
    embedder = HashingEmbedder(dimensions=512)
    ranking = Ranking.for_embedder(embedder.id)
    ranking.prepare(embedder)
    scale = ranking.parameters.scale
    assert scale is not None
    assert 0 < scale.middle < 1
    assert scale.evidence(0.9) > 0 > scale.evidence(0.0)
    request = embedder.embed(["anything"])[0]
    np.testing.assert_array_equal(ranking.request(request), request)


def test_parameters_come_back_as_they_were_written(tmp_path: Path) -> None:
    fitted = Parameters(
        "a:1",
        (0.5, 1.0, 2.0, -3.0),
        Scale(0.25, 16.0),
        RequestMap(np.ones((4, 2), np.float32), np.ones((2, 4), np.float32)),
    )
    path = write(fitted, tmp_path / "ranking")
    found = current("a:1", tmp_path / "ranking")
    assert (found.weights, found.scale) == (fitted.weights, fitted.scale)
    assert found.map is not None
    np.testing.assert_array_equal(found.map.left, np.ones((4, 2)))
    with pytest.raises(ParametersInvalid, match="belongs to the embedder 'a:1', not to 'b:1'"):
        read(path, "b:1")
    assert current("a:1", tmp_path) == shipped("")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"text"])
def test_a_damaged_file_is_named_and_what_ships_is_used(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a-1.npz").write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert current("a:1", tmp_path) == shipped("")
    assert "a-1.npz can't be read" in caplog.text


@pytest.mark.parametrize(
    ("weights", "scale", "problem"),
    [
        ((1.0,), None, "it has 1 weights of the confidence, not 4"),
        ((1.0, float("nan"), 0.0, 0.0), None, "numbers that are not finite"),
        ((1.0, 1.0, 0.0, 0.0), Scale(0.0, -1.0), "steepness is -1.0, not positive"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(
    tmp_path: Path, weights: tuple[float, ...], scale: Scale | None, problem: str
) -> None:
    with pytest.raises(ParametersInvalid, match=problem):
        read(write(Parameters("a", weights, scale), tmp_path), "a")


def test_a_map_of_low_rank_is_as_near_as_one_can_be() -> None:
    change = np.outer([1, 2, 0], [0, 1, 1]).astype(np.float32)
    made = low_rank(change, 1)
    np.testing.assert_allclose(made.left @ made.right, change, atol=1e-6)
    assert made.problem() is None
    assert RequestMap(np.ones((3, 2), np.float32), np.ones((3, 2), np.float32)).problem() == (
        "the request map's factors have the shapes (3, 2) and (3, 2)"
    )
