"""Bundles as their author writes them, and as an attacker would."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from selfeng.core.package_lock import PackageLock
from selfeng.core.provenance import Provenance, ToolVersion
from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.core.verdict import Verdict
from selfeng.library.exchange.signing import SigningKeys
from selfeng.library.exchange.tool_bundle import write_bundle

CODE = "def reverse_text(text: str) -> str:\n    return text[::-1]\n"
TESTS = (
    "from reverse_text import reverse_text\n\n\n"
    "def test_order():\n    assert reverse_text('ab') == 'ba'\n\n\n"
    "def test_palindrome():\n    assert reverse_text('level') == 'level'\n"
)


def draft(name: str = "reverse_text", code: str = "", tests: str = "", **more: Any) -> ToolDraft:
    code = code or CODE.replace("reverse_text", name)
    return ToolDraft(
        name=name,
        code=code,
        tests=tests or TESTS.replace("reverse_text", name),
        **{
            "signature": parse_signature(code, name, {"text": "Any text."}),
            "description": f"Does what {name} says.",
            "example_requests": (f"please {name.replace('_', ' ')} abc",),
            "model": "gpt-4",
            **more,
        },
    )


def version(tool: ToolDraft, verdict: Verdict | None = None, number: int = 3) -> ToolVersion:
    """The tool as a version of its author's library."""
    return ToolVersion(
        **dict(tool),
        version=number,
        digest="",
        created_at=datetime(2026, 11, 30, tzinfo=UTC),
        provenance=Provenance(verdict=verdict),
    )


LOCK = PackageLock(
    requirements=("humanize>=4",), text=f"humanize==4.9.0 \\\n    --hash=sha256:{'0' * 64}\n"
)


def authors_keys(folder: Path) -> SigningKeys:
    return SigningKeys(folder / "author")


def bundle(folder: Path, *drafts: ToolDraft) -> bytes:
    return write_bundle(drafts or (draft(),), authors_keys(folder).sign)


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def packed(
    files: Iterable[tuple[str | zipfile.ZipInfo, bytes]], method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as written:
        for name, text in files:
            written.writestr(name, text)
    return content.getvalue()


def redescribed(content: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The bundle with another description, not signed."""
    files = members(content)
    described = json.loads(files["bundle.json"])
    change(described)
    files["bundle.json"] = json.dumps(described).encode()
    del files["signature.json"]
    return packed(files.items())


def unsigned(name: str, code: bytes, tests: bytes = TESTS.encode()) -> bytes:
    """A bundle of one tool that nobody signed, whatever its files are; the digests fit."""
    described = {
        "format": "selfeng bundle",
        "version": 1,
        "tools": [
            {
                "name": name,
                "description": f"Does what {name} says.",
                "parameters": {},
                "example_requests": [],
                "model": "",
                "packages": [],
                "code": hashlib.sha256(code).hexdigest(),
                "tests": hashlib.sha256(tests).hexdigest(),
            }
        ],
    }
    return packed(
        {
            "bundle.json": json.dumps(described).encode(),
            f"tools/{name}.py": code,
            f"tools/test_{name}.py": tests,
        }.items()
    )
