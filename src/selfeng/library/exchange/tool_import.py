"""ToolImport: tools of a bundle on their way into the library.

A person reads what they say of themselves, the gate judges what they do, and only what both accept
is added. Until then a bundle leaves nothing behind.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Awaitable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from graphlib import CycleError, TopologicalSorter
from typing import Literal, Protocol

from selfeng.core.composition import Importable, imported_names, packages_of
from selfeng.core.errors import (
    AgentError,
    FailureCause,
    FailureKind,
    LibraryError,
    RequestError,
    SynthesisFailed,
    ToolExists,
)
from selfeng.core.package_lock import PackageLock
from selfeng.core.protocols import ToolLibrary
from selfeng.core.provenance import Provenance
from selfeng.core.tool import Imported, Tool, ToolDraft
from selfeng.core.value import Value
from selfeng.core.verdict import Verdict
from selfeng.core.visible import one_line
from selfeng.library.exchange.signing import Signer, SigningKeys
from selfeng.library.exchange.tool_bundle import (
    Receipt,
    read_bundle,
    reproduced,
    reproduced_text,
)

ReceiptOutcome = Literal["", "missing", "reproduced", "differs"]
_MOST_VERDICTS = 500
_LONGEST_NAME = 100
_REFUSED = "the tools that it needs have to be imported, too"


class Examine(Protocol):
    def __call__(
        self, draft: ToolDraft, beside: Sequence[Tool] = (), *, alone: bool = False
    ) -> Awaitable[Verdict]:
        """Judge a tool and its words; `beside` are tools that it may import and that are not
        registered yet; `alone`: it is not compared with a tool of its name. Raises:
        SynthesisFailed, SandboxError.
        """


class ToolWords(Value):
    """The words that a person reads before a tool is accepted."""

    name: str
    signature: str
    description: str
    parameters: dict[str, str]
    """Descriptions by name."""
    example_requests: tuple[str, ...]
    model: str
    packages: tuple[str, ...]
    network: tuple[str, ...]
    """The hosts and limits that it would use, once a person allows them."""
    imports: tuple[str, ...]
    """Names of the bundle's tools that it imports."""
    code: str
    tests: str


class ImportOffer(Value):
    """A bundle that was read: nothing of it was run."""

    digest: str
    """sha256 of the file."""
    signer: Signer
    reproduced_by: tuple[Signer, ...] = ()
    """Whose gates reproduced the receipts, as they signed."""
    releases: Mapping[str, int] = {}
    """Versions at the author's, by the tool's name; 0: not known."""
    receipts: Mapping[str, Receipt] = {}
    drafts: tuple[ToolDraft, ...]
    """Each after those that it imports."""
    cyclic: frozenset[str]
    """Tools that import each other in a circle."""
    installs: bool = False
    """Whether a person allows to install what tools need beyond the sandbox's packages."""

    @property
    def tools(self) -> tuple[ToolWords, ...]:
        names = {draft.name for draft in self.drafts}
        return tuple(_offered(draft, names) for draft in self.drafts)


class ImportFinding(Value):
    """The outcome of one tool of a bundle."""

    name: str
    outcome: Literal["passed", "present", "refused", "added", "asks", "waits"]
    """passed: the gate accepts it; present: the library has the same tool already; asks: a person
    has to allow that its packages are installed before it is judged; waits: it is a proposal now,
    and `detail` has how it fails the person's own tests and recorded calls.
    """
    detail: str = ""
    """Why it is refused, and what to do; or which tests passed."""
    kind: FailureKind = "task"
    cause: FailureCause = ""
    values: Mapping[str, str | float] = {}
    """refused and asks: those of the error."""
    receipt: ReceiptOutcome = ""
    """passed and added: how what the gate finds compares with what the author's found."""


