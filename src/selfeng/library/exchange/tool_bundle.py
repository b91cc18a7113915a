"""Bundles: tools of a library in a zip file, to be carried to another one.

`bundle.json` describes the tools and has the digests of their files, `tools/NAME.py` and
`tools/test_NAME.py`; `signature.json` is an Ed25519 signature of the bytes of `bundle.json`. A
bundle that is read is somebody's words: nothing of it is run or unpacked to disk, signatures are
read from the code, and any member or byte that does not belong there refuses the whole file.
"""

import ast
import hashlib
import io
import json
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, NoReturn, TypeVar, cast

from pydantic import Field, ValidationError

from selfeng.core.composition import packages_of
from selfeng.core.errors import RequestError
from selfeng.core.files import MB, zipped
from selfeng.core.http import Exchange, NetworkAccess
from selfeng.core.package_lock import Package, PackageLock
from selfeng.core.provenance import ToolVersion
from selfeng.core.signature import SignatureError, parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.core.value import Value, first_problem
from selfeng.core.verdict import MUTANT_SEED, Alterations, CallLimits, TestOutcome, Verdict
from selfeng.core.visible import one_line
from selfeng.core.words import count
from selfeng.library.exchange.signing import DetachedSignature

LARGEST = 8 * MB
"""Bytes of a bundle."""
MOST = 500
"""Tools of a bundle."""
_LARGEST_DESCRIPTION, _LARGEST_SOURCE = 2 * MB, MB // 2
_LARGEST_UNPACKED = 32 * MB
_DESCRIPTION, _SIGNATURE, _REPRODUCED = "bundle.json", "signature.json", "reproduced.json"
_MEMBER = re.compile(r"tools/[a-z][a-z0-9_]{0,63}\.py", re.ASCII)
INDEX = "index.json"
_LATER = ("network", "exchanges", "lock", "limits", "release", "receipt")
_REMEDY = "use a file that `selfeng export --as bundle` wrote, as it was written"

V = TypeVar("V", bound=Value)

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,49}$")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Words = Annotated[str, Field(max_length=1000)]
_DIFFERENCES = 10
"""Of a receipt, that are named."""


class Receipt(Value):
    """The verdict of a library's gate on a tool, for others to reproduce."""

    code: Digest
    tests: Digest
    image: Annotated[str, Field(max_length=200)]
    """The image of its sandbox; "" if that is not known."""
    results: Annotated[dict[Words, TestOutcome], Field(max_length=5000)]
    """Outcomes by the names of the tests."""
    strength: Alterations | None = None
    """None if it was not measured."""
    seed: int = MUTANT_SEED

    @classmethod
    def of(cls, tool: ToolDraft, verdict: Verdict) -> "Receipt":
        return cls(
            code=_digest(tool.code.encode()),
            tests=_digest(tool.tests.encode()),
            image=verdict.image,
            results={result.test: result.outcome for result in verdict.tests},
            strength=verdict.strength,
        )

    def differences(self, here: "Receipt") -> tuple[str, ...]:
        """How what this gate finds for the same tool differs from it, in words."""
        pairs = [
            (f"{test} {self.results.get(test, 'missing')}", here.results.get(test, "missing"))
            for test in sorted({*self.results, *here.results})
            if self.results.get(test) != here.results.get(test)
        ]
        if self.strength and (self.strength, self.seed) != (here.strength, here.seed):
            pairs.append((_strength(self), _strength(here)))
        return tuple(f"{its} there, {ours} here" for its, ours in pairs[:_DIFFERENCES])


def _strength(receipt: Receipt) -> str:
    if not (its := receipt.strength):
        return "its alterations not counted"
    return f"{its.noticed} of {its.tried} alterations noticed with seed {receipt.seed}"


