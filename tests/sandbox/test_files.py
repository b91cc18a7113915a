"""Files in and out of a call: what is given is there, what is left comes back, and nothing odd is
followed, opened or kept.
"""

import hashlib
import json
import os
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from selfeng.core.errors import RequestError
from selfeng.core.files import File, FileLimits, LargeContent, LargeFiles
from selfeng.core.verdict import Execution, Killed, Raised, Returned, SandboxJob, Verdict
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes import job_protocol
from selfeng.sandboxes.backend import Container
from selfeng.sandboxes.pool import PoolSize
from selfeng.seeds import load_seeds
from tests.sandbox.backends import Behind
from tests.sandbox.conftest import Verify

pytestmark = pytest.mark.asyncio(loop_scope="session")

CSV = File(name="data.csv", content=b"x,y\n1,2\n3,5\n")


async def execute(sandbox: SecureSandbox, code: str, *files: File, **arguments: object) -> Returned:
    got = await sandbox.execute(SandboxJob("tool", code), arguments, files)
    assert isinstance(got, Returned), got
    return got


async def test_files_are_in_the_current_folder_and_new_ones_come_back(
    sandbox: SecureSandbox,
) -> None:
    code = """
import os
import socket
from collections.abc import Sequence
from pathlib import Path
def tool(path):
    with open(path) as file, open("out.txt", "w") as out:
        out.write(file.read().upper())
    open("empty", "w").close()
    return [os.getcwd(), sorted(os.listdir())]
"""
    got = await execute(sandbox, code, CSV, path="data.csv")
    assert got.data == '["/tmp/files",["data.csv","empty","out.txt"]]'
    assert got.files == (
        File(name="empty", content=b""),
        File(name="out.txt", content=b"X,Y\n1,2\n3,5\n"),
    )
    assert got.refused_files == ()


async def test_a_csv_becomes_a_plot(sandbox: SecureSandbox) -> None:
    code = """
import pandas as pd
import matplotlib.pyplot as plt
def tool(path, x, y):
    pd.read_csv(path).plot(x=x, y=y)
    plt.savefig("plot.png")
"""
    got = await execute(sandbox, code, CSV, path="data.csv", x="x", y="y")
    assert [(f.name, f.reference().media_type) for f in got.files] == [("plot.png", "image/png")]
    assert got.stdout == ""


async def test_large_files_arrive_whole_both_ways(sandbox: SecureSandbox) -> None:
    first, second = os.urandom(5_000_000), os.urandom(3_000_000)
    code = """
import hashlib, pathlib
def tool():
    found = {p.name: p.read_bytes() for p in pathlib.Path().iterdir()}
    for name, content in found.items(): pathlib.Path(name + ".back").write_bytes(content[::-1])
    return {name: hashlib.sha256(content).hexdigest() for name, content in found.items()}
"""
    got = await execute(
        sandbox, code, File(name="a", content=first), File(name="b", content=second)
    )
    assert json.loads(got.data or "") == {
        "a": hashlib.sha256(first).hexdigest(),
        "b": hashlib.sha256(second).hexdigest(),
    }
    assert got.files == (
        File(name="a.back", content=first[::-1]),
        File(name="b.back", content=second[::-1]),
    )


