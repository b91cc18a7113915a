"""`.env.example` lists every setting with its default, and bad values are named."""

from pathlib import Path

import pytest
from dotenv import dotenv_values

from config import Settings, load_settings
from src.core.errors import ConfigurationError

ROOT = Path(__file__).parents[2]
REFERENCE = {
    "OPENAI_API_KEY": None,
    "OPENAI_MODEL": "gpt-4",
    "SIMILARITY_THRESHOLD": 0.75,
    "DOCKER_IMAGE_NAME": "self-eng-sandbox",
    "DOCKER_TIMEOUT": 30,
    "CHROMA_PERSIST_DIR": Path("./chroma_db"),
    "TOOLS_DIR": Path("./tools"),
    "FLASK_HOST": "0.0.0.0",
    "FLASK_PORT": 5000,
}


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch):
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)


def test_the_example_lists_every_setting_in_words():
    text = (ROOT / ".env.example").read_text()
    assert set(dotenv_values(ROOT / ".env.example")) == {name.upper() for name in Settings.model_fields}
    for line, previous in zip(text.splitlines()[1:], text.splitlines(), strict=False):
        if "=" in line and not line.startswith("#"):
            assert previous.startswith("# "), f"{line} is not explained"


def test_the_example_shows_the_defaults():
    assert load_settings(ROOT / ".env.example") == load_settings(None)


def test_the_nine_variables_of_the_reference_keep_their_names_and_defaults():
    settings = load_settings(None)
    assert {name: getattr(settings, name.lower()) for name in REFERENCE} == REFERENCE


def test_the_environment_wins_over_the_file(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("FLASK_PORT=6000\nOPENAI_MODEL=from-file\n")
    monkeypatch.setenv("FLASK_PORT", "7000")
    settings = load_settings(tmp_path / ".env")
    assert (settings.flask_port, settings.openai_model) == (7000, "from-file")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("FLASK_PORT", "99999", "FLASK_PORT='99999': Input should be less than or equal to 65535"),
        ("SIMILARITY_THRESHOLD", "high", "SIMILARITY_THRESHOLD='high': Input should be a valid number, unable to parse string as a number"),
        ("SANDBOX", "host", "SANDBOX='host': Input should be 'auto' or 'docker'"),
        ("OPENAI_BASE_URL", "localhost:1", r"OPENAI_BASE_URL='localhost:1': String should match pattern '^https?://\S+$'"),
        ("ASYNC_MODE", "gevent", "ASYNC_MODE='gevent': Input should be 'eventlet' or 'threading'"),
    ],
)
def test_a_bad_value_is_named_with_what_is_allowed(monkeypatch, name, value, message):
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as caught:
        load_settings(None)
    assert caught.value.message == message


def test_secrets_are_shown_nowhere(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "sk-secret" not in repr(load_settings(None))


def test_without_key_and_server_the_offline_model_serves(monkeypatch):
    assert load_settings(None).offline
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1")
    assert not load_settings(None).offline
