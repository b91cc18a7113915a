"""Fits `src/registry/confidence.py`: `python -m benchmarks.retrieval_fit DATA`, where DATA holds retrieval/metatool.

Protocol of the data's README: a tool is absent if int(md5(seed + id), 16) % 1000 < 300, a query is negative when all its
gold tools are absent. Small libraries are drawn at random and asked 70 % questions that they can answer. The label is
whether the nearest tool is a right one. Half of the queries fit the numbers, the other half judges them.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from src.embedding.minilm import MiniLM
from src.registry.confidence import features
from src.registry.fusion import tool_vector

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

SIZES = (3, 5, 10, 20, 40, 80)
DRAWS = 60
ANSWERABLE = 0.7
RIDGE = 1e-4


def main(data: Path) -> None:
    tools, queries, examples = (_rows(data / "retrieval" / "metatool" / f"{n}.jsonl") for n in ("tools", "queries.dev", "example_requests"))
    embedder = MiniLM.below(Path("data"))
    requests = {row["id"]: row["examples"] for row in examples}
    matrix = np.stack([tool_vector(embedder, t["name"], t["description"], requests[t["id"]]) for t in tools])
    cosines = embedder.embed([q["query"] for q in queries]) @ matrix.T
    gold = np.array([[t["id"] in q["gold"] for t in tools] for q in queries])
    fit_half = np.array([int(hashlib.md5(q["query"].encode(), usedforsecurity=False).hexdigest(), 16) % 2 == 0 for q in queries])
    present = np.array([int(hashlib.md5(f"A{t['id']}".encode(), usedforsecurity=False).hexdigest(), 16) % 1000 >= 300 for t in tools])

    fit = list(_samples(cosines[fit_half], gold[fit_half], present))
    x, y = np.concatenate([s[1] for s in fit]), np.concatenate([s[2] for s in fit])
    weight = np.concatenate([np.full(len(s[2]), 1 / sum(len(o[2]) for o in fit if o[0] == s[0])) for s in fit])
    weights = _logistic(x, y, weight / weight.mean())
    _say(f"hit@1 with all tools: {gold[np.arange(len(gold)), cosines.argmax(axis=1)][gold.any(axis=1)].mean():.3f}")
    _say("weights (one, cosine, margin, ...): " + ", ".join(f"{w:.3f}" for w in weights))
    _report(list(_samples(cosines[~fit_half], gold[~fit_half], present)), weights)


def _samples(cosines: Floats, gold: Bools, present: Bools) -> Iterator[tuple[int, Floats, Bools]]:
    """Size of the library, features and label of each query's nearest tool."""
    yield int(present.sum()), *_judge(cosines[:, present], gold[:, present])
    random = np.random.default_rng(7)
    for size in SIZES:
        for _ in range(DRAWS):
            chosen = random.permutation(len(present))[:size]
            answerable = gold[:, chosen].any(axis=1)
            yes, no = np.flatnonzero(answerable), np.flatnonzero(~answerable)
            no = random.choice(no, min(len(no), round(len(yes) * (1 - ANSWERABLE) / ANSWERABLE)), replace=False)
            asked = np.concatenate([yes, no])
            if len(asked):
                yield size, *_judge(cosines[np.ix_(asked, chosen)], gold[np.ix_(asked, chosen)])


def _judge(cosines: Floats, gold: Bools) -> tuple[Floats, Bools]:
    ranked = -np.sort(-cosines, axis=1)[:, :8]
    best = cosines.argmax(axis=1)
    x = np.array([features([float(c) for c in row], 0, cosines.shape[1]) for row in ranked])
    return x, gold[np.arange(len(gold)), best]


def _logistic(x: Floats, y: Bools, sample: Floats) -> Floats:
    """Newton's method; `x` has a column of ones."""
    weights = np.zeros(x.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-x @ weights))
        curvature = (x * (sample * p * (1 - p))[:, None]).T @ x + RIDGE * np.eye(len(weights))
        weights += np.linalg.solve(curvature, x.T @ (sample * (y - p)) - RIDGE * weights)
    return weights


def _report(samples: list[tuple[int, Floats, Bools]], weights: Floats) -> None:
    _say("judged on the other queries; right = share of right answers among those with that confidence")
    figures = {}
    for size in sorted({s[0] for s in samples}):
        x, y = (np.concatenate([s[n] for s in samples if s[0] == size]) for n in (1, 2))
        p = 1 / (1 + np.exp(-x @ weights))
        parts = []
        for low in (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9):
            high = {0.6: 0.7, 0.7: 0.8, 0.8: 0.9, 0.9: 1.01}.get(low, low + 0.2)
            band = (p >= low) & (p < high)
            if band.any():
                parts.append(f"{low:.1f}: {y[band].mean():.2f} of {band.sum()}")
        above = p >= 0.75
        figures[size] = {"right_at_0.75": round(float(y[above].mean()), 3), "share_at_0.75": round(float(above.mean()), 3)}
        _say(
            f"{size:4} tools, nearest right {y.mean():.2f}, at 0.75 and above {y[above].mean():.2f} of {above.mean():.2f}; "
            + ", ".join(parts)
        )
    _say(json.dumps({"by_library_size": figures}))


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
