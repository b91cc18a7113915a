"""The packages for people without the repository: a wheel, a source distribution, an image, a unit
of systemd. Each is tried in an empty environment, with an empty home.
"""

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

import pytest
import requests
import yaml
from docker.client import DockerClient
from uv import find_uv_bin

from selfeng.core.network import image_arguments
from selfeng.core.settings import Settings
from selfeng.library.seeding import SeedMark
from selfeng.store.database import open_database
from tests.databases import Postgres, free_port
from tests.home import ROOT, Home, serving
from web.vendor import LIBRARIES

REQUEST, ANSWER = "What is 15 percent of 300?", "15% of 300 is 45.\n"
OUTSIDE = re.compile(
    r"(?:.*_)?(?:proxy|index_url|index_strategy|find_links|cert|cert_file|cert_dir)", re.I
)
"""Names of what tells programs how to reach a registry from here."""
PIPX = "pipx==1.18.4"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
FROM_PYTHON = """
import sys
import autocoder
from miniagents import MiniAgents, miniagent
from selfeng import Agent

@miniagent
async def greeter(ctx):
    ctx.reply("hello")

with Agent(sys.argv[1]) as agent:
    print(*MiniAgents().run_agent(greeter), autocoder.autocoder.__name__)
    print(agent.call("calculate_percentage", {"percentage": 20, "number": 300}))
"""


