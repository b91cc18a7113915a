"""A turn for an agent that only reads: its steps in a few words, and what it came to."""

import json
from typing import Any

from selfeng.core.events import (
    CodeRun,
    DelegationChanged,
    Event,
    Executing,
    ExecutionFinished,
    ExecutionProgress,
    FilesMade,
    Outcome,
    PlanStepChanged,
    QuestionsAsked,
    Record,
    StageEntered,
    SynthesisStep,
    TurnFailed,
    TurnFinished,
    TurnQueued,
    TurnStopped,
    Waiting,
)
from selfeng.core.files import File
from selfeng.core.question import Question
from selfeng.core.result import Result
from selfeng.core.stage import STAGES, words_of
from selfeng.core.status import PARTS
from selfeng.core.verdict import Returned
from selfeng.core.words import shortened

_SHOWN = 200


def step_words(event: Event) -> str:
    """What begins with the event, as a few words; "" if nothing does that matters."""
    match event:
        case StageEntered(node=node, plan_step=step):
            return f"[{step}] {STAGES[node].does}" if step else STAGES[node].does
        case TurnQueued(place=place) if place:
            return f"Number {place} in the queue"
        case Waiting(state="started", part=part):
            return f"Waiting for {PARTS[part]}, being set up"
        case PlanStepChanged(state="started", step=step):
            return f"Step {step} of the plan"
        case SynthesisStep(state="failed", step=stage, text=text):
            return f"{words_of(stage).capitalize()} failed: {shortened(text, _SHOWN)}"
        case Executing(tool=tool):
            return f"Running {tool}"
        case ExecutionProgress(tool=tool, text=text) if text:
            return f"{tool}: {text}"
        case DelegationChanged(state="started", recipient=agent, text=text):
            return f"To {agent}: {shortened(text, _SHOWN)}"
        case CodeRun(state="started", run=run):
            return f"Running code ({run})"
        case _:
            return ""


class TurnStory:
    """Collects from the records of a turn what its asker needs in the end."""

    def __init__(self) -> None:
        self.conversation, self.turn, self.outcome = "", "", Outcome.STOPPED
        self.text = "The engine was closed while the turn ran; ask again."
        """The answer, or why there is none and what to do."""
        self.files: dict[str, File] = {}
        """The newest of each name."""
        self.questions: tuple[Question, ...] = ()
        self.new_tools: list[str] = []
        """Names of those that the turn built or revised."""
        self.result: Result | None = None
        """What the last tool returned, but not one that an agent called."""
        self.last: TurnFinished | TurnFailed | TurnStopped | None = None
        self._ordered: dict[tuple[str, str], str] = {}
        """Names of tools that are specified and not yet registered, by agent and step of a plan."""

    def add(self, record: Record) -> None:
        self.conversation, self.turn = record.conversation_id, record.turn_id
        match event := record.event:
            case SynthesisStep(step="specify", state="finished", artifact=artifact):
                self._ordered[event.within, event.plan_step] = _name(artifact)
            case SynthesisStep(step="register", state="finished"):
                if name := self._ordered.pop((event.within, event.plan_step), ""):
                    self.new_tools.append(name)
            case ExecutionFinished(within="", execution=Returned(result=result)):
                self.result = result
            case FilesMade(contents=files):
                self.files |= {file.name: file for file in files}
            case QuestionsAsked(questions=questions):
                self.questions = questions
        self._close(record.event)

    def _close(self, event: Event) -> None:
        match event:
            case TurnFinished(answer=answer, remedy=remedy):
                self._end(event, answer, remedy)
            case TurnFailed(message=message, reached=reached, remedy=remedy):
                self._end(event, message, reached, remedy)
            case TurnStopped(reason=reason):
                self._end(event, reason)

    def _end(self, event: TurnFinished | TurnFailed | TurnStopped, *told: str) -> None:
        self.last, self.outcome, self.text = event, event.outcome, "\n\n".join(filter(None, told))
        if event.outcome is not Outcome.ASKED:
            self.questions = ()

    @property
    def whole_text(self) -> str:
        """The text, and how to go on where the turn asks something."""
        if not self.questions:
            return self.text
        answers = ", ".join(f'"{question.id}": "…"' for question in self.questions)
        return (
            f"{self.text}\n\nTo answer, call `ask` with conversation {self.conversation!r} and "
            f"answers {{{answers}}}."
        )

    def structured(self) -> dict[str, Any]:
        """`{conversation, turn, outcome, answer, questions, files}`; the questions as `Question`
        has them, of the files the names.
        """
        return {
            "conversation": self.conversation,
            "turn": self.turn,
            "outcome": self.outcome.value,
            "answer": self.text,
            "questions": [question.model_dump(mode="json") for question in self.questions],
            "files": list(self.files),
        }


def _name(artifact: str) -> str:
    """The tool's name in a specification; "" if it orders no tool."""
    wanted = json.loads(artifact) if artifact else {}
    return str(wanted.get("name") or "")
