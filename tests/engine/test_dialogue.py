"""The dialogue of a command line: answers as they are written, and questions as they are asked."""

import pytest
import typer
from typer.testing import CliRunner

from selfeng.cli.dialogue import answered
from selfeng.cli.turn_commands import parsed_answer
from selfeng.core.errors import RequestError
from selfeng.core.question import Answer, Question

UNIT = Question(
    id="unit", question="Which unit?", answer="choice", options=("m", "ft"), default="m"
)
SIZE = Question(id="size", question="How long?", answer="number")


def test_an_answer_is_written_with_the_id_of_its_question():
    assert parsed_answer("size = 3=4") == Answer(id="size", value="3=4")
    with pytest.raises(RequestError) as caught:
        parsed_answer("metre")
    assert (caught.value.message, caught.value.remedy) == (
        "--answer 'metre' has no =",
        "write --answer ID=VALUE, such as --answer unit=metre",
    )


def test_questions_are_asked_until_their_answers_fit():
    given: list[Answer] = []
    app = typer.Typer()
    app.command()(lambda: given.extend(answered((UNIT, SIZE))))
    ran = CliRunner().invoke(app, input="mile\n\nlong\n2.5\n")
    assert given == [Answer(id="unit", value="m"), Answer(id="size", value="2.5")]
    assert "Which unit? (m, ft) [m]" in ran.output
    assert "unit='mile' is not one of m, ft" in ran.output
