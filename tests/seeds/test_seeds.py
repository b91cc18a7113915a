"""The seed tools as shipped: their files, their records, and that their suites hold."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from selfeng.core.tool import ToolDraft
from selfeng.seeds import FOLDER, load_seeds
from selfeng.seeds.recipe_file import read_recipes
from selfeng.synthesis.checks import module_problem, suite_problem
from selfeng.synthesis.stubs import stub

SEEDS = load_seeds()
PLAIN = [seed for seed in SEEDS if not seed.network]
"""Those that send nothing: plain pytest has no answers of hosts."""
each_seed = pytest.mark.parametrize("seed", SEEDS, ids=[s.name for s in SEEDS])


def run_suites(folder: Path, modules: dict[str, str]) -> Counter[str]:
    """Run every suite with plain pytest, as somebody does who has nothing but the two files of each
    tool.
    """
    for seed in PLAIN:
        (folder / f"{seed.name}.py").write_text(modules[seed.name], encoding="utf-8")
        (folder / f"test_{seed.name}.py").write_text(seed.tests, encoding="utf-8")
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


def test_every_suite_passes_on_its_seed(tmp_path: Path) -> None:
    outcomes = run_suites(tmp_path, {s.name: s.code for s in PLAIN})
    assert outcomes == {"passed": sum(s.tests.count("\ndef test_") for s in PLAIN)}


def test_every_test_fails_on_a_stub(tmp_path: Path) -> None:
    outcomes = run_suites(tmp_path, {s.name: stub(s.signature) for s in PLAIN})
    assert outcomes == {"failure": sum(s.tests.count("\ndef test_") for s in PLAIN)}


def test_there_are_enough_seeds_and_no_stray_files() -> None:
    assert {path.suffix for path in FOLDER.iterdir() if path.is_file()} == {".md", ".py"}
    assert [path.stem for path in sorted(FOLDER.glob("[!R]*.md"))] == [s.name for s in SEEDS]
    assert len(SEEDS) >= 12


@pytest.mark.parametrize("text", ["# other\n\n```toml\n```\n", "# double\n\nDoubles.\n", ""])
def test_a_file_that_is_no_recipe_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "double.md").write_text(text, encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"double\.md must begin with `# double` and a block of TOML"
    ):
        read_recipes(tmp_path)


def test_the_reference_conversation_needs_a_percentage_and_lacks_a_reversal() -> None:
    names = [seed.name for seed in SEEDS]
    assert "calculate_percentage" in names
    assert [name for name in names if "reverse" in name] == []


@each_seed
def test_seed_passes_the_checks_of_generated_tools(seed: ToolDraft) -> None:
    assert module_problem(seed.code, seed.signature) is None
    assert suite_problem(seed.tests, seed.name) is None


@each_seed
def test_seed_is_described(seed: ToolDraft) -> None:
    assert len(set(seed.example_requests)) == 5
    assert seed.description.endswith(".")
    assert [
        p.name for p in seed.signature.parameters if not p.description or p.annotation == "Any"
    ] == []
    assert seed.model == ""
    assert seed.name not in sys.stdlib_module_names


@each_seed
def test_seed_has_at_least_five_tests(seed: ToolDraft) -> None:
    assert seed.tests.count("\ndef test_") >= 5


def test_what_they_may_do_is_read_the_host_of_their_url() -> None:
    needs = {s.name: [str(access) for access in s.network] for s in SEEDS if s.network}
    assert needs == {
        "fetch_feed": ["GET https://{url}/"],
        "fetch_json": ["GET https://{url}/"],
        "fetch_table": ["GET https://{url}/"],
        "query_database": ["GET postgresql://{url}/"],
        "read_page_text": ["GET https://{url}/"],
    }


def test_every_exchange_is_within_what_a_call_may_do() -> None:
    for seed in SEEDS:
        for exchange in seed.exchanges:
            (access,) = seed.network[0].at(exchange.request.url)
            assert access.covers(exchange.request)
