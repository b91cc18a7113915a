"""The response synthesizer: tells the result of a call in natural language, as the model streams
it.
"""

import re
from collections.abc import AsyncIterator, Sequence
from typing import assert_never

from selfeng.core.errors import BudgetExceeded, ModelError
from selfeng.core.plan import StepResult
from selfeng.core.prompt import Prompt
from selfeng.core.protocols import ModelClient
from selfeng.core.turn import Turn
from selfeng.core.verdict import Execution, Killed, Raised, Returned
from selfeng.core.words import shortened
from selfeng.prompts import render
from selfeng.prompts.request import all_results, listed

SHOWN_TO_MODEL = 4000
"""Characters of a result that the model sees.

The person sees in the activity all that the sandbox keeps of a value: its first 20,000 characters.
"""
_EXPECTED = {"ValueError", "TypeError"}
"""What tools raise for input that they refuse; their messages need no explanation."""


class ResponseSynthesizer:
    """Puts results into words."""

    def __init__(self, model: ModelClient) -> None:
        self._model = model

    async def answer(self, turn: Turn, call: str, execution: Execution) -> AsyncIterator[str]:
        """The answer in pieces, Markdown; `call` is the call as Python source.

        When the model can't be reached, declines or has no budget left, the plain result is the
        answer, so that finished work is never lost.
        """
        result = shortened(describe(execution), SHOWN_TO_MODEL)
        prompt = render(
            "answer",
            turn.request.history,
            request=turn.request.text,
            files=listed(turn.request),
            call=call,
            result=result,
        )
        async for piece in self._told(turn, prompt, plain(execution)):
            yield piece

    async def answer_plan(self, turn: Turn, results: Sequence[StepResult]) -> AsyncIterator[str]:
        """The same for a plan."""
        prompt = render(
            "results", turn.request.history, request=turn.request.text, results=all_results(results)
        )
        async for piece in self._told(turn, prompt, plain_results(results)):
            yield piece

    async def _told(self, turn: Turn, prompt: Prompt, instead: str) -> AsyncIterator[str]:
        begun = False
        try:
            async for piece in self._model.stream(prompt, turn.budget):
                begun = True
                yield piece
        except (ModelError, BudgetExceeded) as error:
            yield (
                ("\n\n" if begun else "")
                + instead
                + f"\n\n*The model could not put this into words: {error.message}.*"
            )


def describe(execution: Execution) -> str:
    """What the model is told of an execution."""
    match execution:
        case Returned():
            text = f"{execution.text}" if execution.text else "(an empty text)"
            return (
                text
                + ("\n… (the value is longer than this)" if execution.truncated else "")
                + _files(execution)
            )
        case Raised():
            return f"raised {execution.type_name}: {execution.message}" + _files(execution)
        case Killed():
            return f"was ended: {execution.reason}"
        case _:
            assert_never(execution)


def _files(execution: Returned | Raised) -> str:
    """What the model is told of the files that a call made."""
    made = "".join(
        f"\nmade the file {f.name} ({f.reference().media_type}), which the person sees below"
        for f in execution.files
    )
    return made + "".join(
        f"\nleft a file that can't be handed out, {refused}" for refused in execution.refused_files
    )


def plain(execution: Execution) -> str:
    """What the person is told of an execution without a model's help."""
    match execution:
        case Returned():
            more = "\n\nThe value is longer than what is shown here." if execution.truncated else ""
            return f"The result is:\n\n{_block(execution.text)}{more}"
        case Raised():
            said = (
                [execution.message]
                if execution.message and execution.type_name in _EXPECTED
                else [execution.type_name, execution.message]
            )
            return f"The tool refused this input: {': '.join(filter(None, said))}"
        case Killed():
            return f"The sandbox ended the tool. {execution.reason}"
        case _:
            assert_never(execution)


def plain_results(results: Sequence[StepResult]) -> str:
    """What the person is told of a plan without a model's help."""
    return "The results are:\n\n" + "\n\n".join(
        f"{result.request}\n\n{_block(result.text)}" for result in results
    )


def _block(text: str) -> str:
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}\n{text}\n{fence}"
