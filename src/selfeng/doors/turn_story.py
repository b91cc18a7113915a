"""A turn for another program: its steps in a few words, and what it came to."""

import json
from typing import TYPE_CHECKING, Any, assert_never

from selfeng.core.events import (
    FINAL,
    AnswerToken,
    CodeRun,
    DelegationChanged,
    Event,
    Executing,
    ExecutionFailed,
    ExecutionFinished,
    ExecutionProgress,
    FilesMade,
    ModelAskedAgain,
    ModelSilent,
    NoToolFound,
    Outcome,
    PlanStepChanged,
    QuestionsAsked,
    Record,
    StageEntered,
    SynthesisStep,
    ToolFound,
    TurnFailed,
    TurnFinished,
    TurnQueued,
    TurnStarted,
    TurnStopped,
    Waiting,
    units,
)
from selfeng.core.files import File, FileReference
from selfeng.core.question import Question
from selfeng.core.result import Result
from selfeng.core.stage import STAGES, words_of
from selfeng.core.stage_event import Usage
from selfeng.core.status import PARTS
from selfeng.core.verdict import Execution, Killed, Raised, Returned
from selfeng.core.words import shortened

if TYPE_CHECKING:
    from selfeng.engine import Engine

_SHOWN = 200


def step_words(event: Event) -> str:
    """The event in a few words for people; "" if it is not worth showing."""
    match event:
        case StageEntered(node=node, plan_step=step):
            return f"[{step}] {STAGES[node].does}" if step else STAGES[node].does
        case TurnQueued(place=place, reason=reason) if place:
            return f"Number {place} in the queue" + (f": {reason}" if reason else "")
        case ModelAskedAgain(attempt=attempt):
            return f"The model did not answer; asking again, attempt {attempt}"
        case ModelSilent(seconds=seconds):
            return f"The model has been silent for {seconds:g} s"
        case Waiting(state="started", part=part):
            return f"Waiting for {PARTS[part]}, being set up"
        case PlanStepChanged(state="started", step=step):
            return f"Step {step} of the plan"
        case ToolFound(tool=tool, confidence=confidence):
            return f"Found {tool} ({confidence:.0%})"
        case NoToolFound(reason=reason):
            return f"No tool fits: {shortened(reason, _SHOWN)}"
        case SynthesisStep(state="failed", step=stage, text=text):
            return f"{words_of(stage).capitalize()} failed: {shortened(text, _SHOWN)}"
        case Executing(tool=tool):
            return f"Running {tool}"
        case ExecutionProgress(tool=tool, place=place) if place:
            return f"{tool}: number {place} of the calls that wait for room"
        case ExecutionProgress(tool=tool, done=amount, total=total, text=text) if text or amount:
            return f"{tool}: {text or f'{amount:g}' + (f' of {total:g}' if total else '')}"
        case (
            ExecutionFinished(tool=tool, execution=execution)
            | ExecutionFailed(tool=tool, execution=execution)
        ):
            return f"{tool} {_execution_words(execution)}"
        case DelegationChanged(state="started", recipient=agent, text=text):
            return f"To {agent}: {shortened(text, _SHOWN)}"
        case CodeRun(state="started", run=run):
            return f"Running code ({run})"
        case _:
            return ""


def _execution_words(execution: Execution) -> str:
    match execution:
        case Returned(value=value, text=text):
            summary = value.shape if value and value.long else shortened(text, _SHOWN)
            return f"returned {summary}"
        case Raised(type_name=kind, message=message):
            return f"raised {kind}: {shortened(message, _SHOWN)}"
        case Killed(reason=reason):
            return f"was ended: {reason}"
        case _:
            assert_never(execution)


