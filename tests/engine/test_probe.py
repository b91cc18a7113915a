"""A candidate that lies to the probe about its calls is left out; it ends no turn."""

import pytest

from selfeng.core.verdict import Returned, SandboxJob
from selfeng.synthesis.probe import CallOutcome, probe, same
from tests.doubles import ScriptedSandbox


class Answering(ScriptedSandbox):
    """A sandbox whose candidate answers for all its calls with this."""

    def __init__(self, data):
        super().__init__()
        self._data = data

    async def execute(self, *_, **__):
        return Returned(type_name="list", text="", data=self._data)


LIES = {
    "a number": "5",
    "an object": '{"returned": "1"}',
    "too few": "[]",
    "too many": '[["returned", "1", 0], ["returned", "2", 0]]',
    "more time than there is": '[["returned", "1", 1e9]]',
    "no pair": '[["returned"]]',
    "another kind": '[["passed", "1", 0]]',
    "no text": '[["returned", [1], 0]]',
    "more text than asked for": f'[["returned", "{"x" * 5000}", 0]]',
}


@pytest.mark.parametrize("data", LIES.values(), ids=LIES.keys())
async def test_a_candidate_that_lies_about_its_form_is_left_out(data):
    assert await probe(Answering(data), SandboxJob("f"), [{}]) is None


async def test_an_honest_candidate_is_taken_at_its_word():
    assert await probe(Answering('[["returned", "1", 0.5]]'), SandboxJob("f"), [{}]) == [
        CallOutcome(kind="returned", text="1", seconds=0.5)
    ]


@pytest.mark.parametrize(
    "text",
    [str(10**400), "[" * 1500 + "]" * 1500, "{[]: 1}", "1_0" * 1000, "{1: " * 90 + "1" + "}" * 90],
)
def test_values_that_are_hard_to_read_differ_from_a_number(text):
    assert not same(
        CallOutcome(kind="returned", text=text), CallOutcome(kind="returned", text="1.5")
    )