class BundledTool(Value):
    """The description of a tool in `bundle.json`."""

    name: Name
    description: Words
    parameters: Annotated[dict[str, Words], Field(max_length=100)]
    """Descriptions by name; everything else of the signature is in the code."""
    example_requests: Annotated[tuple[Words, ...], Field(max_length=50)]
    model: Annotated[str, Field(max_length=200)]
    packages: Annotated[tuple[Annotated[str, Field(max_length=100)], ...], Field(max_length=100)]
    """For people: the packages that its code imports, as in `numpy==2.4.6`."""
    code: Digest
    tests: Digest
    network: Annotated[tuple[NetworkAccess, ...], Field(max_length=20)] = ()
    exchanges: Annotated[tuple[Exchange, ...], Field(max_length=100)] = ()
    """Those of probes, which the tests replay."""
    lock: PackageLock | None = None
    limits: CallLimits = CallLimits()
    release: Annotated[int, Field(ge=0)] = 0
    """Its version where it was exported; 0 if that has none."""
    receipt: Receipt | None = None


class Reproductions(Value):
    """`reproduced.json`: signatures of instances whose gates reproduced the receipts, see
    `reproduced_by`.
    """

    signatures: Annotated[tuple[DetachedSignature, ...], Field(max_length=20)]


class BundleDescription(Value):
    """`bundle.json`."""

    format: Literal["selfeng bundle"] = "selfeng bundle"
    version: Literal[1] = 1
    tools: Annotated[tuple[BundledTool, ...], Field(min_length=1, max_length=MOST)]


class IndexedTool(Value):
    """The entry of a tool in an index."""

    name: Name
    version: Annotated[int, Field(ge=1)]
    sha256: Digest
    """Of the bundle."""
    bundle: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.zip$")]
    """Its file, beside the index."""


class ToolIndex(Value):
    """`index.json`: the tools that a library publishes, each after those that it imports."""

    format: Literal["selfeng index"] = "selfeng index"
    version: Literal[1] = 1
    tools: Annotated[tuple[IndexedTool, ...], Field(max_length=MOST)] = ()


class ToolBundle(Value):
    """A bundle that was read."""

    tools: tuple[ToolDraft, ...]
    """In the order of the file, with signatures from their code and without requirements."""
    signed: bytes
    """The bytes that `signature` signs."""
    signature: DetachedSignature | None
    reproductions: tuple[DetachedSignature, ...]
    """Of `reproduced_text(signed)`."""
    releases: Mapping[str, int]
    """By the tool's name."""
    receipts: Mapping[str, Receipt]
    digest: str
    """sha256 of the file."""


def write_bundle(
    tools: Sequence[ToolDraft],
    sign: Callable[[bytes], DetachedSignature] | None,
    versions: Mapping[str, ToolVersion] = MappingProxyType({}),
) -> bytes:
    """A bundle with these tools, signed by `sign`; with the numbers of their `versions`, by name,
    and receipts of the verdicts on them. Raises: RequestError: it would be too large to be read.
    """
    if len(tools) > MOST:
        raise RequestError(
            f"{count(len(tools), 'tool')} are too many for one bundle",
            f"name at most {MOST} tools, and make several bundles",
        )
    described = BundleDescription(
        tools=tuple(_described(tool, versions.get(tool.name)) for tool in tools)
    )
    described_tools = described.model_dump(mode="json")
    for entry in described_tools["tools"]:
        for field in _LATER:  # which older programs don't know
            if not entry[field] or entry[field] == CallLimits().model_dump():
                del entry[field]
    text = json.dumps(described_tools, ensure_ascii=False, indent=1) + "\n"
    files = {_DESCRIPTION: text}
    if sign:
        files[_SIGNATURE] = json.dumps(sign(text.encode()).model_dump(), indent=1) + "\n"
    for tool in tools:
        code, tests = _files(tool.name)
        files |= {code: tool.code, tests: tool.tests}
    packed = zipped(files)
    if len(packed) > LARGEST or sum(map(len, files.values())) > _LARGEST_UNPACKED:
        raise RequestError(
            f"the bundle has more than {LARGEST // MB} MB", "name fewer tools for one bundle"
        )
    return packed


def reproduced_text(signed: bytes) -> bytes:
    """The bytes that a reproduction signs; no bundle's own signature is of the same."""
    return b"reproduced\n" + signed


