"""The process: how it starts, what it prints, and how it ends."""

import ctypes
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from selfeng.core.errors import ConfigurationError
from selfeng.store.database import open_database
from selfeng.store.journal import Journal
from tests.fork_server import ROOT
from tests.web.server_process import ServerProcess
from web.app import bind, link
from web.serving import AsyncMode
from web.vendor import load_vendor

BOTH_MODES = pytest.mark.parametrize(
    "mode", ["eventlet", pytest.param("threading", marks=pytest.mark.everywhere)]
)


@BOTH_MODES
@pytest.mark.parametrize(
    "with_signal", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.extended)]
)
def test_a_signal_ends_it_soon_and_in_silence_and_keeps_what_ran(
    tmp_path: Path, mode: AsyncMode, with_signal: int
) -> None:
    server = ServerProcess(tmp_path, mode)
    with server.browser() as visitor, server.socket(visitor) as page:
        conversation = page.ask("hold on")["conversation_id"]
        page.records(until="answer_token")
        began = time.monotonic()
        assert server.end(with_signal) == (0, "")
        assert time.monotonic() - began < 2.0
    assert server.errors == ""
    database = open_database(f"sqlite:///{tmp_path / 'agent.db'}")
    assert [r.event.type for r in Journal(database).history(conversation)] == [
        "turn_started",
        "answer_token",
        "turn_stopped",
    ]
    assert Journal(database).stop_abandoned_turns() == []
    database.dispose()


@BOTH_MODES
def test_a_signal_that_the_kernel_hands_to_another_thread_ends_it(
    tmp_path: Path, mode: AsyncMode
) -> None:
    server = ServerProcess(tmp_path, mode)
    process = server.process.pid
    _, other, *_ = sorted(int(thread.name) for thread in Path(f"/proc/{process}/task").iterdir())
    assert ctypes.CDLL(None).tgkill(process, other, signal.SIGTERM) == 0
    server.process.wait(timeout=20)
    assert server.end() == (0, "")


@BOTH_MODES
def test_an_engine_that_does_not_end_is_left_behind(tmp_path: Path, mode: AsyncMode) -> None:
    server = ServerProcess(tmp_path, mode)
    with server.browser() as visitor, server.socket(visitor) as page:
        page.ask("hang")
        page.records(until="turn_finished")
        began = time.monotonic()
        assert server.end() == (0, "")
        assert time.monotonic() - began < 2.0


def test_a_given_token_and_port_are_used(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = ServerProcess(
        tmp_path,
        "eventlet",
        ACCESS_TOKEN="open sesame&come in",
        FLASK_PORT=str(port),
        FLASK_HOST="0.0.0.0",
    )
    assert server.link == f"http://127.0.0.1:{port}/?token=open%20sesame%26come%20in"
    server.browser().close()
    assert server.end() == (0, "")
    assert server.errors == (
        f"Port {port} can be reached from other machines. The token is required, but nothing is "
        "encrypted. "
        "FLASK_HOST=127.0.0.1 keeps the page to this machine.\n"
    )


def test_a_port_in_use_is_reported_before_anything_else() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        environment = {
            "FLASK_HOST": "127.0.0.1",
            "FLASK_PORT": str(port),
            "PATH": "",
            "DATA_DIR": "/nonexistent",
        }
        finished = subprocess.run(
            [sys.executable, str(ROOT / "web" / "app.py")],
            env=environment,
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
        )
    assert (finished.returncode, finished.stdout) == (1, "")
    assert finished.stderr == (
        f"port {port} on 127.0.0.1 can't be used: Address already in use\n"
        "What to do: end the program that uses the port, or set FLASK_PORT to another one (0: any "
        "free one)\n"
    )


def test_a_bad_setting_is_reported(tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, str(ROOT / "web" / "app.py")],
        env={"FLASK_PORT": "many"},
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert (finished.returncode, finished.stdout) == (1, "")
    assert finished.stderr.startswith("FLASK_PORT='many': ")


def test_a_host_that_is_none_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"FLASK_HOST=no\.such\.host\.invalid"):
        bind("no.such.host.invalid", 0)


def test_a_host_that_is_not_this_machines_is_named_and_not_the_port() -> None:
    with pytest.raises(ConfigurationError) as caught:
        bind("192.0.2.1", 0)  # an address for documents, which no machine has
    assert caught.value.message == "FLASK_HOST=192.0.2.1 is not an address of this machine"
    assert (
        caught.value.remedy
        == "set FLASK_HOST to an address of this machine, such as 127.0.0.1; 0.0.0.0 means all"
    )


def test_a_host_that_can_be_no_name_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"FLASK_HOST=a\.\.b: "):
        bind("a..b", 0)


def test_port_zero_takes_a_free_one() -> None:
    with bind("127.0.0.1", 0) as listener:
        assert listener.getsockname()[1] > 0


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("0.0.0.0", "127.0.0.1"),
        ("::", "127.0.0.1"),
        ("::1", "[::1]"),
        ("agent.example", "agent.example"),
    ],
)
def test_the_link_names_an_address_that_works_here(host: str, address: str) -> None:
    assert link(host, 5000, "t/+") == f"http://{address}:5000/?token=t%2F%2B"


def test_missing_libraries_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="preact is not installed") as caught:
        load_vendor(tmp_path)
    assert caught.value.remedy.startswith("run `npm ci` in a checkout;")


_THREADS = """
import ctypes, pathlib, re, threading
from selfeng.core.system import release_memory, share_heaps

share_heaps()
last = []

def work():
    buffers = [ctypes.create_string_buffer(100_000) for _ in range(300)]
    last.append(buffers[-1])  # keeps its heap from shrinking by itself
    gate.wait()

gate = threading.Barrier(9)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
gate.wait()
for thread in threads:
    thread.join()

def mb():
    return int(re.search(r"VmRSS:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) // 1024

before = mb()
release_memory()
print(before - mb())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="calls of glibc")
def test_what_threads_have_freed_goes_back_to_the_system() -> None:
    command = [sys.executable, "-c", f"import src\n{_THREADS}"]
    released = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(released.stdout) >= 100  # of 240 MB
