"""The required outcome of each hostile tool, beyond the rules for all: it does not pass, nothing
leaks and nothing is left.
"""

import json
import re
from collections.abc import Callable

from selfeng.core.verdict import Killed, Raised, Returned
from tests.sandbox.hostile import Host, Seen

Oracle = Callable[[Seen, Host], None]
TOO_LONG = ("It used 1 s of processor time", "It did not end within")


def killed(*reasons: str) -> Oracle:
    """All forms were ended for one of these reasons."""

    def oracle(seen: Seen, host: Host) -> None:
        assert isinstance(seen.called, Killed), seen.called
        for told in (seen.called.reason, seen.loaded.problem or "", seen.tested.problem or ""):
            assert any(reason in told for reason in reasons), told

    return oracle


def raised(types: str, words: str = "") -> Oracle:
    """The call failed with one of these exceptions; so did loading the module, and every test."""

    def oracle(seen: Seen, host: Host) -> None:
        assert isinstance(seen.called, Raised), seen.called
        assert seen.called.type_name in types.split("|")
        assert re.search(words, seen.called.message), seen.called.message
        assert re.search(types, seen.loaded.problem or ""), seen.loaded
        assert all(re.search(types, test.message) for test in seen.tested.tests), seen.tested

    return oracle


def returned(seen: Seen, host: Host) -> None:
    """The call came to its end, and the tests had their say."""
    assert isinstance(seen.called, Returned), seen.called
    assert (seen.loaded.problem, seen.tested.problem) == (None, None)
    assert [t.outcome for v in (seen.loaded, seen.tested) for t in v.tests] == ["failed"] * 4


def prints(pattern: str) -> Oracle:
    """Everything that was printed in all forms fits the pattern."""

    def oracle(seen: Seen, host: Host) -> None:
        returned(seen, host)
        for printed in (seen.printed, seen.loaded.output, seen.tested.output):
            assert re.fullmatch(pattern, printed, re.DOTALL), printed

    return oracle


def ended(*reasons: str) -> Oracle:
    """The process was lost, so no form has an orderly end."""
    return killed(*reasons)


def _memory(seen: Seen, host: Host) -> None:
    """Where no control group counts for a container, the allocation fails instead."""
    if isinstance(seen.called, Raised):
        raised("MemoryError")(seen, host)
    else:
        killed("It needed more memory than the 256 MB")(seen, host)
    assert seen.after[1] - seen.before[1] < 100_000


def _flood(seen: Seen, host: Host) -> None:
    killed(*TOO_LONG)(seen, host)
    assert len(seen.printed) < 70_000
    assert len(seen.tested.output) < 70_000
    assert seen.after[1] - seen.before[1] < 100_000


def _descriptors(seen: Seen, host: Host) -> None:
    raised("OSError", "Too many open files")(seen, host)
    assert seen.after[0] < seen.before[0] + 40


def _sparse(seen: Seen, host: Host) -> None:
    assert isinstance(seen.called, Returned), seen.called
    assert seen.called.files == ()
    assert [re.sub(r"\d+", "N", words) for words in seen.called.refused_files] in (
        ["d: it is a folder.", "sparse: it has N bytes, more than are left of N."],
        ["d: it is a folder."],
    )


def _archive(seen: Seen, host: Host) -> None:
    """A file of that name is a file like any other: it comes back as it is, if there was time to
    write it.
    """
    if isinstance(seen.called, Returned):
        (file,) = seen.called.files
        assert (file.name, file.content[:2]) == ("result.json.gz", b"\x1f\x8b")
        assert len(file.content) < 2_000_000
    else:
        killed(*TOO_LONG, "memory")(seen, host)


def _odd_names(seen: Seen, host: Host) -> None:
    returned(seen, host)
    assert isinstance(seen.called, Returned)
    assert all(words.isprintable() for words in seen.called.refused_files)
    assert all(file.name.isprintable() for file in seen.called.files)
    assert len(seen.called.files) + len(seen.called.refused_files) == 4


