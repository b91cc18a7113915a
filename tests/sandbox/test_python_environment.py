"""The Python environment of bubblewrap's containers: built whole or not at all, from wheels, and
anew when what it is made from changes.
"""

import hashlib
import os
import time
import zipfile
from pathlib import Path

import pytest

from selfeng.core.errors import SandboxFailed, SandboxUnavailable
from selfeng.sandboxes.python_environment import SITE_PACKAGES, Parts, PythonEnvironment


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    """A list of one package, whose wheel is in a folder beside it."""
    info = "small-1.0.dist-info"
    path = tmp_path / "small-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("small.py", "SIZE = 1\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: small\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{info}/RECORD", "")
    return listed(path)


def listed(wheel: Path) -> Path:
    """The list beside a wheel that names it with its hash."""
    path = wheel.with_name("requirements.txt")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    path.write_text(f"--no-index\n--find-links {wheel.parent}\nsmall==1.0 --hash=sha256:{digest}\n")
    return path


@pytest.fixture
def environment(tmp_path: Path, requirements: Path) -> PythonEnvironment:
    return PythonEnvironment(tmp_path / "environments", requirements)


def folders(environment: PythonEnvironment) -> list[str]:
    return sorted(
        path.name
        for path in environment.current.packages.parent.iterdir()
        if not path.name.startswith(".")
    )


def test_it_is_there_once_it_is_built_and_readable_for_everybody(
    environment: PythonEnvironment,
) -> None:
    assert not environment.is_current()
    with pytest.raises(
        SandboxUnavailable,
        match=r"there is no Python environment to run code in below .*environments",
    ) as caught:
        environment.parts()
    assert caught.value.remedy == "set it up with `selfeng setup sandbox`"
    finished: list[Parts] = []
    lines: list[str] = []
    before = os.umask(0o77)
    try:
        environment.build(lines.append, finished.append)
    finally:
        os.umask(before)
    parts = environment.parts()
    assert environment.is_current()
    assert (parts.packages / SITE_PACKAGES / "small.py").read_text() == "SIZE = 1\n"
    assert (parts.packages / "etc" / "passwd").read_text().startswith("nobody:x:65534:65534:")
    assert (parts.worker / "judge.py").is_file()
    assert any("small==1.0" in line for line in lines)
    paths = [
        path
        for part in (parts.packages, parts.worker)
        for path in part.rglob("*")
        if not path.is_symlink()
    ]
    assert {path.stat().st_mode & 0o055 for path in paths if path.is_dir()} == {0o055}
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in paths)
    environment.build(lines.append, finished.append)
    assert [part.worker for part in finished] == [parts.worker]


def test_a_change_of_the_list_asks_for_other_packages_and_the_same_worker(
    environment: PythonEnvironment, requirements: Path
) -> None:
    environment.build(lambda line: None, lambda parts: None)
    before = environment.parts()
    requirements.write_text(requirements.read_text() + "# more\n")
    after = environment.current
    assert (
        environment.is_current(),
        after.packages == before.packages,
        after.worker == before.worker,
    ) == (False, False, True)
    assert before.edition != after.edition


def test_what_cannot_be_installed_leaves_nothing_and_is_told(
    environment: PythonEnvironment, requirements: Path
) -> None:
    requirements.write_text(requirements.read_text().replace("small==", "not-there=="))
    with pytest.raises(SandboxFailed, match=r"(?s)pip install.* failed.*not-there==1\.0"):
        environment.build(lambda line: None, lambda parts: None)
    assert folders(environment) == [environment.current.worker.name]


def test_a_wheel_of_another_content_is_refused(
    environment: PythonEnvironment, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "small-1.0-py3-none-any.whl", "a") as wheel:
        wheel.writestr("more.py", "")
    with pytest.raises(SandboxFailed, match="Hash mismatch"):
        environment.build(lambda line: None, lambda parts: None)
    assert not environment.is_current()


def test_packages_that_fail_their_trial_are_not_used_and_the_next_build_begins_anew(
    environment: PythonEnvironment,
) -> None:
    def fail(parts: Parts) -> None:
        (parts.packages / "half").touch()
        raise SandboxFailed("they can't be imported")

    with pytest.raises(SandboxFailed, match="they can't be imported"):
        environment.build(lambda line: None, fail)
    assert not environment.is_current()
    environment.build(lambda line: None, lambda parts: None)
    assert not (environment.parts().packages / "half").exists()


def test_sources_are_never_built(
    environment: PythonEnvironment, requirements: Path, tmp_path: Path
) -> None:
    """The setup.py of a source package would run on the host."""
    (tmp_path / "small-1.0-py3-none-any.whl").unlink()
    (tmp_path / "small-1.0").mkdir()
    (tmp_path / "small-1.0" / "setup.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with zipfile.ZipFile(tmp_path / "small-1.0.zip", "w") as archive:
        archive.write(tmp_path / "small-1.0" / "setup.py", "small-1.0/setup.py")
    listed(tmp_path / "small-1.0.zip")
    with pytest.raises(SandboxFailed, match="no usable wheels"):
        environment.build(lambda line: None, lambda parts: None)
    assert not (tmp_path / "ran").exists()


def test_what_nobody_prepared_for_a_day_is_removed(environment: PythonEnvironment) -> None:
    below = environment.current.packages.parent
    for name, hours in {
        "packages-lately": 23,
        "packages-long-ago": 25,
        "worker-long-ago": 25,
    }.items():
        (below / name / "bin").mkdir(parents=True)
        os.utime(below / name, (time.time() - hours * 3600,) * 2)
    environment.build(lambda line: None, lambda parts: None)
    current = environment.parts()
    assert folders(environment) == sorted(
        ["packages-lately", current.packages.name, current.worker.name]
    )


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, requirements: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        SandboxFailed, match=r"the sandbox's Python environment can't be built: .*file"
    ) as caught:
        PythonEnvironment(tmp_path / "file" / "below", requirements).build(
            lambda line: None, lambda parts: None
        )
    assert caught.value.remedy == "see that DATA_DIR can be written to"