def reproduced(content: bytes, sign: Callable[[bytes], DetachedSignature]) -> bytes:
    """The bundle with one more signature of who reproduced its receipts. Raises: RequestError."""
    bundle, members = read_bundle(content), _members(content)
    signature = sign(reproduced_text(bundle.signed))
    earlier = [s for s in bundle.reproductions if s.key != signature.key]
    signatures = Reproductions(signatures=(*earlier, signature))
    return zipped({**members, _REPRODUCED: signatures.model_dump_json(indent=1).encode()})


def read_index(content: bytes) -> ToolIndex:
    """Raises: RequestError: it is not an index."""
    return _parsed(ToolIndex, INDEX, content, "`selfeng publish` writes such a file")


def folder_bundle(folder: Path, without: Collection[str]) -> bytes:
    """An unsigned bundle of the tools whose files are in a folder; what their functions say of
    themselves are the descriptions. Files that define no tool are left out, and so are the tools
    `without` and those after the first 500.

    Raises: RequestError: there are none.
    """
    drafts = (_draft_in(folder, path.name[5:-3]) for path in sorted(folder.glob("test_*.py")))
    tools = [draft for draft in drafts if draft and draft.name not in without][:MOST]
    if not tools:
        raise RequestError(
            f"{folder} has no files NAME.py and test_NAME.py of other tools", "name another folder"
        )
    return write_bundle(tools, None)


def _draft_in(folder: Path, name: str) -> ToolDraft | None:
    """The tool of that name as its files define it; None if they don't."""
    try:
        code, tests = ((folder / Path(file).name).read_bytes().decode() for file in _files(name))
        signature = parse_signature(code, name)
        functions = [n for n in ast.parse(code).body if getattr(n, "name", "") == name]
        docstring = ast.get_docstring(cast(ast.FunctionDef, functions[-1])) or ""
        description = " ".join(docstring.partition("\n\n")[0].split())
        draft = ToolDraft(
            name=name, description=description, signature=signature, code=code, tests=tests
        )
        _described(draft)
    except (OSError, ValueError, SignatureError):
        return None
    return draft


def read_bundle(content: bytes) -> ToolBundle:
    """The tools of a bundle. Raises: RequestError: it is no bundle, or something in it is not
    as `write_bundle` writes it.
    """
    members = _members(content)
    if _DESCRIPTION not in members:
        _refuse(f"the file has no {_DESCRIPTION}")
    description = _parsed(BundleDescription, _DESCRIPTION, members[_DESCRIPTION])
    signature = (
        _parsed(DetachedSignature, _SIGNATURE, members[_SIGNATURE])
        if _SIGNATURE in members
        else None
    )
    reproductions = (
        _parsed(Reproductions, _REPRODUCED, members[_REPRODUCED]).signatures
        if _REPRODUCED in members
        else ()
    )
    names = [tool.name for tool in description.tools]
    if twice := next((name for name in names if names.count(name) > 1), None):
        _refuse(f"the bundle has two tools named {twice}")
    expected_members = {file for name in names for file in _files(name)} | {
        _DESCRIPTION,
        _SIGNATURE,
        _REPRODUCED,
    }
    if extra := sorted(set(members) - expected_members):
        _refuse(f"{extra[0]} belongs to no tool of the bundle")
    return ToolBundle(
        tools=tuple(_draft(tool, members) for tool in description.tools),
        signed=members[_DESCRIPTION],
        signature=signature,
        reproductions=reproductions,
        releases={tool.name: tool.release for tool in description.tools},
        receipts={tool.name: tool.receipt for tool in description.tools if tool.receipt},
        digest=hashlib.sha256(content).hexdigest(),
    )


def _described(tool: ToolDraft, version: ToolVersion | None = None) -> BundledTool:
    verdict = version and version.provenance.verdict
    return BundledTool(
        name=tool.name,
        description=tool.description,
        parameters={p.name: p.description for p in tool.signature.parameters},
        example_requests=tool.example_requests,
        model=tool.model,
        packages=packages_of([tool.code], tool.lock),
        code=_digest(tool.code.encode()),
        tests=_digest(tool.tests.encode()),
        network=tool.network,
        exchanges=tool.replays,
        lock=tool.lock,
        limits=tool.limits,
        release=version.version if version else 0,
        receipt=verdict and Receipt.of(tool, verdict),
    )


