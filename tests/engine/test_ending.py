"""How turns end, told by what happened."""

from selfeng.core.events import Executing, NoToolFound, Outcome, SynthesisStep
from selfeng.stages.ending import Ending, ending
from selfeng.synthesis_engine import DirectAnswer


def _search(**confidences: float) -> NoToolFound:
    return NoToolFound(
        reason="None fits.",
        considered=tuple(confidences),
        confidences=tuple(confidences.values()),
        seconds=0.1,
    )


def test_a_declined_request_names_up_to_three_tools_that_are_near_enough_to_help():
    search = _search(a=0.5, b=0.3, c=0.2, d=0.1, e=0.01)
    declined = DirectAnswer(text="No.", declined=True)
    assert ending(declined, [search]) == Ending(outcome=Outcome.DECLINED, nearest=("a", "b", "c"))
    assert ending(declined, [search, _search(a=0.05, b=0.04)]).nearest == ("a",)
    assert ending(declined, []).nearest == ()


def test_an_answer_names_the_tools_that_it_reused():
    calls = [Executing(tool=name, arguments="{}") for name in ("b", "a", "b")]
    served = Executing(tool="s__c", arguments="{}", server="s")
    answer = DirectAnswer(text="Both are done.")
    assert ending(answer, [*calls, served]).reused == ("a", "b")
    registered = SynthesisStep(step="register", state="finished")
    assert ending(answer, [*calls, registered]).reused == ()
    assert ending(DirectAnswer(text="No.", declined=True), calls).reused == ()
