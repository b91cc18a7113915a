"""Errors: each has a kind and a cause for which the page has words in every language."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import selfeng
import web
from selfeng.core.errors import CAUSES, AgentError, FailureCause, FailureKind
from selfeng.core.value import TextCode

LOCALES = Path(web.__file__).parent / "static" / "locales"


def classes(kind: type[AgentError] = AgentError) -> Iterator[type[AgentError]]:
    yield kind
    for inner in kind.__subclasses__():
        yield from classes(inner)


def raised() -> Iterator[tuple[str, str]]:
    """Kind and cause of each class, and of each call of one that names a cause."""
    modules = []
    for package in (selfeng, web):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                modules.append(importlib.import_module(found.name))
    yield from ((one.kind, one.cause) for one in classes() if one.cause)
    for module in modules:
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            kind = getattr(module, node.func.id, None)
            causes = [k.value for k in node.keywords if k.arg == "cause"]
            if isinstance(kind, type) and issubclass(kind, AgentError):
                yield from (
                    (kind.kind, str(c.value)) for c in causes if isinstance(c, ast.Constant)
                )


def test_each_error_has_a_cause_of_its_kind():
    pairs = set(raised())
    assert {(kind, cause) for kind, causes in CAUSES.items() for cause in causes} >= pairs
    assert len(pairs) > 25
    assert set(CAUSES) == set(get_args(FailureKind))
    assert {"", *(cause for causes in CAUSES.values() for cause in causes)} == set(
        get_args(FailureCause)
    )


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_page_has_a_sentence_for_each_text_and_each_text_is_said(language: str):
    text = (LOCALES / f"{language}.ftl").read_text("utf-8")
    codes = set(get_args(TextCode)) - {""}
    assert set(re.findall(r"^said-(\w+)", text, re.MULTILINE)) == codes
    source = "".join(
        path.read_text("utf-8") for path in Path(selfeng.__file__).parent.rglob("*.py")
    )
    assert {code for code in codes if source.count(f'"{code}"') < 2} == set()  # TextCode itself


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_page_has_a_sentence_and_a_remedy_for_each_cause(language: str):
    text = (LOCALES / f"{language}.ftl").read_text("utf-8")
    messages = set(re.findall(r"^([\w-]+) =", text, re.MULTILINE))
    titles = {f"cause-{kind}" for kind in CAUSES} | {
        f"cause-{kind}-{cause}"
        for kind, causes in CAUSES.items()
        for cause in causes
        if cause != "said"  # the message itself is for the person
    }
    assert titles - messages == set()
    assert {f"remedy-{kind}" for kind in CAUSES} - messages == set()
    assert {m for m in messages if re.match(r"cause-(?!at|raised|other)", m)} == titles
