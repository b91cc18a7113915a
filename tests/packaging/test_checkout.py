"""A checkout in which requirements.txt is installed, and the package itself is not: each file that
people start or import finds it.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from uv import find_uv_bin

from selfeng.core.places import VERSION
from selfeng.core.settings import Settings
from tests.home import ROOT, Home

NAMES = {
    "capability_registry": "CapabilityRegistry",
    "executor": "ToolExecutor Executor",
    "llm_client": "LLMClient",
    "orchestrator": "AgentOrchestrator Orchestrator",
    "response_synthesizer": "ResponseSynthesizer",
    "sandbox": "SecureSandbox",
    "synthesis_engine": "CapabilitySynthesisEngine SynthesisEngine",
}
IMPORTED = """
import importlib, json, logging, sys, threading
same = {}
for module, names in json.loads(sys.argv[1]).items():
    door = importlib.import_module(f"src.{module}")
    objects = [getattr(door, name) for name in names.split()]
    part = sys.modules[objects[0].__module__]
    same[module] = {*map(id, objects)} == {id(getattr(part, objects[0].__name__))}
copies = [name for name in sys.modules if name.startswith("src.selfeng")]
print(json.dumps([same, copies, len(logging.root.handlers), threading.active_count()]))
"""
CONFIG = """
import json
from config import Config
assert Config.validate()
print(json.dumps({name: getattr(Config, name) for name in dir(Config) if name.isupper()}))
"""
CHILD = """
import src, subprocess, sys
from selfeng.core.places import child_environment
code = "import sys, selfeng.core.packages as found; print([found.__name__])"
command = [sys.executable, "-P", "-c", code]
print(subprocess.check_output(command, env=child_environment(), text=True), end="")
"""
LIBRARY = """
import os, src, config
from selfeng import Agent
config.Config
print(os.environ.get("OTEL_TRACES_EXPORTER"))
"""
DISTRIBUTION = "from importlib.metadata import version; version('selfeng')"
PROGRAM = "import src; from selfeng.cli.app import main; main()"
OPENAPI = """
import src
from flask import Flask
from web.operations import openapi
print(openapi(Flask("empty"))["info"]["version"])
"""
DOCUMENTED = {
    "OPENAI_MODEL": "small",
    "SIMILARITY_THRESHOLD": 0.5,
    "DOCKER_IMAGE_NAME": "self-eng-sandbox",
    "DOCKER_TIMEOUT": 30,
    "FLASK_HOST": "0.0.0.0",
    "FLASK_PORT": 5000,
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The project's files, and a Python that has this one's packages but for the project."""
    folder, base = tmp_path_factory.mktemp("bare"), getattr(sys, "_base_executable", sys.executable)
    subprocess.run([find_uv_bin(), "venv", "-q", "--python", base, folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    find = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(subprocess.check_output([python, "-c", find], text=True).strip())
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "selfeng" not in path.name and not (packages / path.name).exists():
            (packages / path.name).symlink_to(path)
    checkout = folder / "checkout"
    for name in ("docker", "src", "web"):
        shutil.copytree(ROOT / name, checkout / name)
    for name in ("config.py", "pyproject.toml", "seed_tools.py"):
        shutil.copy2(ROOT / name, checkout / name)
    return Home(checkout, python=str(python), place=checkout)


def printed(home: Home, *arguments: str, **more: str) -> str:
    """The output of the program; nothing goes to stderr."""
    ended = home.run(*arguments, **more)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_only_the_package_is_missing(home: Home) -> None:
    assert "No module named 'selfeng'" in home.run("-c", "import selfeng").stderr
    assert "PackageNotFoundError" in home.run("-c", DISTRIBUTION).stderr


def test_modules_are_imported_without_effect_and_give_the_parts_own_objects(home: Home) -> None:
    before = files(home)
    imported = json.loads(printed(home, "-c", IMPORTED, json.dumps(NAMES)))
    assert imported == [dict.fromkeys(NAMES, True), [], 0, 1]
    assert files(home) == before


def files(home: Home) -> set[Path]:
    return {path for path in home.folder.rglob("*") if path.suffix != ".pyc"}


def test_the_modules_of_the_folder_come_after_installed_ones(home: Home) -> None:
    assert printed(home, "-c", "import src, sys; print(sys.path[-1])") == f"{home.folder}/src\n"
    assert printed(home, "-c", "import src, autocoder, miniagents; print('ok')") == "ok\n"


def test_config_has_the_settings_by_the_names_of_their_variables(home: Home) -> None:
    lines = "OPENAI_API_KEY=sk-of-nobody\nOPENAI_MODEL=small\nSIMILARITY_THRESHOLD=0.5\nTOOLS_DIR=other\n"
    (home.folder / ".env").write_text(lines)
    environment = {k: v for k, v in os.environ.items() if k.lower() not in Settings.model_fields}
    command = [home.python, "-c", CONFIG]
    config = json.loads(subprocess.check_output(command, cwd=home.place, env=environment))
    (home.folder / ".env").unlink()
    assert config.keys() == {name.upper() for name in Settings.model_fields}
    expected = DOCUMENTED | {
        "OPENAI_API_KEY": "sk-of-nobody",
        "CHROMA_PERSIST_DIR": f"{home.folder}/chroma_db",
        "TOOLS_DIR": f"{home.folder}/other",
    }
    assert {name: config[name] for name in expected} == expected


@pytest.mark.extended
def test_programs_get_the_env_files_other_variables_and_an_import_does_not(home: Home) -> None:
    (home.folder / ".env").write_text("OTEL_TRACES_EXPORTER=nowhere\n")
    program = home.run("-c", PROGRAM, "tools")
    imported = printed(home, "-c", LIBRARY)
    (home.folder / ".env").unlink()
    assert "OTEL_TRACES_EXPORTER=nowhere: there is no such exporter" in program.stderr
    assert (program.returncode, imported) == (1, "None\n")


def test_a_child_finds_the_package(home: Home) -> None:
    assert printed(home, "-c", CHILD) == "['selfeng.core.packages']\n"


@pytest.mark.extended
def test_the_program_and_its_servers_tell_their_version(home: Home) -> None:
    assert printed(home, "-c", PROGRAM, "--version") == f"selfeng {VERSION}\n"
    assert printed(home, "-c", OPENAPI) == f"{VERSION}\n"


@pytest.mark.extended
def test_a_file_that_is_started_shows_its_part_at_work(home: Home) -> None:
    assert home.run("src/response_synthesizer.py").stdout == "15% of 300 is 45.\n"


@pytest.mark.bubblewrap
def test_a_part_that_needs_the_sandbox_shows_itself_at_work(home: Home) -> None:
    shown = home.run("src/executor.py", SANDBOX="bubblewrap", PARTS_DIR=str(ROOT / "data"))
    assert shown.stdout == "calculate_percentage returned: 45\n"


def test_seeds_and_page_find_the_package(home: Home) -> None:
    nowhere = {"SANDBOX": "docker", "DOCKER_HOST": f"unix://{home.folder}/none.sock"}
    seeds = home.run("seed_tools.py", **nowhere)
    assert (seeds.returncode, "error: no Docker engine answers" in seeds.stderr) == (1, True)
    page = home.run("web/app.py", FLASK_HOST="192.0.2.1")
    assert (page.returncode, page.stderr.splitlines()[0]) == (
        1,
        "FLASK_HOST=192.0.2.1 is not an address of this machine",
    )
