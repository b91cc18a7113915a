"""The policy for suites: what a suite must look like to be worth running, judged by its source
alone.
"""

from collections.abc import Iterator

from selfeng.synthesis.suite import binding, contradiction, steadiness, steering
from selfeng.synthesis.suite.assertions import Assertions
from selfeng.synthesis.suite.flow import Flow
from selfeng.synthesis.suite.source import Suite


def problems(suite: Suite) -> Iterator[str]:
    """What is wrong with a suite, in sentences that name the test and what to do."""
    yield from steering.problems(suite)
    flow = Flow(suite)
    yield from binding.problems(suite, flow)
    yield from steadiness.problems(suite)
    yield from Assertions(suite, flow).problems()
    yield from contradiction.problems(suite, flow)


__all__ = ["Suite", "problems"]
