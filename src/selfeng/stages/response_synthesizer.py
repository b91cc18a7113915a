"""The response synthesizer: puts the result of a call into natural language, as the model streams
it.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from typing import assert_never

from selfeng.core.errors import BudgetExceeded, ModelError
from selfeng.core.files import MB
from selfeng.core.plan import StepResult
from selfeng.core.prompt import Prompt
from selfeng.core.protocols import ModelClient
from selfeng.core.result import IN_SHORT, LARGEST, ResultReference
from selfeng.core.server_tool import ServerTool
from selfeng.core.tool import Tool
from selfeng.core.turn import Turn
from selfeng.core.verdict import Execution, Killed, Raised, Returned
from selfeng.core.words import for_people, is_in_currency, shortened
from selfeng.prompts import render
from selfeng.prompts.request import all_results, listed
from selfeng.stages.execution.contract import OF_SERVICES

SHOWN_TO_MODEL = 1000
"""Characters that the model sees of a value that is not kept; of a kept one it sees all, or a
summary.
"""
_RETURNS = re.compile(r"\breturns?:\s*(.+?)(?:\n\s*\n|\"{3}|'{3})", re.IGNORECASE | re.DOTALL)
"""A docstring's words on the result, in any of the usual forms."""
AnyTool = Tool | ServerTool
_EXPECTED = {"ValueError", "TypeError"}
"""The errors that tools raise for input that they refuse; their messages need no explanation."""


class ResponseSynthesizer:
    def __init__(self, model: ModelClient) -> None:
        self._model = model

    async def answer(
        self, turn: Turn, call: str, execution: Execution, tool: AnyTool | None = None
    ) -> AsyncGenerator[str, None]:
        """The answer in pieces, Markdown; `call` is the call of the tool as Python source.

        When the model can't be reached, declines or has no budget left, the plain result is the
        answer, so that finished work is never lost.
        """
        request = turn.request
        prompt = render(
            "answer",
            request.history,
            request=request.text,
            files="" if isinstance(execution, Returned) else listed(request),
            call=call,
            result=await _describe(execution),
            rounded=rounded(execution, tool),
            refused=", ".join(request.refused),
        )
        async for piece in self._stream_reply(turn, prompt, plain(execution, tool)):
            yield piece

    async def answer_plan(
        self, turn: Turn, results: Sequence[StepResult]
    ) -> AsyncGenerator[str, None]:
        """The same for a plan."""
        prompt = render(
            "results", turn.request.history, request=turn.request.text, results=all_results(results)
        )
        async for piece in self._stream_reply(turn, prompt, plain_results(results)):
            yield piece

    async def _stream_reply(
        self, turn: Turn, prompt: Prompt, instead: str
    ) -> AsyncGenerator[str, None]:
        has_begun = False
        try:
            async for piece in self._model.stream(prompt, turn.budget):
                has_begun = True
                yield piece
        except (ModelError, BudgetExceeded) as error:
            yield (
                ("\n\n" if has_begun else "")
                + instead
                + f"\n\n*The model could not put this into words: {error.message}.*"
            )


async def _describe(execution: Execution) -> str:
    """The same as `describe`; what takes long, in a thread."""
    if isinstance(execution, Returned) and _is_long(execution):
        return await asyncio.to_thread(describe, execution)
    return describe(execution)


def describe(execution: Execution) -> str:
    """An execution, in words for the model."""
    match execution:
        case Returned():
            return _value(execution) + _files(execution)
        case Raised():
            return f"raised {execution.type_name}: {execution.message}" + _files(execution)
        case Killed():
            return f"was ended: {execution.reason}"
        case _:
            assert_never(execution)


def _value(returned: Returned) -> str:
    """The value, or what stands for a long one."""
    if long := described(returned):
        return long
    text = returned.text or "(an empty text)"
    if returned.truncated:
        return f"{shortened(text, SHOWN_TO_MODEL)}\n… ({_cut(returned)})"
    return text if len(text) <= SHOWN_TO_MODEL else shortened(text, SHOWN_TO_MODEL)


def described(returned: Returned) -> str:
    """A long value, in words for a model; "" for any other."""
    if returned.result is None or not _is_long(returned):
        return ""
    return f"{returned.result.reference.shape}, {IN_SHORT}\n{returned.result.summary}"


def _is_long(returned: Returned) -> bool:
    return returned.result is not None and returned.result.reference.long


def _cut(returned: Returned) -> str:
    """Why a value is not whole, and what to do."""
    return (
        f"the value has {returned.too_large / MB:.1f} MB, more than the {LARGEST // MB} MB that "
        "are kept, so this is its beginning; ask for it as a file"
        if returned.too_large
        else "the value is longer than this"
    )


def rounded(execution: Execution, tool: AnyTool | None = None) -> str:
    """The number that a call of the tool returned, as a sentence says it; "" if it is as it was."""
    if not isinstance(execution, Returned) or execution.type_name not in ("float", "Decimal"):
        return ""
    try:
        number = float(execution.text.removeprefix("Decimal('").removesuffix("')"))
        sentence_number = for_people(number, money=tool is not None and _returns_money(tool))
    except ValueError:
        return ""
    return "" if sentence_number == execution.text else sentence_number


def _returns_money(tool: AnyTool) -> bool:
    """Whether the tool's name, and what it documents of its result, give a currency."""
    documented = _RETURNS.search(tool.code) if isinstance(tool, Tool) else None
    return is_in_currency(f"{tool.name} {documented[1] if documented else tool.description}")


def _files(execution: Returned | Raised) -> str:
    """The files that a call made, in words for the model."""
    lines = "".join(
        f"\nmade the file {f.name} ({f.reference().media_type}), which the person sees below"
        for f in execution.files
    )
    return lines + "".join(
        f"\nleft a file that can't be handed out, {refused}" for refused in execution.refused_files
    )


def plain(execution: Execution, tool: AnyTool | None = None) -> str:
    """The answer to the person after an execution, without a model's help."""
    match execution:
        case Returned(value=ResultReference(long=True, shape=shape)):
            return f"The result is {shape}."
        case Returned():
            if number := rounded(execution, tool):
                return f"The result is {number}."
            cut = _cut(execution) if execution.truncated else ""
            more = f"\n\n{cut[:1].upper()}{cut[1:]}." if cut else ""
            return f"The result is:\n\n{_block(execution.text)}{more}"
        case Raised(type_name=name, message=message) if name in OF_SERVICES:
            return f"The tool could not do it: {message}."
        case Raised():
            parts = (
                [execution.message]
                if execution.message and execution.type_name in _EXPECTED
                else [execution.type_name, execution.message]
            )
            return f"The tool refused this input: {': '.join(filter(None, parts))}"
        case Killed():
            return f"The sandbox ended the tool. {execution.reason}"
        case _:
            assert_never(execution)


def plain_results(results: Sequence[StepResult]) -> str:
    """The answer to the person after a plan, without a model's help."""
    return "The results are:\n\n" + "\n\n".join(
        f"{result.request}\n\n{result.shown if result.summary else _block(result.shown)}"
        for result in results
    )


def _block(text: str) -> str:
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}\n{text}\n{fence}"
