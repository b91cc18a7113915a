"""A tool: one verified Python function with its tests, and what the library knows about it."""

from datetime import datetime

from src.core.signature import Signature
from src.core.value import Value


class ToolDraft(Value):
    """A verified function that is ready for registration."""

    name: str
    description: str
    signature: Signature
    code: str
    """Python source of `tools/<name>.py`."""
    tests: str
    """Python source of `tools/test_<name>.py`; imports the function from the module `<name>`."""
    example_requests: tuple[str, ...] = ()
    """Requests, as people would phrase them, that this tool answers; they feed the search."""
    model: str = ""
    """Model that wrote it; "" for a tool written by hand."""


class Tool(ToolDraft):
    """A tool of the library."""

    created_at: datetime
    """UTC."""
    digest: str
    """sha256 over code and tests as they were verified, see `source_digest`."""
    uses: int = 0
    """Successful executions."""


class Candidate(Value):
    """A tool that a search found."""

    tool: Tool
    similarity: float
    """Cosine between request and tool, -1..1."""
    confidence: float
    """Calibrated probability that the tool fits, 0..1; what SIMILARITY_THRESHOLD is compared with."""
