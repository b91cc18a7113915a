"""The recipes as shipped: their sources, their specifications, and that all of it holds
together.
"""

import ast
import asyncio
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from selfeng.core.composition import Importable
from selfeng.core.packages import sandbox_packages
from selfeng.core.signature import parse_signature
from selfeng.core.spec import SpecificationReply
from selfeng.core.tool import ToolDraft
from selfeng.core.verdict import SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.seeds import load_seeds
from selfeng.synthesis.checks import module_problem, specification_problem, suite_problem
from selfeng.synthesis.stubs import stub
from selfeng_offline.cookbook.matching import matches
from selfeng_offline.cookbook.recipe import FOLDER, Recipe, recipe_for_tool, recipes
from selfeng_offline.cookbook.writing import recipe_of
from tests.doubles import registered

RECIPES = recipes()
each_recipe = pytest.mark.parametrize("recipe", RECIPES, ids=[r.name for r in RECIPES])


def tool_draft(recipe: Recipe) -> ToolDraft:
    spec = recipe.specification
    return ToolDraft(
        name=spec.name,
        description=spec.description,
        signature=recipe.signature,
        code=recipe.code,
        tests=recipe.tests,
    )


def imports(source: str) -> set[str]:
    """Top-level modules that a source imports."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        found |= {n.name for n in node.names} if isinstance(node, ast.Import) else set()
        found |= {node.module or ""} if isinstance(node, ast.ImportFrom) else set()
    return {name.partition(".")[0] for name in found}


TOOLS = Importable(registered(tool_draft(r)) for r in RECIPES if not r.steps)
SENDING = {seed.name for seed in load_seeds() if seed.network}
"""Their suites are in tests/seeds."""
PLAIN = [
    r for r in RECIPES if not imports(r.code) & set(sandbox_packages()) and r.name not in SENDING
]
"""Recipes that need the standard library only; the packages of the others are in the sandbox, and
need not be here.
"""
OTHERS = [r for r in RECIPES if r not in PLAIN and r.name not in SENDING]


def run_suites(folder: Path, modules: dict[str, str]) -> Counter[str]:
    """Run every suite against the given modules in one process; how many tests passed and
    failed.
    """
    for recipe in PLAIN:
        (folder / f"{recipe.name}.py").write_text(modules[recipe.name], encoding="utf-8")
        (folder / f"test_{recipe.name}.py").write_text(recipe.tests, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:asyncio",
        f"--junitxml={folder}/report.xml",
    ]
    subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=100)
    cases = ET.parse(folder / "report.xml").iter("testcase")
    return Counter("passed" if len(case) == 0 else case[0].tag for case in cases)


def test_every_suite_passes_on_its_code(tmp_path: Path) -> None:
    outcomes = run_suites(tmp_path, {r.name: r.code for r in PLAIN})
    assert set(outcomes) == {"passed"}
    assert outcomes.total() == sum(r.tests.count("\ndef test_") for r in PLAIN)


def test_every_test_fails_on_a_stub(tmp_path: Path) -> None:
    outcomes = run_suites(tmp_path, {r.name: stub(r.signature) for r in PLAIN})
    assert set(outcomes) == {"failure"}
    assert outcomes.total() == sum(r.tests.count("\ndef test_") for r in PLAIN)


@pytest.mark.extended
@pytest.mark.docker
async def test_suites_of_recipes_that_need_packages_pass_in_the_sandbox_and_fail_there_on_a_stub() -> (
    None
):
    assert [r.name for r in OTHERS] == ["chart_csv_file", "plot_csv_columns"]
    sandbox = SecureSandbox(timeout=60)
    await asyncio.to_thread(sandbox.build_image)
    try:
        for recipe in OTHERS:
            verdict = await sandbox.verify(
                SandboxJob(recipe.name, recipe.code, recipe.tests), lambda _: None
            )
            assert (verdict.passed, verdict.problem) == (True, None), [
                t for t in verdict.tests if t.message
            ]
            red = await sandbox.verify(
                SandboxJob(recipe.name, stub(recipe.signature), recipe.tests), lambda _: None
            )
            assert {t.outcome for t in red.tests} == {"failed"}
    finally:
        await sandbox.aclose()


def test_there_are_enough_recipes_and_no_stray_files() -> None:
    assert {
        path.suffix for path in (*FOLDER.iterdir(), *(FOLDER.parent / "projects").iterdir())
    } == {".md"}
    assert len(RECIPES) >= 91


def test_no_two_recipes_share_a_name_or_an_alias() -> None:
    names = Counter(name for r in RECIPES for name in (r.name, *r.aliases))
    assert [name for name, count in names.items() if count > 1] == []
    assert [
        name
        for name in names
        if name in sys.stdlib_module_names or not name.isidentifier() or len(name) > 40
    ] == []


@each_recipe
def test_specification_is_one_the_engine_accepts(recipe: Recipe) -> None:
    spec = recipe.specification
    reply = SpecificationReply(outcome="tool", message="", specification=spec)
    assert SpecificationReply.model_validate_json(reply.model_dump_json()) == reply
    assert specification_problem(spec) is None
    assert suite_problem(recipe.tests, recipe.name) is None
    assert module_problem(recipe.code, spec.signature(), TOOLS) is None


@each_recipe
def test_specification_has_the_signature_of_the_code(recipe: Recipe) -> None:
    descriptions = {p.name: p.description for p in recipe.signature.parameters}
    assert recipe.specification.signature() == parse_signature(
        recipe.code, recipe.name, descriptions
    )


@each_recipe
def test_specification_is_complete(recipe: Recipe) -> None:
    spec = recipe.specification
    assert len(spec.examples) >= 4
    assert len(set(spec.example_requests)) == 5
    assert len(spec.description) > 20
    assert all(
        text.endswith((".", "`"))
        for text in (spec.description, spec.returns_description, spec.errors)
    )
    assert [p.name for p in spec.parameters if not p.description] == []
    assert ("raises" in " ".join(e.result for e in spec.examples)) <= ("Error: " in spec.errors)


@each_recipe
def test_examples_are_asserted_in_the_suite(recipe: Recipe) -> None:
    suite = ast.unparse(ast.parse(recipe.tests))
    for example in recipe.specification.examples:
        wordings = (
            f"assert {example.call} == {example.result}\n",
            f"assert {example.call} is {example.result}\n",
            f"assert {example.call} == pytest.approx({example.result})\n",
            f"with pytest.{example.result.replace(' ', '(')}):\n        {example.call}\n",
        )
        assert any(wording in suite + "\n" for wording in wordings), example


@each_recipe
def test_suite_has_between_four_and_twelve_tests(recipe: Recipe) -> None:
    assert 4 <= recipe.tests.count("\ndef test_") <= 12


@each_recipe
def test_example_requests_ask_for_this_recipe_alone_and_leave_nothing_out(recipe: Recipe) -> None:
    for request in recipe.requests:
        assert [(m.recipe.name, m.missing) for m in matches(request)] == [(recipe.name, ())], (
            request
        )


@each_recipe
def test_specification_is_recognised_under_every_name(recipe: Recipe) -> None:
    taken: list[str] = []
    for _ in range(len(recipe.aliases) + 2):
        spec = recipe.specified(taken)
        assert spec.name not in taken
        assert recipe_of(spec.outline()) == recipe
        taken.append(spec.name)


def test_another_signature_is_not_recognised() -> None:
    spec = RECIPES[0].specification
    assert recipe_of(spec.model_copy(update={"returns": "int"}).outline()) is None
    assert recipe_of(spec.model_copy(update={"parameters": ()}).outline()) is None
    assert recipe_of(spec.model_copy(update={"name": "unheard_of"}).outline()) is None


def test_specification_is_read_from_docstring_and_asserts() -> None:
    recipe = recipe_for_tool("truncate_text")
    assert recipe is not None
    spec = recipe.specification
    assert (
        spec.description == "Truncate a text to a greatest length and mark the cut with an ending."
    )
    assert (
        spec.returns_description
        == "The text as it is where it is short enough, else its beginning with the ending."
    )
    assert spec.errors == "ValueError: The length is negative or shorter than the ending."
    assert (
        str(spec.signature()) == "truncate_text(text: str, length: int, ending: str = '...') -> str"
    )
    assert [p.description for p in spec.parameters] == [
        "The text to shorten.",
        "The greatest number of characters, the ending included.",
        "What stands at the end of a text that was cut.",
    ]
    assert [(e.call, e.result) for e in spec.examples][:2] == [
        ("truncate_text(text='hello wonderful world', length=10)", "'hello w...'"),
        ("truncate_text(text='hello', length=10)", "'hello'"),
    ]
    assert spec.examples[-1].result == "raises ValueError"