class ToolImport:
    def __init__(self, library: ToolLibrary, keys: SigningKeys, examine: Examine) -> None:
        self._library, self._keys, self.examine = library, keys, examine
        self._verdicts: dict[str, Verdict] = {}
        """Those that passed, so that what a person accepts after the gate is not judged twice."""

    async def read(self, content: bytes, *, installs: bool = False) -> ImportOffer:
        """Read what a file offers, `installs` as in the offer.

        Raises: RequestError: it is not a bundle, or its signature is broken.
        """
        offer = await asyncio.to_thread(self._read, content)
        return offer.model_copy(update={"installs": installs})

    async def judge(
        self, offer: ImportOffer, *, alone: bool = False
    ) -> AsyncGenerator[ImportFinding, None]:
        """The findings of the gate, tool by tool; nothing is added. `alone`: whatever tools of
        these names the library has. Raises: SandboxError.
        """
        beside: dict[str, Tool] = {}
        refused: set[str] = set()
        for draft in offer.drafts:
            finding = await self._judged(offer, draft, list(beside.values()), refused, alone=alone)
            if finding.outcome == "passed":
                # as others of the bundle import it, before it is registered
                beside[draft.name] = Tool(**dict(draft), created_at=datetime.now(UTC), digest="")
            yield finding

    async def add(
        self, offer: ImportOffer, file: str, names: Collection[str]
    ) -> AsyncGenerator[ImportFinding, None]:
        """Add those of these tools that pass the gate, one after the other; each is added whole or
        not at all. They come from the file of that name.

        Raises: SandboxError; RequestError: the bundle has no tool of one of the names.
        """
        if unknown := sorted(set(names) - {draft.name for draft in offer.drafts}):
            raise RequestError(
                f"the bundle has no tool named {unknown[0][:_LONGEST_NAME]!r}",
                "name tools that it has",
            )
        refused = {draft.name for draft in offer.drafts} - set(names)
        for draft in offer.drafts:
            if draft.name not in names:
                continue
            finding = await self._judged(offer, draft, (), refused)
            if finding.outcome == "passed":
                receipt = finding.receipt
                finding = await self._added(offer, draft, file)
                finding = finding.model_copy(update={"receipt": receipt})
                if finding.outcome == "refused":
                    refused.add(draft.name)
            yield finding

    async def examined(
        self, offer: ImportOffer, draft: ToolDraft, file: str
    ) -> tuple[ToolDraft, Provenance] | ImportFinding:
        """A tool of a bundle as the library would have it, after the gate accepted it by itself,
        whatever the library has under its name; or that it asks. It comes from that file.

        Raises: SynthesisFailed, LibraryError, SandboxError.
        """
        if draft.lock and draft.lock.packages and not offer.installs:
            return _asking(draft.name, draft.lock)
        verdict = await self._verdict(draft, (), alone=True)
        return await self._as_imported(offer, draft, file, verdict)

    def reproduced(self, content: bytes) -> bytes:
        """The bundle with the signature of this instance, whose gate reproduced its receipts.
        Blocking. Raises: RequestError, ConfigurationError: the file of the key is damaged.
        """
        return reproduced(content, self._keys.sign)

    def _read(self, content: bytes) -> ImportOffer:
        bundle = read_bundle(content)
        text = reproduced_text(bundle.signed)
        drafts, cyclic = _ordered(bundle.tools)
        return ImportOffer(
            digest=bundle.digest,
            signer=self._keys.signer(bundle.signed, bundle.signature),
            reproduced_by=tuple(self._keys.signer(text, by) for by in bundle.reproductions),
            releases=bundle.releases,
            receipts=bundle.receipts,
            drafts=drafts,
            cyclic=cyclic,
        )

    async def _judged(
        self,
        offer: ImportOffer,
        draft: ToolDraft,
        beside: Sequence[Tool],
        refused: set[str],
        *,
        alone: bool = False,
    ) -> ImportFinding:
        """`refused` gets the name of a tool that others can't import."""
        try:
            if draft.name in offer.cyclic:
                circle = ", ".join(sorted(offer.cyclic))
                raise SynthesisFailed(
                    f"{draft.name}: these tools import each other in a circle: {circle}",
                    "the author has to break the circle",
                )
            if missing := sorted(imported_names(draft.code) & refused):
                raise SynthesisFailed(
                    f"{draft.name} imports {missing[0]}, which is not accepted", _REFUSED
                )
            if not alone and (present := await self._present(draft)):
                return present
            if draft.lock and draft.lock.packages and not offer.installs:
                refused.add(draft.name)
                return _asking(draft.name, draft.lock)
            verdict = await self._verdict(draft, beside, alone=alone)
        except (SynthesisFailed, LibraryError) as error:
            refused.add(draft.name)
            return refusal(draft.name, error)
        return _passed(draft, verdict, offer.receipts.get(draft.name))

    async def _present(self, draft: ToolDraft) -> ImportFinding | None:
        """The finding on a tool whose name is taken. Raises: LibraryError: the name or the files
        can't be used.
        """
        try:
            await self._library.check(draft)
            return None
        except ToolExists as error:
            library_tool = await self._library.get(draft.name)
            if has_same_sources(library_tool, draft):
                return ImportFinding(name=draft.name, outcome="present")
            return refusal(
                draft.name,
                ToolExists(
                    f"{error.message}, with other code or tests",
                    "yours stays; to take the other one, remove yours first",
                ),
            )

    async def _verdict(
        self, draft: ToolDraft, beside: Sequence[Tool], *, alone: bool = False
    ) -> Verdict:
        """Raises: SynthesisFailed, SandboxError."""
        pinned = await self._pinned(draft, beside)
        code_by_name = {tool.name: tool.code for tool in beside}
        modules = {
            pin.name: code_by_name.get(pin.name)
            or (await self._library.version(*dict(pin).values())).code
            for pin in pinned.requires
        }
        judged = json.dumps([draft.model_dump(mode="json"), modules, alone], sort_keys=True)
        if (key := hashlib.sha256(judged.encode()).hexdigest()) not in self._verdicts:
            self._verdicts[key] = await self.examine(pinned, beside, alone=alone)
            while len(self._verdicts) > _MOST_VERDICTS:
                del self._verdicts[next(iter(self._verdicts))]
        return self._verdicts[key]

    async def _as_imported(
        self, offer: ImportOffer, draft: ToolDraft, file: str, verdict: Verdict
    ) -> tuple[ToolDraft, Provenance]:
        signer = offer.signer
        imported = Imported(
            file=one_line(file)[:_LONGEST_NAME],
            signer=signer.fingerprint,
            signer_name="this instance" if signer.status == "own" else signer.name,
        )
        stored_import = imported.model_copy(update={"requests": draft.example_requests})
        pinned = await self._pinned(draft, ())
        update = {"example_requests": (), "imported": stored_import}
        provenance = Provenance(origin=imported, verdict=verdict)
        return pinned.model_copy(update=update), provenance

    async def _added(self, offer: ImportOffer, draft: ToolDraft, file: str) -> ImportFinding:
        try:
            verdict = await self._verdict(draft, ())
            tool = await self._library.add(*await self._as_imported(offer, draft, file, verdict))
        except (SynthesisFailed, LibraryError) as error:
            return refusal(draft.name, error)
        return ImportFinding(name=tool.name, outcome="added", detail=tool.description)

    async def _pinned(self, draft: ToolDraft, beside: Sequence[Tool]) -> ToolDraft:
        tools = Importable([*await self._library.tools(), *beside])
        return draft.model_copy(update={"requires": tools.requires(draft.code)})