def _fifo(seen: Seen, host: Host) -> None:
    assert isinstance(seen.called, Returned), seen.called
    assert (seen.called.files, seen.called.refused_files) == (
        (),
        ("out.fifo: it is a named pipe.",),
    )


def _artefacts(seen: Seen, host: Host) -> None:
    assert isinstance(seen.called, Returned), seen.called
    assert seen.called.files == ()
    assert seen.called.refused_files == ("out: it is a folder.",)


def _environment(seen: Seen, host: Host) -> None:
    returned(seen, host)
    names = set(re.findall(r"'([A-Z_]+)':", seen.printed))
    assert "PATH" in names
    assert not [n for n in names if re.search("KEY|TOKEN|SECRET|PASSWORD|PROXY", n)]


def _own_processes(seen: Seen, host: Host) -> None:
    for printed in (seen.printed, seen.loaded.output):
        numbers = set(re.findall(r"/proc/(\d+)/", printed))
        assert 1 <= len(numbers) <= 3
        assert "environ" not in printed  # which nobody may read, not even of itself


def _own_environment(seen: Seen, host: Host) -> None:
    """As `_own_processes`, but what is the same in every container can be read there."""
    returned(seen, host)
    for printed in (seen.printed, seen.loaded.output):
        assert 1 <= len(set(re.findall(r"/proc/(\d+)/", printed))) <= 3
        assert not re.search("KEY|TOKEN|SECRET|PASSWORD|PROXY|OWNER", printed)


def _no_suite(seen: Seen, host: Host) -> None:
    """Looking through everything may take longer than there is time."""
    assert all(told.startswith(TOO_LONG) for told in _problems(seen))
    assert "test_tool" not in "".join((seen.printed, seen.loaded.output, seen.tested.output))


def _fills(seen: Seen, host: Host) -> None:
    """The content alone needs all memory; where that is granted, each folder refuses it."""
    assert all("It needed more memory than the 256 MB" in told for told in _problems(seen))


def _problems(seen: Seen) -> list[str]:
    """Why forms were ended."""
    told = [
        seen.called.reason if isinstance(seen.called, Killed) else "",
        seen.loaded.problem or "",
        seen.tested.problem or "",
    ]
    return [problem for problem in told if problem]


def _redacted(seen: Seen, host: Host) -> None:
    raised("RuntimeError")(seen, host)
    assert "CANARY" not in seen.everything()
    assert isinstance(seen.called, Raised)
    assert seen.called.message == "[secret removed]"


def _unprivileged(seen: Seen, host: Host) -> None:
    prints(r"(\[Errno (1|22)\] (Operation not permitted|Invalid argument)\nno sudo\n)+")(
        seen, host
    )  # user 0 may not even exist


def _nobody(seen: Seen, host: Host) -> None:
    returned(seen, host)
    assert "uid=0" not in seen.printed + seen.tested.output


def _refused(seen: Seen, host: Host) -> None:
    """-1 with EPERM."""
    prints(r"(-1 1\n)+")(seen, host)


def _descriptors_inside(seen: Seen, host: Host) -> None:
    returned(seen, host)
    for line in (*seen.printed.splitlines(), *seen.loaded.output.splitlines()):
        assert re.fullmatch(r"\d+ (/dev/null|pipe:\[\d+\]|socket:\[\d+\]|/proc/\d+/fd)", line), line


def _wrong(seen: Seen, host: Host) -> None:
    """Verified to the end, and found wrong by every test."""
    assert (seen.loaded.problem, [t.outcome for t in seen.loaded.tests]) == (None, ["failed"] * 2)
    assert (seen.tested.problem, [t.outcome for t in seen.tested.tests]) == (None, ["failed"] * 2)


def _under_test_only(seen: Seen, host: Host) -> None:
    _wrong(seen, host)
    assert isinstance(seen.called, Returned)
    assert seen.called.text == "0"