async def test_a_large_file_is_brought_in_once_and_nobody_else_finds_it(
    backend: Behind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"x,y\n" + b"1,2\n" * 5_000_000
    large = LargeFiles(tmp_path).take("big.csv", [content])
    assert large.large
    sent: list[int] = []
    whole = job_protocol._send

    async def counted(sock: socket.socket, job: bytes) -> None:
        sent.append(len(job))
        await whole(sock, job)

    monkeypatch.setattr(job_protocol, "_send", counted)
    one, none = PoolSize(least=1, ready=1, most=1), PoolSize(least=0, ready=0, most=1)
    sandbox = SecureSandbox(
        timeout=20, **backend.options, executors=one, verifiers=none, comparers=none
    )
    brought: list[int] = []
    container = type(sandbox._backend.container("execute", ""))
    bring_in = container._bring_in

    def watched(self: Container, contents: Sequence[LargeContent]) -> None:
        brought.extend(content.size for content in contents)
        bring_in(self, contents)

    monkeypatch.setattr(container, "_bring_in", watched)
    code = """
import os
import socket
from collections.abc import Sequence
from pathlib import Path
def tool(path):
    with open(path, "rb") as file: lines = sum(1 for _ in file)
    return [lines, os.path.getsize(path), os.listdir()]
"""
    forbidden = """
import os
import socket
from collections.abc import Sequence
from pathlib import Path
def tool(path):
    refused = []
    for do in (lambda: open(path, "ab"), lambda: os.truncate(path, 0), lambda: os.chmod(path, 0o777),
               lambda: os.listdir("/inputs/held"), lambda: os.remove(os.readlink(path)),
               lambda: os.listdir(os.path.dirname(os.path.realpath(path)))):
        try: do()
        except OSError as error: refused.append(type(error).__name__)
    os.remove(path)
    with open(path, "w") as file: file.write("mine")
    return len(refused)
"""
    try:
        for number in range(2):
            got = await execute(sandbox, code, large, path="big.csv")
            assert json.loads(got.data or "") == [5_000_001, len(content), ["big.csv"]]
            assert (brought, len(sent)) == ([len(content)], number + 1)
        assert max(sent) < 10_000
        got = await execute(sandbox, forbidden, large, path="big.csv")
        assert (got.data, got.files) == ("6", (File(name="big.csv", content=b"mine"),))
        assert (await execute(sandbox, "import os\ndef tool(): return os.listdir()")).data == "[]"
        got = await execute(sandbox, code, large, path="big.csv")
        assert brought == [len(content)]
    finally:
        await sandbox.aclose()


@pytest.mark.extended
async def test_a_seed_sums_a_hundred_megabytes_within_the_default_limits(
    backend: Behind, tmp_path: Path
) -> None:
    block = "".join(
        f"2026-01-01,item {n},{n % 997}.{n % 90 + 10}\n" for n in range(10_000)
    ).encode()
    pieces = [b"day,item,price\n", *[block] * (100_000_000 // len(block) + 1)]
    large = LargeFiles(tmp_path).take("prices.csv", pieces)
    assert large.size > 100_000_000
    seed = next(seed for seed in load_seeds() if seed.name == "summarize_csv_column")
    sandbox = SecureSandbox(**backend.options)
    try:
        arguments = {"csv_text": "prices.csv", "column": "price"}
        got = await sandbox.execute(SandboxJob(seed.name, seed.code), arguments, [large])
        assert isinstance(got, Returned), got
        figures = json.loads(got.data or "")
    finally:
        await sandbox.aclose()
    cents = sum(100 * (n % 997) + n % 90 + 10 for n in range(10_000)) * (len(pieces) - 1)
    assert figures["count"] == 10_000 * (len(pieces) - 1)
    assert figures["sum"] == cents / 100


async def test_changed_files_come_back_and_others_do_not(sandbox: SecureSandbox) -> None:
    given = [
        File(name=name, content=b"old")
        for name in ("changed", "kept", "touched", "removed", "renamed")
    ]
    code = """
import os
import socket
from collections.abc import Sequence
from pathlib import Path
def tool():
    with open("changed", "w") as file: file.write("new")
    with open("kept") as file: file.read()
    os.utime("touched"); os.remove("removed"); os.rename("renamed", "other")
"""
    got = await execute(sandbox, code, *given)
    assert got.files == (File(name="changed", content=b"new"), File(name="other", content=b"old"))


async def test_a_tool_that_raises_leaves_its_files_too(sandbox: SecureSandbox) -> None:
    code = "def tool():\n    open('log.txt', 'w').write('so far')\n    raise ValueError('no')"
    got = await sandbox.execute(SandboxJob("tool", code), {})
    assert isinstance(got, Raised)
    assert got.files == (File(name="log.txt", content=b"so far"),)
    got = await sandbox.execute(
        SandboxJob("tool", "open('log.txt', 'w').write('loading')\n1 / 0"), {}
    )
    assert isinstance(got, Raised)
    assert got.files == (File(name="log.txt", content=b"loading"),)


async def test_files_outside_the_folder_stay_where_they_are(sandbox: SecureSandbox) -> None:
    code = (
        "import os, tempfile\ndef tool():\n    open('/tmp/a', 'w').close(); "
        "tempfile.mkstemp(); os.chdir('/tmp'); open('b', 'w').close()"
    )
    got = await execute(sandbox, code)
    assert (got.files, got.refused_files) == ((), ())


async def test_no_json_of_an_execution_holds_its_files(sandbox: SecureSandbox) -> None:
    got = await execute(sandbox, "def tool(): open('a', 'w').write('content')")
    assert got.files
    assert "files" not in json.loads(got.model_dump_json())
    assert Returned.model_validate_json(got.model_dump_json()) == got.model_copy(
        update={"files": (), "data": None}
    )


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ([File(name=str(n), content=b"") for n in range(11)], "there are 11 files; 10 are allowed"),
        (
            [File(name=str(n), content=bytes(4_500_000)) for n in range(2)],
            "the files have 8.6 MB; 8 MB are allowed",
        ),
        ([CSV, CSV], "two files are called data.csv"),
    ],
)
async def test_what_is_too_much_is_refused_before_anything_runs(
    sandbox: SecureSandbox, files: list[File], problem: str
) -> None:
    with pytest.raises(RequestError) as caught:
        await sandbox.execute(SandboxJob("tool", "def tool(): pass"), {}, files)
    assert caught.value.message == problem


async def test_a_file_shadows_no_module(sandbox: SecureSandbox) -> None:
    names = (
        "random.py",
        "sitecustomize.py",
        "usercustomize.py",
        "conftest.py",
        "sandbox_worker.py",
        "numpy.py",
        "tool.py",
    )
    files = [File(name=name, content=b"raise SystemExit('shadowed')") for name in names]
    code = """
import random, subprocess, sys
def tool():
    import numpy, tool
    run = subprocess.run([sys.executable, *subprocess._args_from_interpreter_flags(), "-c", "import random"], capture_output=True)
    return [m.__file__.startswith("/tmp") for m in (random, numpy)] + [run.returncode]
"""
    assert (await execute(sandbox, code, *files)).data == "[false,false,0]"


HOSTILE = {
    "symbolic links": (
        "os.symlink('/etc/passwd', 'a'); os.symlink('/proc/1/mem', 'b'); os.symlink('c', 'c'); "
        "os.symlink('/etc', 'd')",
        [f"{name}: it is a symbolic link." for name in "abcd"],
    ),
    "a pipe": ("os.mkfifo('a')", ["a: it is a named pipe."]),
    "a socket": ("import stat; os.mknod('a', stat.S_IFSOCK)", ["a: it is a socket."]),
    "a huge sparse file": (
        "os.truncate(os.open('a', os.O_CREAT | os.O_RDWR), 2**40)",
        [f"a: it has {2**40} bytes, more than are left of 8388608."],
    ),
    "more than the total": (
        "[open(n, 'wb').write(bytes(5_000_000)) for n in 'ab']",
        ["b: it has 5000000 bytes, more than are left of 8388608."],
    ),
    "folders": ("os.makedirs('a/b'); open('a/b/c', 'w').close()", ["a: it is a folder."]),
    "unreadable": (
        "os.close(os.open('a', os.O_CREAT, 0))",
        ["a: it can't be read: Permission denied."],
    ),
    "odd names": (
        "[open(n, 'w').close() for n in (b'a\\nb', b'\\x1b[2J', b'.hidden', b'\\xff', "
        "'\\u202e'.encode(), b' ', b'-rf')]",
        [
            " : it begins or ends with a space.",
            "-rf: it begins with -.",
            ".hidden: it begins with ..",
            "\\u202e: it contains invisible characters.",
            "\\udcff: it is not valid Unicode.",
            "\\x1b[2J: it contains invisible characters.",
            "a\\nb: it contains invisible characters.",
        ],
    ),
    "no folder": (
        "os.rmdir(os.getcwd())",
        ["all: the folder for files can't be read: No such file or directory."],
    ),
    "another folder in its place": (
        "os.rmdir(os.getcwd()); os.symlink('/etc', '/tmp/files')",
        ["all: the folder for files can't be read: Not a directory."],
    ),
    "a pipe in its place": (
        "os.rmdir(os.getcwd()); os.mkfifo('/tmp/files')",
        ["all: the folder for files can't be read: Not a directory."],
    ),
    "closed to its owner": (
        "os.chmod('.', 0)",
        ["all: the folder for files can't be read: Permission denied."],
    ),
}


@pytest.mark.parametrize(("statements", "refused"), HOSTILE.values(), ids=HOSTILE.keys())
async def test_odd_files_are_named_and_not_touched(
    sandbox: SecureSandbox, statements: str, refused: list[str]
) -> None:
    got = await execute(sandbox, f"import os\ndef tool():\n    {statements}")
    assert sorted(got.refused_files) == sorted(refused)
    assert {f.name for f in got.files} <= {"a"}


async def test_a_name_of_255_bytes_is_an_ordinary_one(sandbox: SecureSandbox) -> None:
    got = await execute(
        sandbox, "def tool():\n    for n in 'aé': open(n * (255 // len(n.encode())), 'w').close()"
    )
    assert [f.name for f in got.files] == ["a" * 255, "é" * 127]


async def test_thousands_of_files_are_counted_and_some_are_named(sandbox: SecureSandbox) -> None:
    code = """
def tool():
    for n in range(10_000):
        try: open(f"{n:05}", "w").close()
        except OSError: return n
"""
    got = await execute(sandbox, code)
    made = int(got.text)
    assert 4000 < made < 4096
    assert [f.name for f in got.files] == [f"{n:05}" for n in range(10)]
    named = [f"{n:05}: there are more than 10 files." for n in range(10, 30)]
    assert list(got.refused_files) == [*named, f"{made - 30} more files are refused."]


async def test_deep_folders_are_named_and_do_not_stay(sandbox: SecureSandbox) -> None:
    code = """
import os
import socket
from collections.abc import Sequence
from pathlib import Path
def tool():
    for _ in range(3000):
        os.mkdir("d"); os.chdir("d")
"""
    assert (await execute(sandbox, code)).refused_files == ("d: it is a folder.",)
    assert (await execute(sandbox, "import os\ndef tool(): return os.listdir()")).data == "[]"


async def test_processes_that_live_on_change_nothing_while_files_are_read(
    sandbox: SecureSandbox,
) -> None:
    """Several swap a file against a link and a pipe as fast as they can; what comes back is the
    file, or it is refused.
    """
    code = """
import os, time
def tool():
    for _ in range(4):
        if os.fork() == 0:
            mine = str(os.getpid())
            while True:
                for make in (lambda: os.symlink("/etc/passwd", mine), lambda: os.mkfifo(mine), lambda: open(mine, "w").write("file")):
                    try: make(); os.rename(mine, "swapped")
                    except OSError: pass
    time.sleep(0.1)
"""
    for _ in range(5):
        got = await execute(sandbox, code)
        swapped = [f.content for f in got.files if f.name == "swapped"]
        assert swapped in ([], [b"file"], [b""])
        assert not any(b"root" in f.content for f in got.files)


@pytest.mark.parametrize(
    "statements",
    [
        "open('left', 'w').write('secret')",
        "open('data.csv', 'a').write('secret')",
        "os.mkdir('left'); open('left/x', 'w').write('secret')",
        "os.symlink('/etc', 'left')",
        "os.rename(os.getcwd(), '/tmp/other'); os.mkdir('/tmp/files')",
        "os.chmod('.', 0o500)",
    ],
)
async def test_no_file_is_left_for_the_next_call(backend: Behind, statements: str) -> None:
    one = PoolSize(least=1, ready=1, most=1)
    look = (
        "import os\ndef tool(): return [sorted(os.listdir('/tmp')), os.listdir(), "
        "oct(os.stat('.').st_mode)]"
    )
    sandbox = SecureSandbox(
        timeout=20,
        **backend.options,
        executors=one,
        verifiers=(none := PoolSize(least=0, ready=0, most=1)),
        comparers=none,
    )
    try:
        await execute(sandbox, f"import os\ndef tool():\n    {statements}", CSV)
        assert json.loads((await execute(sandbox, look)).data or "") == [
            [".matplotlib", "files"],
            [],
            "0o40700",
        ]
        assert (await execute(sandbox, look, CSV)).files == ()
    finally:
        await sandbox.aclose()


async def test_a_call_that_was_ended_leaves_no_files(hasty: SecureSandbox) -> None:
    got: Execution = await hasty.execute(
        SandboxJob("tool", "def tool():\n    open('a', 'w').close()\n    while True: pass"), {}
    )
    assert isinstance(got, Killed)


async def test_limits_can_be_set(backend: Behind) -> None:
    sandbox = SecureSandbox(timeout=20, **backend.options, files=FileLimits(count=1, size=10))
    try:
        got = await execute(sandbox, "def tool():\n    for n in 'abc': open(n, 'w').write('x' * 6)")
        assert [f.name for f in got.files] == ["a"]
        assert got.refused_files == (
            "b: there are more than 1 files.",
            "c: there are more than 1 files.",
        )
    finally:
        await sandbox.aclose()


async def test_suites_hand_files_to_the_tool_and_look_at_what_it_makes(verify: Verify) -> None:
    code = """
import matplotlib.pyplot as plt
import pandas as pd
def solution(path, x, y, output="plot.png"):
    frame = pd.read_csv(path)
    figure, axes = plt.subplots()
    axes.plot(frame[x], frame[y])
    figure.savefig(output)
    return len(frame)
"""
    tests = """
from solution import solution
def write(tmp_path):
    (tmp_path / "data.csv").write_text("x,y\\n1,2\\n3,5\\n")
def test_paths(tmp_path):
    write(tmp_path)
    assert solution(path=str(tmp_path / "data.csv"), x="x", y="y", output=str(tmp_path / "a.png")) == 2
    content = (tmp_path / "a.png").read_bytes()
    assert content[:8] == b"\\x89PNG\\r\\n\\x1a\\n" and len(content) > 1000
def test_names_in_a_folder_of_the_test(tmp_path, monkeypatch):
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert solution("data.csv", "x", "y") == 2
    assert (tmp_path / "plot.png").stat().st_size > 1000
def test_the_folder_is_shared(tmp_path):
    write(tmp_path)
    solution(tmp_path / "data.csv", "x", "y", "here.png")
    with open("here.png", "rb") as file:
        assert file.read(4) == b"\\x89PNG"
"""
    verdict = await verify(code, tests)
    assert isinstance(verdict, Verdict)
    assert verdict.passed, verdict
