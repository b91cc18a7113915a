"""Versions of tools: what each contained, why it was made, and what was known about it then."""

import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from selfeng.core.prompt import ChatMessage, Prompt
from selfeng.core.stage_event import Usage
from selfeng.core.tool import Imported, Tool, ToolDraft
from selfeng.core.value import Value
from selfeng.core.verdict import Verdict
from selfeng.core.words import significant

_ROLE = re.compile(r"(?:\A|\n\n)=== (system|user|assistant)\n")


class Created(Value):
    how: Literal["created"] = "created"

    def __str__(self) -> str:
        return "created"


class Repaired(Value):
    """The tool failed in use, and the model rewrote it."""

    how: Literal["repaired"] = "repaired"
    failure: str = ""
    """The error, in one sentence."""

    def __str__(self) -> str:
        return f"repaired: {self.failure}" if self.failure else "repaired"


class Extended(Value):
    """A request needed another parameter."""

    how: Literal["extended"] = "extended"
    parameters: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"extended by {', '.join(self.parameters)}"


class Edited(Value):
    """A person edited the files, and they passed the gate."""

    how: Literal["edited"] = "edited"

    def __str__(self) -> str:
        return "edited by hand"


class Corrected(Value):
    """A person disagreed with a result, and a test that this version passes shows why."""

    how: Literal["corrected"] = "corrected"
    turn_id: str = ""
    """The turn whose answer was wrong; "" if none was."""

    def __str__(self) -> str:
        return "corrected"


class RolledBack(Value):
    how: Literal["rolled_back"] = "rolled_back"
    to: int

    def __str__(self) -> str:
        return f"rolled back to version {self.to}"


class RequirementChanged(Value):
    """A tool that this one imports has a new version, which this one is pinned to now."""

    how: Literal["requirement_changed"] = "requirement_changed"
    tool: str
    version: int

    def __str__(self) -> str:
        return f"takes version {self.version} of {self.tool}"


class Refactored(Value):
    """A person asked for a faster version."""

    how: Literal["refactored"] = "refactored"
    factor: float
    """How many times as fast it was, measured in the sandbox."""

    def __str__(self) -> str:
        return f"{significant(self.factor)}× faster"


class Merged(Value):
    """A person merged another tool into this one, which has the tests of both since."""

    how: Literal["merged"] = "merged"
    tool: str
    version: int

    def __str__(self) -> str:
        return f"merged with version {self.version} of {self.tool}"


Origin = Annotated[
    Created
    | Imported
    | Repaired
    | Extended
    | Corrected
    | Edited
    | RolledBack
    | RequirementChanged
    | Refactored
    | Merged,
    Field(discriminator="how"),
]
"""Why a version was made; as text, in words for people."""


class AskedPrompt(Value):
    """A prompt that was sent."""

    name: str
    digest: str
    """sha256 of its messages."""
    text: str = ""
    """The messages, each after its role. Only the database has it: it contains what a person said,
    and everyone sees the library.
    """

    @classmethod
    def of(cls, prompt: Prompt) -> "AskedPrompt":
        text = "\n\n".join(f"=== {message.role}\n{message.content}" for message in prompt.messages)
        return cls(name=prompt.name, digest=prompt.digest, text=text)

    def without(self, line: str = "") -> Prompt:
        """The prompt again, without a line of it."""
        _, *parts = _ROLE.split(self.text.replace(f"{line}\n", "") if line else self.text)
        pairs = zip(parts[::2], parts[1::2], strict=True)
        messages = (ChatMessage.model_validate({"role": r, "content": c}) for r, c in pairs)
        return Prompt(name=self.name, messages=tuple(messages), streamed=True)


class LessonReplay(Value):
    """The effect of a lesson on one build: whether code that the model wrote passed the tool's
    suite at once, by the recorded prompt and by the same without the lesson.
    """

    tool: str
    version: int
    passed_with: bool
    passed_without: bool


class Provenance(Value):
    """How a version came to be."""

    origin: Origin = Created()
    verdict: Verdict | None = None
    """Results of its tests on its code; None if not recorded."""
    prompts: tuple[AskedPrompt, ...] = ()
    """The prompts sent to the model, in order."""
    usage: Usage | None = None
    """The turn's use of the model by then; None if no turn made it."""
    seconds: float | None = None
    """How long the turn had run by then; None if no turn made it, or an old version did."""

    def prompt_with(self, line: str) -> AskedPrompt | None:
        """The first prompt for an implementation that has a line, if its text is recorded."""
        its = (p for p in self.prompts if p.name == "implementation" and f"{line}\n" in p.text)
        return next(its, None)


class ToolVersion(ToolDraft):
    """One version of a tool, as registered."""

    version: int
    digest: str
    created_at: datetime
    """UTC."""
    provenance: Provenance

    @property
    def tool(self) -> Tool:
        """The tool as it was at this version."""
        identity = {name: getattr(self, name) for name in ("version", "digest", "created_at")}
        return Tool(**dict(self.draft()), **identity)


class Proposal(Tool):
    """A new tool, or a version of one, that waits for its person to accept it: the library does not
    have it. `version` is the number that it gets if nothing is faster.
    """

    based_on: int = 0
    """The version that it follows; 0 for a new tool."""
    provenance: Provenance
    refused: bool = False
    objections: tuple[str, ...] = ()
    """An update of an imported tool: how it fails its person's own tests and recorded calls."""

    @property
    def words(self) -> str:
        """One sentence for people."""
        of = f"version {self.version} of `{self.name}`" if self.based_on else f"`{self.name}`"
        return f"{of[0].upper()}{of[1:]} waits for your acceptance: {self.description}"


class ChangedCall(Value):
    """A call for which a proposal gives something else than the version that it follows."""

    call: str
    """Python source."""
    before: str
    """"" for a new tool."""
    after: str


class Behaviour(Value):
    """How a proposal differs in what it returns. Recorded inputs are its person's own, and are read
    again whenever that person looks.
    """

    compared: int
    recorded: int
    """Of these, the calls of the person's earlier answers."""
    changed: int
    calls: tuple[ChangedCall, ...]
    """The first that change; of a new tool some of its tests' calls."""