def _members(content: bytes) -> dict[str, bytes]:
    if len(content) > LARGEST:
        raise RequestError(
            f"the file has {len(content):,} bytes", f"a bundle has at most {LARGEST:,}"
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            listed = packed.infolist()
            _check(listed)
            return {member.filename: _content(packed, member) for member in listed}
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        EOFError,
        OSError,
        ValueError,
        UnicodeDecodeError,
    ) as error:
        raise RequestError(f"the file is no bundle: {one_line(str(error))}", _REMEDY) from error


def _check(members: Sequence[zipfile.ZipInfo]) -> None:
    """Check everything that the archive says of its members before any of them is read. Raises:
    RequestError.
    """
    if len(members) > 2 * MOST + 3:
        _refuse(f"the file has {len(members):,} members")
    member_names: set[str] = set()
    for member in members:
        name = member.orig_filename  # `filename` is cut at a NUL
        if name not in (_DESCRIPTION, _SIGNATURE, _REPRODUCED) and not _MEMBER.fullmatch(name):
            _refuse(f"{name[:100]!r} can't be a file of a bundle")
        if name in member_names:
            _refuse(f"{name} is in the file twice")
        member_names.add(name)
        if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
            _refuse(f"{name} is a link or another special file")
        if member.flag_bits & 0x1:
            _refuse(f"{name} is encrypted")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            _refuse(f"{name} is compressed in a way that is not read")  # others have no bound
        largest = _LARGEST_DESCRIPTION if name == _DESCRIPTION else _LARGEST_SOURCE
        if member.file_size > largest:
            _refuse(f"{name} has {member.file_size:,} bytes, more than {largest:,}")
    if (size := sum(member.file_size for member in members)) > _LARGEST_UNPACKED:
        _refuse(f"the file unpacks to {size:,} bytes, more than {_LARGEST_UNPACKED:,}")


def _content(packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    with packed.open(member) as stream:  # gives at most the size that was checked
        content = stream.read()
    if len(content) != member.file_size:
        _refuse(f"{member.filename} has another size than the archive says")
    return content


def _parsed(kind: type[V], name: str, content: bytes, remedy: str = _REMEDY) -> V:
    try:
        return kind.model_validate_json(content, strict=False)
    except ValidationError as error:
        problem = one_line(f"{name}: {first_problem(error, '', secret=True)}")[:300]
        raise RequestError(problem, remedy) from error


def _draft(tool: BundledTool, members: Mapping[str, bytes]) -> ToolDraft:
    texts = []
    for file, digest in zip(_files(tool.name), (tool.code, tool.tests), strict=True):
        if file not in members:
            _refuse(f"{file} is missing")
        if _digest(members[file]) != digest:
            _refuse(f"{file} is not the file that {_DESCRIPTION} describes: its digest differs")
        try:
            texts.append(members[file].decode("utf-8"))
        except UnicodeDecodeError as error:
            _refuse(f"{file} is not UTF-8: {error.reason} at byte {error.start}", error)
    code, tests = texts
    try:
        signature = parse_signature(code, tool.name, tool.parameters)
    except SignatureError as error:
        _refuse(one_line(f"{_files(tool.name)[0]}: {error}"), error)
    return ToolDraft(
        name=tool.name,
        description=tool.description,
        signature=signature,
        code=code,
        tests=tests,
        example_requests=tool.example_requests,
        model=tool.model,
        network=tool.network,
        exchanges=tool.exchanges,
        lock=tool.lock and tool.lock.model_copy(update={"facts": _modules_of(tool.lock)}),
        limits=tool.limits,
    )


def _modules_of(lock: PackageLock) -> tuple[Package, ...]:
    """Other statements of a bundle about packages are not known here."""
    return tuple(Package(name=p.name, version=p.version, modules=p.modules) for p in lock.facts)


def _files(name: str) -> tuple[str, str]:
    return f"tools/{name}.py", f"tools/test_{name}.py"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _refuse(problem: str, cause: Exception | None = None) -> NoReturn:
    raise RequestError(problem, _REMEDY) from cause