def _nothing_installed(seen: Seen, host: Host) -> None:
    words = "needs the package `reqeusts_toolbelt_pro`, which the sandbox does not have"
    assert isinstance(seen.called, Raised), seen.called
    assert seen.called.type_name == "ModuleNotFoundError"
    assert words in seen.called.message
    assert words in (seen.loaded.problem or "")
    assert all(words in test.message for test in seen.tested.tests), seen.tested


def _list_argument(seen: Seen, host: Host) -> None:
    assert isinstance(seen.called, Returned)
    assert [t.outcome for t in seen.tested.tests] == ["failed"] * 2


def _pickle(seen: Seen, host: Host) -> None:
    returned(seen, host)
    assert bytes.fromhex(seen.printed.strip()).startswith(b"\x80")


def _module_walk(seen: Seen, host: Host) -> None:
    prints(r"(\d+\n)+")(seen, host)
    assert json.loads(seen.printed) < 4_000_000


TIME = killed(*TOO_LONG)
NETWORK = r"Network is unreachable"
ENDED_BY_KILL = ended("SIGKILL", "ended itself", "cut itself off")

ORACLES: dict[str, Oracle] = {
    "A02": TIME,
    "A04": _memory,
    "A06": TIME,
    "A07": TIME,
    "A08": TIME,
    "A09": raised("RuntimeError", "can't start new thread"),
    "A10": raised("OSError", "No space left on device"),
    "A11": _fills,
    "A12": raised("OSError", "No space left on device"),
    "A13": _sparse,
    "A14": _flood,
    "A16": _descriptors,
    "A17": _archive,
    "A18": killed("SIGSEGV", "memory"),
    "B01": raised("URLError", "no consent for example.com"),
    "B04": raised("OSError", NETWORK),
    "B05": prints(""),
    "B06": raised("OSError", NETWORK),
    "B07": raised("PermissionError", "Operation not permitted"),
    "B08": raised("OSError", NETWORK),
    "B09": raised("ConnectionRefusedError"),
    "C02": raised("OSError|PermissionError", "Read-only file system|Permission denied"),
    "C03": returned,
    "C04": _artefacts,
    "C07": _fifo,
    "C08": _odd_names,
    "C09": returned,
    "C10": raised("FileNotFoundError"),
    "C13": raised("FileNotFoundError", r"\.git/hooks"),
    "D01": _environment,
    "D02": _own_processes,
    "D05": _no_suite,
    "D06": _wrong,
    "D07": _redacted,
    "E01": returned,
    "E02": ENDED_BY_KILL,
    "E03": raised("PermissionError"),
    "E04": _unprivileged,
    "E05": prints(r"(-1\n)+"),
    "E06": _nobody,
    "E07": raised("FileNotFoundError", "crontab"),
    "E09": raised("ValueError", "not allowed to raise maximum limit"),
    "F02": _refused,
    "F03": _refused,
    "F05": _refused,
    "F06": raised("FileNotFoundError|PermissionError|OSError"),
    "F08": prints(r"(\[Errno 1\] Operation not permitted\n)+"),
    "F09": _descriptors_inside,
    "G01": raised("SystemExit"),
    "G02": ENDED_BY_KILL,
    "G03": _wrong,
    "G04": _wrong,
    "G05": _wrong,
    "G07": _wrong,
    "G08": _wrong,
    "G16": _under_test_only,
    "G18": _list_argument,
    "H07": _wrong,
    "H08": raised("ValueError", "LESSON"),
    "I01": _nothing_installed,
    "I03": _wrong,
    "I05": _wrong,
    "J01": _pickle,
    "J02": prints(r"(!!python/object/apply:os.system \[id\]\n)+"),
    "J04": _wrong,
    "J07": _module_walk,
}
BY_MEMORY = killed("memory", "It used ", "It did not end within", "was ended from inside")
ON_GVISOR: dict[str, Oracle] = {
    "A08": BY_MEMORY,
    "A09": BY_MEMORY,
    "A12": BY_MEMORY,
    "D02": _own_environment,
    "E09": returned,  # a limit that it does not count by
}
"""Instead of those above: there only memory limits the number of processes and files, and
processes may read the environment, which is the same in every container.
"""