@dataclass(frozen=True)
class Empty(Home):
    """A home with nothing in it, and no variable of this environment."""

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.place.mkdir()

    def environment(self, **more: str) -> dict[str, str]:
        return {
            **{name: value for name, value in os.environ.items() if OUTSIDE.fullmatch(name)},
            "HOME": str(self.folder),
            "PATH": f"{Path(self.python).parent}:/usr/bin:/bin",
            "FLASK_HOST": "127.0.0.1",
            "FLASK_PORT": "0",
            "SANDBOX": "bubblewrap",
            "SYNTHESIS_MUTATION_SCORE": "0",
            **more,
        }


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel that is built from it without Node."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run([*build, "-t", "sdist"], cwd=ROOT, check=True, capture_output=True)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    subprocess.run(
        [*build, "-t", "wheel"],
        cwd=unpacked,
        env={**os.environ, "PATH": ""},
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (wheel,) = dist.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def unpacked(dist: Path) -> Path:
    """The source distribution's folder."""
    return next(path for path in dist.iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Empty:
    return _installed(f"{wheel}[local]", tmp_path_factory.mktemp("installed"))


def _installed(wheel: str, folder: Path) -> Empty:
    """The wheel alone in an environment without pip; what set-up makes is this checkout's."""
    uv, base = find_uv_bin(), getattr(sys, "_base_executable", sys.executable)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([uv, "venv", "-q", "--python", base, folder / "venv"], check=True)
    tested = ["-c", ROOT / "requirements.txt"]
    subprocess.run([uv, "pip", "install", "-q", "--python", python, *tested, wheel], check=True)
    return Shared(folder / "home", python=str(python), place=folder / "empty")


class Shared(Empty):
    def environment(self, **more: str) -> dict[str, str]:
        return super().environment(**{"PARTS_DIR": str(ROOT / "data"), **more})


def program(home: Home) -> str:
    return str(Path(home.python).with_name("selfeng"))


def test_a_wheel_has_what_the_repository_has_and_node_makes(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        licenses = archive.read("selfeng/files/page/licenses.txt").decode()
        metadata = archive.read("selfeng-0.1.0.dist-info/METADATA").decode()
        meta = json.loads(archive.read("selfeng/files/page/meta.json"))
    list_files = ["git", "ls-files", "src/selfeng", "web"]
    tracked = subprocess.check_output(list_files, cwd=ROOT, text=True).split()
    assert {name.removeprefix("src/") for name in tracked} - names == set()
    assert {f"selfeng/files/page/{Path(path).name}.gz" for path in meta["outputs"]} - names == set()
    packages = {package for package, _ in LIBRARIES.values()}
    assert [name for name in packages if not re.search(rf"^{name} \d", licenses, re.M)] == []
    assert re.findall(r"^(?:License-|Provides-)[\w-]+: .*", metadata, re.M) == [
        "License-Expression: MIT",
        "License-File: LICENSE",
        "Provides-Extra: anthropic",
        "Provides-Extra: local",
        "Provides-Extra: postgres",
        "Provides-Extra: tracing",
    ]
    assert re.findall(r"^Requires-Dist: [^;\n]*==.*", metadata, re.M) == []


@pytest.mark.bubblewrap
@pytest.mark.extended
def test_an_installed_wheel_needs_neither_the_repository_nor_node(installed: Empty) -> None:
    selfeng = program(installed)
    assert installed.run(selfeng, "--version").stdout == "selfeng 0.1.0\n"
    asked = installed.run(selfeng, REQUEST)
    assert (asked.returncode, asked.stdout) == (0, ANSWER), asked.stderr

    installs = "from selfeng.core.packages import install_command; print(install_command()[0])"
    assert Path(installed.run("-c", installs).stdout.strip()).name == "uv"

    home = installed.folder / ".local" / "share" / "selfeng"
    assert {path.name for path in home.iterdir()} >= {"chroma_db", "data", "tools"}
    called = installed.run("-c", FROM_PYTHON, str(home))
    assert called.stdout == "hello autocoder\n60\n", called.stderr
    assert list(installed.place.iterdir()) == []

    database = open_database(f"sqlite:///{home / 'data' / 'agent.db'}")
    SeedMark(database).put()
    database.dispose()
    with serving(installed, selfeng, "serve") as link, requests.Session() as browser:
        page = browser.get(link).text
        loaded = set(re.findall(r'"(/(?:bundle|texts|static)/[^"]+)"', page))
        assert {Path(path).suffix for path in loaded} >= {".js", ".css"}
        found = {path: browser.get(urljoin(link, path)).status_code for path in loaded}
        assert set(found.values()) == {200}, found
        spoken = subprocess.run(
            [selfeng, "mcp", "--url", link],
            input=json.dumps(INITIALIZE) + "\n",
            env=installed.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert json.loads(spoken.stdout)["result"]["serverInfo"]["name"] == "selfeng", spoken.stderr


@pytest.mark.docker
@pytest.mark.extended
def test_a_wheel_without_its_extra_answers_and_names_the_extra(wheel: Path, tmp_path: Path) -> None:
    installed = _installed(str(wheel), tmp_path)
    lacking = installed.run("-c", "import selfeng.bootstrap, chromadb")
    assert lacking.stderr.endswith("ModuleNotFoundError: No module named 'chromadb'\n")
    asked = installed.run(program(installed), REQUEST, SANDBOX="docker")
    assert (asked.returncode, asked.stdout) == (0, ANSWER), asked.stderr
    assert "pip install 'selfeng[local]'" in asked.stderr


@pytest.mark.postgres
@pytest.mark.extended
@pytest.mark.timeout(600)
def test_an_installed_wheel_has_a_worker(installed: Empty, postgres: Postgres) -> None:
    selfeng = program(installed)
    refused = installed.run(selfeng, "worker")
    assert (refused.returncode, "set DATABASE_URL to a PostgreSQL" in refused.stderr) == (1, True)
    own = {"DATABASE_URL": postgres.new(), "PARTS_DIR": str(ROOT / "data"), "WORKER_PORT": "0"}
    worker = installed.start(selfeng, "worker", **own)
    assert worker.stderr
    while "Ready: this worker takes requests." not in worker.stderr.readline():
        assert worker.poll() is None
    worker.send_signal(signal.SIGTERM)
    worker.communicate(timeout=60)
    assert worker.returncode == 0


@pytest.mark.bubblewrap
@pytest.mark.extended
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "installer",
    [
        "uv",
        *(pytest.param(way, marks=pytest.mark.everywhere) for way in ("pipx", "pip")),
    ],  # pip makes the image, too
)
def test_the_first_command_of_an_installation_sets_up_what_it_needs(
    installer: str, wheel: Path, unpacked: Path, tmp_path: Path
) -> None:
    home, uv = Empty(tmp_path / "home", place=tmp_path / "empty"), find_uv_bin()
    base, venv = getattr(sys, "_base_executable", sys.executable), tmp_path / "venv"
    pipx = [uv, "tool", "run", "--from", PIPX, "pipx"]
    commands, python = {
        "uv": ([[uv, "tool", "install", f"{wheel}[local]"]], home.folder / ".local/bin/python"),
        "pipx": (
            [[*pipx, "install", "--python", base, f"{wheel}[local]"]],
            home.folder / ".local/bin/python",
        ),
        "pip": (
            [[base, "-m", "venv", venv], [venv / "bin/pip", "install", f"{unpacked}[local]"]],
            venv / "bin/python",
        ),
    }[installer]
    for command in commands:
        subprocess.run(command, cwd=home.place, env=home.environment(UV_PYTHON=base), check=True)
    selfeng = python.with_name("selfeng")
    # The parts that the others have installed are set up as uv's are.
    parts = {} if installer == "uv" else {"PARTS_DIR": str(ROOT / "data")}
    asked = subprocess.run(
        [selfeng, REQUEST],
        cwd=home.place,
        env=home.environment(**parts),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (asked.returncode, asked.stdout) == (0, ANSWER), asked.stderr
    lines = asked.stderr.splitlines()
    assert parts or lines[:5] == [
        "Downloading the embedding model (84 MB)",
        "Converting the embedding model",
        "The embedding model is ready.",
        "Downloading the server of the search index (21 MB)",
        "Setting up the sandbox (bubblewrap)",
    ]


@pytest.mark.extended
@pytest.mark.timeout(600)
def test_an_image_runs_without_root_and_ends_in_order(unpacked: Path, engine: DockerClient) -> None:
    tags = [tag for image in engine.images.list() for tag in image.tags]
    base = max(tag for tag in tags if re.search(r"(?:^|/)python:3\.\d+-slim$", tag))
    stages = [
        engine.images.build(
            path=str(unpacked),
            dockerfile="docker/app.dockerfile",
            target=target,
            buildargs={"BASE_IMAGE": base, **image_arguments()},
            network_mode="host",
            rm=True,
            forcerm=True,
        )[0]
        for target in ("build", None)
    ]
    token, port = secrets.token_urlsafe(24), free_port()
    options = [f"--security-opt={name}=unconfined" for name in ("seccomp", "systempaths")]
    for name, value in (("HOST", "127.0.0.1"), ("PORT", port)):
        options.append(f"--env=FLASK_{name}={value}")
    options += ["--security-opt=apparmor=unconfined", f"--env=ACCESS_TOKEN={token}"]
    run = ["docker", "run", "--detach", "--init", "--network=host", *options, stages[-1].id]
    container = engine.containers.get(subprocess.check_output(run, text=True).strip())
    try:
        while (state := container.attrs["State"])["Health"]["Status"] != "healthy":
            assert (state["Running"], state["Health"]["Status"]) == (True, "starting"), state
            time.sleep(0.2)
            container.reload()
        answer = requests.post(
            f"http://127.0.0.1:{port}/v1/chat/completions",
            json={"model": "selfeng", "messages": [{"role": "user", "content": REQUEST}]},
            headers={"Authorization": f"Bearer {token}"},
            timeout=300,
        ).json()
        assert answer["choices"][0]["message"]["content"] == ANSWER.strip(), answer
        user = container.exec_run(["python", "-c", "import os; print(os.getuid())"])
        assert user.output == b"1000\n"
        container.stop(timeout=20)
        assert container.wait()["StatusCode"] == 0
    finally:
        container.remove(force=True, v=True)
        for stage in stages:
            engine.images.remove(stage.id)


@pytest.mark.extended
def test_systemd_accepts_the_unit(installed: Empty) -> None:
    unit = Path(installed.python).parents[1] / "share/systemd/user/selfeng.service"
    here = installed.place / unit.name
    here.write_text(unit.read_text().replace("%h/.local/bin/selfeng", program(installed)))
    verify = ["systemd-analyze", "--user", "verify", str(here)]
    verified = subprocess.run(
        verify,
        env={**os.environ, "XDG_RUNTIME_DIR": str(installed.folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    here.unlink()
    assert (verified.returncode, verified.stderr) == (0, "")


def test_every_service_of_compose_gets_settings_that_there_are() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    ours = [service for service in compose["services"].values() if "build" in service]
    variables = {name for service in ours for name in service.get("environment", {})}
    network = {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "PIP_INDEX_URL"}
    assert variables - {name.upper() for name in Settings.model_fields} == network
    assert [service.get("command", ["selfeng", "serve"])[0] for service in ours] == [
        "python",
        "selfeng",
        "selfeng",
    ]
    assert "docker.sock" not in json.dumps(compose)
