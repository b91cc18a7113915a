"""The specification of a tool, as the model writes it before any test or code."""

from typing import Literal

from selfeng.core.http import NetworkAccess
from selfeng.core.package_lock import PackageLock, package_name
from selfeng.core.plan import PlannedStep
from selfeng.core.question import Question
from selfeng.core.signature import Parameter, Signature
from selfeng.core.tool import needs_of
from selfeng.core.value import StrictlyOptional, Value
from selfeng.core.verdict import CallLimits


class SpecParameter(Value):
    name: str
    annotation: str
    """Python annotation out of the plain types, e.g. `list[float]` or `str | None`."""
    default: str | None
    """Python literal, or null if the parameter is required."""
    description: str


class SpecExample(Value):
    """One call and its value, as Python source."""

    call: str
    """E.g. `reverse_string(text='ab')`."""
    result: str
    """E.g. `'ba'`; for an error the name of the exception, e.g. `raises ValueError`."""


class Specification(Value):
    name: str
    """Function and module name, snake_case."""
    description: str
    parameters: tuple[SpecParameter, ...]
    returns: str
    """Python annotation of the value."""
    returns_description: str
    errors: str
    """Which exceptions the function raises, and when."""
    user_examples: tuple[SpecExample, ...]
    """Calls with results that the request or the conversation itself states; they always count."""
    examples: tuple[SpecExample, ...]
    example_requests: tuple[str, ...]
    """Five ways in which people would ask for this tool."""
    network: StrictlyOptional[tuple[NetworkAccess, ...]] = ()
    """The hosts that it needs, and what it sends there."""
    probes: StrictlyOptional[tuple[str, ...]] = ()
    """URLs to GET before the tests are written, at most five, within `network`."""
    packages: StrictlyOptional[tuple[str, ...]] = ()
    """The packages that it needs beyond those of the sandbox, such as `humanize>=4`."""
    limits: StrictlyOptional[CallLimits] = CallLimits()
    """The limits of a call, where they exceed the usual."""

    @property
    def accesses(self) -> tuple[NetworkAccess, ...]:
        """The network access that it needs while the tool is built: of hosts that calls name, those
        of the probes.
        """
        urls = (*self.probes, "")
        return tuple(dict.fromkeys(b for a in self.network for url in urls for b in a.at(url)))

    def signature(self) -> Signature:
        return Signature(
            function=self.name,
            parameters=tuple(
                Parameter(
                    name=p.name,
                    annotation=p.annotation,
                    default=p.default,
                    description=p.description,
                )
                for p in self.parameters
            ),
            returns=self.returns,
        )

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of what it needs with consent: hosts, packages and limits."""
        names = (need.name for need in needs_of(self.accesses, None, self.limits))
        return (*names, *map(package_name, self.packages))

    def outline(self, *, examples: bool = True) -> str:
        """The specification as a prompt shows it: signature, description, parameters, result,
        errors and, unless they stand in its tests, examples.
        """
        calls = (*self.user_examples, *self.examples) if examples else ()
        return "\n".join(
            [
                f"{self.signature()}: {self.description}",
                *(f"- {p.name}: {p.description}" for p in self.parameters),
                f"Returns: {self.returns_description}",
                f"Errors: {self.errors}",
                *(f"Network: {access}" for access in self.network),
                *(f"Package: {requirement}" for requirement in self.packages),
                *(f"Example: {e.call} -> {e.result}" for e in calls),
            ]
        )


class SpecificationReply(Value):
    """The model's decision on a request for which no tool exists."""

    outcome: Literal["tool", "fix", "steps", "delegate", "answer", "question", "impossible"]
    """tool: specify one; fix: a tool of the library is wrong; steps: it takes several; delegate: it
    is work for agents; answer: no tool is needed; question: something is unclear; impossible: it
    can't be known or done here.
    """
    message: str
    """The answer, the reason, the introduction to the questions, or what agents have to know of the
    conversation, in Markdown; "" for a tool and for steps.
    """
    specification: Specification | None
    """Only for a tool and a fix."""
    call: StrictlyOptional[str] = ""
    """Only for a tool: its call with the request's own arguments, as Python source; "" where the
    request lacks one.
    """
    cron: StrictlyOptional[str] = ""
    """Only for a tool: the times at which the request wants it called again and again."""
    agent: StrictlyOptional[Literal["coder", "proxy"] | None] = None
    """Only for work for agents: who gets it; the proxy if it takes several of them."""
    steps: StrictlyOptional[tuple[PlannedStep, ...]] = ()
    """Only for steps."""
    questions: StrictlyOptional[tuple[Question, ...]] = ()
    """Only for a question; if there are none, the message is the question."""


class SpecifiedTool(SpecificationReply):
    """A reply that waits for consent, with the versions that were chosen for its packages."""

    lock: PackageLock | None = None
