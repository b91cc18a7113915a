"""A failed verdict in the words of a repair prompt."""

from selfeng.core.verdict import Verdict

LIMIT = 6000
"""Characters of a repair prompt that failures may take."""


def as_failures(verdict: Verdict) -> str:
    """What failed and why, the first failures in full; at most LIMIT characters."""
    parts = [verdict.problem] if verdict.problem else []
    parts += [f"{t.test}: {t.outcome}\n{t.message}" for t in verdict.tests if t.outcome != "passed"]
    if verdict.output.strip():
        parts.append(f"output:\n{verdict.output.strip()[-1000:]}")
    text = "\n\n".join(parts)
    return text if len(text) <= LIMIT else text[:LIMIT] + "\n… (shortened)"