class TurnStory:
    """Collects from the records of a turn what its asker needs."""

    def __init__(self) -> None:
        self.conversation, self.turn, self.request = "", "", ""
        self.after: str | None = None
        self.runs = ""
        """The tool that a person called by hand."""
        self.answers: dict[str, str] = {}
        """Those that came with the request, by the ids of the questions."""
        self.outcome: Outcome | None = None
        """None while it runs or waits."""
        self.gave_up = False
        """Whether it ended without words of its own for the asker."""
        self.step = ""
        """The newest step, in a few words."""
        self.text = ""
        """The answer as far as it goes; in the end all of it, or why there is none and what to do.
        """
        self.files: dict[str, FileReference] = {}
        """The files that tools made, the newest of each name."""
        self.questions: tuple[Question, ...] = ()
        self.new_tools: list[str] = []
        """Names of those that the turn built or revised."""
        self.result: Result | None = None
        """The result of the last tool that ran, except those that an agent called."""
        self.last: TurnFinished | TurnFailed | TurnStopped | None = None
        self._ordered: dict[tuple[str, str], str] = {}
        """Names of tools that are specified and not yet registered, by agent and step of a plan."""

    def add(self, record: Record) -> str:
        """Take the next record; returns what it adds to the answer."""
        self.conversation, self.turn = record.conversation_id, record.turn_id
        self.step = step_words(record.event) or self.step
        before, piece = self.text, ""
        match event := record.event:
            case TurnStarted(request=request, answers=answers, after=after, runs=runs):
                self.request, self.after, self.runs = request, after, runs
                self.answers = {answer.id: answer.value for answer in answers}
            case SynthesisStep(step="specify", state="finished", artifact=artifact):
                self._ordered[event.within, event.plan_step] = ordered_tool(artifact)
            case SynthesisStep(step="register", state="finished"):
                if name := self._ordered.pop((event.within, event.plan_step), ""):
                    self.new_tools.append(name)
            case ExecutionFinished(within="", execution=Returned(result=result)):
                self.result = result
            case FilesMade(files=files):
                self.files |= {file.name: file for file in files}
            case QuestionsAsked(questions=questions):
                self.questions = questions
            case AnswerToken(text=text, offset=offset):
                # a resumed turn may repeat a part
                if offset in (None, units(self.text)):
                    self.text += text
                    piece = text
            case TurnFinished(answer=answer, remedy=remedy):
                self._end(answer, remedy)
                is_continuation = answer.startswith(before)
                piece = answer.removeprefix(before) if is_continuation else f"\n\n{answer}"
            case TurnFailed(message=message, reached=reached, remedy=remedy):
                self._end(message, reached, remedy)
            case TurnStopped(reason=reason):
                self._end(reason)
        if isinstance(event, FINAL):
            self.last, self.outcome = event, event.outcome
            self.gave_up = not isinstance(event, TurnFinished)
            if event.outcome is not Outcome.ASKED:
                self.questions = ()
        return piece

    def _end(self, *parts: str) -> None:
        self.text = "\n\n".join(filter(None, parts))

    async def read_files(self, engine: "Engine", owner: str) -> list[File]:
        """The files with their contents, as the turn's owner reads them."""
        return [
            (
                await engine.conversations.file(owner, self.conversation, file.sha256, file.name)
            ).in_memory()
            for file in self.files.values()
        ]

    @property
    def usage(self) -> Usage:
        """The turn's use of the model, once it has ended."""
        return self.last.usage if self.last else Usage()

    @property
    def seconds(self) -> float:
        """How long it took, once it has ended."""
        return self.last.seconds if self.last else 0.0

    @property
    def whole_text(self) -> str:
        """The text, and how to continue where the turn asks something."""
        if self.outcome is None:
            return "The engine was closed while the turn ran; ask again."
        if not self.questions:
            return self.text
        answers = ", ".join(f'"{question.id}": "…"' for question in self.questions)
        return (
            f"{self.text}\n\nTo answer, call `ask` with conversation {self.conversation!r} and "
            f"answers {{{answers}}}."
        )

    def structured(self) -> dict[str, Any]:
        """`{conversation, turn, outcome, answer, questions, files}`; the questions as `Question`
        has them, of the files the names; `error` is `{kind, cause, values}` of a turn that failed.
        """
        fields = {"kind", "cause", "values"}
        failure = self.last.model_dump(include=fields) if isinstance(self.last, TurnFailed) else {}
        return {
            **({"error": failure} if failure else {}),
            "conversation": self.conversation,
            "turn": self.turn,
            "outcome": (self.outcome or Outcome.STOPPED).value,
            "answer": self.text,
            "questions": [question.model_dump(mode="json") for question in self.questions],
            "files": list(self.files),
        }


def ordered_tool(artifact: str) -> str:
    """The tool's name in a specification; "" if it orders no tool."""
    specification = json.loads(artifact) if artifact else {}
    return str(specification.get("name") or "")