def _ordered(tools: Sequence[ToolDraft]) -> tuple[tuple[ToolDraft, ...], frozenset[str]]:
    """The tools, each after those that it imports, and the names of those in a circle."""
    by_name = {tool.name: tool for tool in tools}
    needs = {name: imported_names(tool.code) & set(by_name) for name, tool in by_name.items()}
    cyclic: set[str] = set()
    while True:
        graph = {name: sorted(needs[name] - cyclic) for name in by_name if name not in cyclic}
        try:
            order = (*sorted(cyclic), *TopologicalSorter(graph).static_order())
        except CycleError as error:
            cyclic |= set(error.args[1])
        else:
            return tuple(by_name[name] for name in order), frozenset(cyclic)


def _offered(draft: ToolDraft, names: set[str]) -> ToolWords:
    return ToolWords(
        name=draft.name,
        signature=str(draft.signature),
        description=draft.description,
        parameters={p.name: p.description for p in draft.signature.parameters},
        example_requests=draft.example_requests,
        model=draft.model,
        packages=packages_of([draft.code], draft.lock),
        network=(
            *(f"{access}: {one_line(access.purpose)}" for access in draft.network),
            *filter(None, [str(draft.limits)]),
        ),
        imports=tuple(sorted(imported_names(draft.code) & names)),
        code=draft.code,
        tests=draft.tests,
    )


def _passed(draft: ToolDraft, verdict: Verdict, receipt: Receipt | None) -> ImportFinding:
    outcome: ReceiptOutcome = "reproduced"
    words, ours = "its receipt is reproduced", Receipt.of(draft, verdict)
    if not receipt:
        outcome, words = "missing", "the file has no receipt of it"
    elif differences := receipt.differences(ours):
        outcome, words = "differs", f"its receipt differs: {', '.join(differences)}"
    if receipt and receipt.image != ours.image:
        images = f"{receipt.image or 'an unknown one'} there, {ours.image or 'an unknown one'} here"
        words += f" (in another image: {images})"
    detail = one_line(f"{len(verdict.tests)} of {len(verdict.tests)} tests passed; {words}")
    return ImportFinding(name=draft.name, outcome="passed", receipt=outcome, detail=detail)


def _asking(name: str, lock: PackageLock) -> ImportFinding:
    """Names and versions only: what else a bundle says of packages is its author's word."""
    packages = ", ".join(package.key for package in lock.packages)
    return ImportFinding(
        name=name,
        outcome="asks",
        detail=f"its check installs the packages {packages}; allow them, and check again",
        kind="internal",
        cause="consent",
        values={"name": name, "needs": packages},
    )


def has_same_sources(tool: ToolDraft, draft: ToolDraft) -> bool:
    """Whether they do the same, and need the same consents."""
    same = {"code", "tests", "network", "limits"}
    return tool.model_dump(include=same) == draft.model_dump(include=same)


def refusal(name: str, error: AgentError) -> ImportFinding:
    """The finding on a tool, or an index, that an error refuses."""
    remedy = f"; {error.remedy}" if error.remedy else ""
    return ImportFinding(
        name=name,
        outcome="refused",
        detail=f"{error.message}{remedy}",
        kind=error.kind,
        cause=error.cause,
        values=error.values,
    )
