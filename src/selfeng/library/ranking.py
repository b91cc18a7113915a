"""Ranks the tools that a search has found by meaning and words together, each with a calibrated
confidence.

The fitted parameters are the request map, the embedder's scale and the weights of the confidence,
in one small file. They ship in `fitted/`: one file per embedder, and `default.npz` for all others.
The folder `ranking` of DATA_DIR may have others for its library, which `benchmarks/calibrate.py`
writes. The arrays are numpy's, read without pickle.
"""

import io
import logging
import re
import threading
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from selfeng.core.protocols import Embedder
from selfeng.library.confidence import BM25_EVIDENCE, FEATURES, Scale, confidences, measure
from selfeng.library.fusion import Vector, unit

Matrix = npt.NDArray[np.float32]

_log = logging.getLogger(__name__)
SHIPPED = Path(__file__).with_name("fitted")
_DEFAULT = "default"
FOLDER = "ranking"
"""Name of the folder below DATA_DIR that holds the parameters fitted to this library."""
_UNKNOWN = -3.0
"""Evidence, in natural log-odds, if the cosine is unknown: the most likely value for tools found by
words alone, on the labelled requests in `tests/registry/requests.jsonl`. With it, no wrong tool
reaches 0.75 there and no right one falls below 0.05.
"""


class ParametersInvalid(ValueError):
    """The file holds no valid parameters, or those of another embedder."""


class RequestMap(NamedTuple):
    """A linear map that moves the vectors of requests towards those of tools: request ->
    unit(request + request · left · right).

    An embedder captures what sentences mean; the map learns what matters in a search for tools:
    verbs do, "I" and "please" don't. It is applied to requests only, so stored vectors never
    change.
    """

    left: Matrix
    """Shape (dimensions, rank)."""
    right: Matrix
    """Shape (rank, dimensions)."""

    def __call__(self, requests: Vector) -> Vector:
        """Map the vector of one request, or a matrix with one request per row."""
        return unit(np.asarray(requests + requests @ self.left @ self.right, dtype=np.float32))

    def problem(self) -> str | None:
        """Why the factors don't form a map; None if they do."""
        shapes = self.left.shape, self.right.shape
        fits = self.left.ndim == self.right.ndim == 2 and shapes[0] == shapes[1][::-1]
        return (
            None
            if fits
            else f"the request map's factors have the shapes {shapes[0]} and {shapes[1]}"
        )


@dataclass(frozen=True)
class Parameters:
    """Everything that ranking and confidence depend on."""

    embedder: str
    """Id of the embedder; "" for any."""
    weights: tuple[float, ...]
    """The weights of the confidence, see `src/selfeng/library/confidence.py`."""
    scale: Scale | None = None
    """None: not measured yet, see `src/selfeng/library/confidence.py`."""
    map: RequestMap | None = None
    """None: requests stay as they are."""


def shipped(embedder: str) -> Parameters:
    """The shipped parameters of the embedder, or else the default ones. Raises: ParametersInvalid
    (the installation is damaged).
    """
    path = parameters_file(SHIPPED, embedder)
    return read(path, embedder) if path.exists() else read(SHIPPED / f"{_DEFAULT}.npz", "")


def current(embedder: str, folder: Path | None) -> Parameters:
    """The parameters fitted to this library, if `folder` has them and they can be read, else the
    shipped ones.
    """
    if folder is not None and (path := parameters_file(folder, embedder)).exists():
        try:
            return read(path, embedder)
        except ParametersInvalid as error:
            _log.warning(
                "%s; using the shipped parameters; delete the file, or make it again", error
            )
    return shipped(embedder)


def read(path: Path, embedder: str) -> Parameters:
    """Raises: ParametersInvalid, which names the file and what is wrong."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            arrays_by_name = {name: arrays[name] for name in arrays.files}
        parameters = Parameters(
            embedder=str(arrays_by_name["embedder"]),
            weights=tuple(float(w) for w in arrays_by_name["weights"]),
            scale=Scale(*map(float, arrays_by_name["scale"]))
            if "scale" in arrays_by_name
            else None,
            map=RequestMap(
                arrays_by_name["left"].astype(np.float32),
                arrays_by_name["right"].astype(np.float32),
            )
            if "left" in arrays_by_name
            else None,
        )
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ParametersInvalid(f"{path} can't be read: {error!r}") from error
    if problem := _problem(parameters, embedder):
        raise ParametersInvalid(f"{path} can't be used: {problem}")
    return parameters


def parameters_file(folder: Path, embedder: str) -> Path:
    return folder / f"{re.sub('[^a-z0-9]+', '-', embedder.lower()).strip('-') or _DEFAULT}.npz"


def _problem(parameters: Parameters, embedder: str) -> str:
    if parameters.embedder != embedder:
        return f"it belongs to the embedder {parameters.embedder!r}, not to {embedder!r}"
    if len(parameters.weights) != FEATURES:
        return f"it has {len(parameters.weights)} weights of the confidence, not {FEATURES}"
    numbers = [
        np.array(parameters.weights),
        np.array(parameters.scale or ()),
        *(parameters.map or ()),
    ]
    if not all(np.isfinite(n).all() for n in numbers):
        return "it holds numbers that are not finite"
    if parameters.scale is not None and parameters.scale.steepness <= 0:
        return f"the scale's steepness is {parameters.scale.steepness}, not positive"
    return (parameters.map.problem() or "") if parameters.map else ""


class Evidence(NamedTuple):
    """The evidence for a tool."""

    name: str
    cosine: float | None
    """Between the mapped request and the tool, -1..1; None where one of them has no vector yet."""
    bm25: float
    """BM25; 0 if request and tool share no word."""


class Ranked(NamedTuple):
    name: str
    cosine: float
    confidence: float
    """0..1."""


class Ranking:
    """Ranks with the vectors of one embedder. Thread-safe."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._lock = threading.Lock()

    @classmethod
    def for_embedder(cls, embedder: str, folder: Path | None = None) -> "Ranking":
        """For the embedder with that id; `folder` may have parameters fitted to this library."""
        return cls(current(embedder, folder))

    def prepare(self, embedder: Embedder) -> None:
        """Measure the scale of an embedder without shipped parameters, once. Blocking. Raises what
        the embedder raises.
        """
        with self._lock:
            if self.parameters.scale is None:
                self.parameters = replace(self.parameters, scale=measure(embedder))

    def request(self, vector: Vector) -> Vector:
        """Map the vector of a request to the one that tools are compared with."""
        return self.parameters.map(vector) if self.parameters.map else vector

    def rank(self, evidence: Sequence[Evidence], tools: int) -> list[Ranked]:
        """Rank the tools, best first; `tools` is the number searched. Call `prepare` first if there
        are cosines.
        """
        strengths = np.array(
            [self._meaning(e) + BM25_EVIDENCE * e.bm25 for e in evidence], dtype=np.float64
        )
        if not len(strengths):
            return []
        likely = confidences(strengths, tools, self.parameters.weights)
        order = sorted(range(len(evidence)), key=lambda i: (-strengths[i], evidence[i].name))
        return [
            Ranked(evidence[i].name, evidence[i].cosine or 0.0, float(likely[i])) for i in order
        ]

    def _meaning(self, evidence: Evidence) -> float:
        if evidence.cosine is None:
            return _UNKNOWN
        if self.parameters.scale is None:
            raise RuntimeError("the embedder's scale is unknown: call `prepare` first")
        return self.parameters.scale.evidence(evidence.cosine)
