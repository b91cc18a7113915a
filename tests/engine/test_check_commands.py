"""`selfeng check`: the parts show themselves at work, without what they don't need."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from selfeng.cli.app import app
from tests.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def check(home: Home, part: str, **more: str) -> str:
    nowhere = {"SANDBOX": "docker", "DOCKER_HOST": f"unix://{home.folder}/none.sock"}
    asked = CliRunner(env=home.environment(**nowhere, **more)).invoke(app, ["check", part])
    assert asked.exit_code == 0, asked.output
    return asked.stdout


def test_the_library_is_checked_without_a_sandbox(home: Home) -> None:
    *_, request, first, _, _ = check(home, "capability_registry").splitlines()
    assert request == "What is 15 percent of 300?"
    assert "calculate_percentage" in first


def test_the_models_reply_is_printed_as_it_was_written(home: Home) -> None:
    shown = check(home, "llm_client")
    assert "- **encodings**: Base64, URL, ROT13, Morse code, SHA-256\n" in shown
