"""The documents that the customer's request refers to, in a folder beside this one: their commands
and code run as they are written, with a copy of the project and only requirements.txt installed.
"""

import json
import re
import secrets
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import docker
import pytest
import requests
from uv import find_uv_bin

from selfeng.core.model_server import OPENAI
from selfeng.projects.project_context import CodeFile, Context
from selfeng_agents.graph import Graph
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from tests.home import ROOT, Home, serving

FOLDER = ROOT.parent / "shared" / "documents"
if not FOLDER.is_dir():
    pytest.skip(f"{FOLDER} is not on this machine", allow_module_level=True)
CRAFTER, ASSISTANT, AUTOCODER, FRAMEWORK = (
    next(FOLDER.glob(f"{number}_*.txt")).read_text() for number in ("000", "001", "002", "003")
)
KEY = "your_openai_api_key_here"


def blocks(document: str, language: str = r"\w*") -> list[str]:
    """The code blocks in this language, without their indentation."""
    found = re.findall(rf"^ *```(?:{language})\n(.*?)^ *```$", document, re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(block) for block in found]


def commands(document: str) -> list[str]:
    return [command for block in blocks(document, "bash") for command in statements(block)]


def statements(block: str) -> list[str]:
    return [line for line in block.splitlines() if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A copy of the project with the `.env` of the quick start, and an environment of its own."""
    folder = tmp_path_factory.mktemp("quick") / "Self-Engineering Agent Framework"
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in filter(None, subprocess.check_output(listed, cwd=ROOT, text=True).split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    if (ROOT / "node_modules").is_dir():
        (folder / "node_modules").symlink_to(ROOT / "node_modules")
    (environment,) = blocks(FRAMEWORK, "env")
    (folder / ".env").write_text((folder / ".env.example").read_text() + environment)
    venv, uv = folder.with_name("venv"), find_uv_bin()
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([uv, "venv", "-q", "--python", base, venv], check=True)
    python = str(venv / "bin" / "python")
    install = [uv, "pip", "install", "-q", "--python", python, "-r", "requirements.txt"]
    subprocess.run(install, cwd=folder, check=True)
    return Home(folder, python=python, place=folder)


@pytest.fixture(scope="module")
def model() -> Iterator[dict[str, str]]:
    """The variable that leads to a server with the key and the model of the quick start."""
    with OfflineServer(Cookbook(), model="gpt-4", api_key=KEY, delay=0) as server:
        yield {"OPENAI_BASE_URL": server.base_url}


@pytest.fixture(scope="module")
def image() -> Iterator[dict[str, str]]:
    """The variable with a name of the image that no other checkout on this machine has."""
    name = f"self-eng-sandbox-{secrets.token_hex(4)}"
    yield {"DOCKER_IMAGE_NAME": name}
    with closing(docker.from_env()) as engine:
        engine.images.remove(name, force=True)


def done(home: Home, command: str, **more: str) -> str:
    """The output of the command line, which must succeed."""
    path = f"{Path(home.python).parent}:/usr/local/bin:/usr/bin:/bin"
    ended = subprocess.run(
        ["bash", "-c", command],
        cwd=home.place,
        env=home.environment(PATH=path, **more),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, (command, ended.stdout, ended.stderr)
    assert "Traceback" not in ended.stderr
    return ended.stdout


def test_the_commands_of_the_quick_start_are_these() -> None:
    """So that no command is left out below."""
    image, seeds, page, *parts = commands(FRAMEWORK)[2:]
    assert commands(FRAMEWORK)[:2] == [
        'cd "Self-Engineering Agent Framework"',
        "pip install -r requirements.txt",
    ]
    assert "build_image" in image
    assert (seeds, page) == ("python seed_tools.py", "python web/app.py")
    assert [part.partition(" ")[0] for part in parts] == [*["python"] * 5, "cd", "pytest"]


@pytest.mark.docker
def test_the_image_is_built_by_the_one_line(home: Home, image: dict[str, str]) -> None:
    assert done(home, commands(FRAMEWORK)[2], **image) == ""


def test_the_modules_of_the_project_structure_are_imported_silently(home: Home) -> None:
    listed = FRAMEWORK.partition("├── src/")[2].partition("├── tools/")[0]
    modules = re.findall(r"(\w+)\.py", listed)
    assert len(modules) == 7
    imports = "; ".join(f"import src.{module}" for module in modules)
    assert done(home, f"python -c '{imports}'") == ""


def test_the_configuration_is_that_of_the_table_and_the_env_file(home: Home) -> None:
    rows = dict(re.findall(r"^\| `([A-Z_]+)` \| [`*]([^`*]+)[`*] ", FRAMEWORK, re.MULTILINE))
    values = ", ".join(f"{name!r}: Config.{name}" for name in rows)
    program = f"import json; from config import Config; print(json.dumps({{{values}}}))"
    unset = " ".join(f"-u {name}" for name in rows)
    config = json.loads(done(home, f'env {unset} python -c "{program}"'))
    folders = {
        name: f"{home.folder}/{value[2:]}" for name, value in rows.items() if value[0] == "."
    }
    assert len(rows) == 9
    assert {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in config.items()
    } == (rows | folders | {"OPENAI_API_KEY": KEY})


def test_the_page_is_served_and_the_log_tells_its_start(home: Home) -> None:
    python, page = commands(FRAMEWORK)[4].split()
    assert python == "python"
    process = home.start(page, LOG_LEVEL="INFO")
    assert process.stdout
    link = process.stdout.readline()
    process.terminate()
    _, log = process.communicate(timeout=60)
    assert re.match(r"http://127\.0\.0\.1:\d+/\?token=", link), log
    assert process.returncode == 0
    assert f"model gpt-4 at {OPENAI}, sandbox auto, database sqlite" in log
    assert re.search(r"serving the page on 127\.0\.0\.1, port \d+", log)


@pytest.mark.extended
@pytest.mark.docker
@pytest.mark.timeout(600)
def test_the_tools_are_seeded_tested_and_served(
    home: Home, model: dict[str, str], image: dict[str, str]
) -> None:
    done(home, commands(FRAMEWORK)[3], **image)
    assert " passed" in done(home, "\n".join(commands(FRAMEWORK)[-2:]))
    with serving(home, commands(FRAMEWORK)[4].split()[1], **model, **image) as link:
        address, _, token = link.partition("?token=")
        headers = {"Authorization": f"Bearer {token}"}
        tools = requests.get(f"{address}api/v1/tools", headers=headers, timeout=20).json()
    assert "calculate_percentage" in [tool["name"] for tool in tools["tools"]]


@pytest.mark.extended
@pytest.mark.docker
@pytest.mark.parametrize("number", range(5))
def test_a_part_is_tested_by_its_file(
    home: Home, model: dict[str, str], image: dict[str, str], number: int
) -> None:
    assert done(home, commands(FRAMEWORK)[5 + number], **model, **image)


@pytest.mark.extended
@pytest.mark.timeout(600)
def test_pip_installs_what_the_quick_start_needs(home: Home) -> None:
    venv = home.folder.with_name("by-pip")
    subprocess.run([home.python, "-m", "venv", venv], check=True)
    by_pip = Home(home.folder, python=str(venv / "bin" / "python"), place=home.place)
    done(by_pip, commands(FRAMEWORK)[1])
    assert done(by_pip, "python -c 'import src.orchestrator, src.sandbox, web.app'") == ""


@pytest.mark.bubblewrap
@pytest.mark.timeout(300)
def test_the_block_of_autocoders_document_builds_its_project(home: Home, tmp_path: Path) -> None:
    block, _ = blocks(AUTOCODER, "python")
    block, replaced = re.subn("<.*>", repr(KEY), block)
    data, call = block.rsplit("\n\n", 1)
    assert (replaced, call.strip()) == (1, "autocoder(project_data)")
    program = tmp_path / "program.py"
    program.write_text(f"{data}\n\nproject_data = data\n\n{call}")
    path = str(home.folder / "src")
    more = {"SANDBOX": "bubblewrap", "PYTHONPATH": path, "PARTS_DIR": str(ROOT / "data")}
    with OfflineServer(Cookbook(), model="gpt-3.5-turbo", api_key=KEY, delay=0) as server:
        done(home, f"cd '{tmp_path}' && python program.py", OPENAI_BASE_URL=server.base_url, **more)
    assert {"main.py"} <= {path.name for path in (tmp_path / "random_midi_generator").iterdir()}


def test_the_context_has_what_autocoders_document_lists() -> None:
    _, listed = blocks(AUTOCODER, "python")
    names = set(re.findall(r"^ +(\w+)", listed, re.MULTILINE))
    assert len(names) > 20
    assert names - Context.model_fields.keys() - CodeFile.model_fields.keys() == set()


def test_crafters_document_has_no_code_and_its_graph_does_what_it_says() -> None:
    assert blocks(CRAFTER) == []
    graph: Graph[str] = Graph()
    for node in ("ask", "code"):
        graph.add_node(node, "")
    graph.set_start_node("ask")
    graph.add_transition("ask", "understood", "code")
    graph.update_context("code", "a task")
    graph.process_input("understood")
    assert (graph.current_node, graph.current_context) == ("code", "a task")


def test_the_code_assistants_document_has_no_code() -> None:
    assert blocks(ASSISTANT) == []
