"""`.env.example` lists every setting with its default, and bad values are named."""

import os
from pathlib import Path
from typing import get_args

import pytest
from dotenv import dotenv_values

from selfeng.core.errors import ConfigurationError
from selfeng.core.settings import Settings, export_env_file, load_settings, make_folders
from tests.docs.tables import env_example

ROOT = Path(__file__).parents[2]
DATABASE = r"^(|sqlite:///.+|postgresql\+psycopg://.+)$"
IMAGE = (
    "should be the name of an image, such as self-eng-sandbox or "
    "registry.example:5000/team/sandbox:2"
)
REFERENCE = {
    "OPENAI_API_KEY": None,
    "OPENAI_MODEL": "gpt-4",
    "SIMILARITY_THRESHOLD": 0.75,
    "DOCKER_IMAGE_NAME": "self-eng-sandbox",
    "DOCKER_TIMEOUT": 30,
    "CHROMA_PERSIST_DIR": ROOT / "chroma_db",
    "TOOLS_DIR": ROOT / "tools",
    "FLASK_HOST": "0.0.0.0",
    "FLASK_PORT": 5000,
}


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch):
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)


def test_the_example_is_generated_from_the_settings():
    assert set(dotenv_values(ROOT / ".env.example")) == {
        name.upper() for name in Settings.model_fields
    }
    assert (ROOT / ".env.example").read_text() == env_example(), "run `make docs`"


def test_every_setting_is_explained():
    lines = env_example().splitlines()
    for line, previous in zip(lines[1:], lines, strict=False):
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
        ("EMBEDDER", "auto", "EMBEDDER='auto': Input should be 'minilm' or 'openai'"),
        (
            "SIMILARITY_THRESHOLD",
            "high",
            "SIMILARITY_THRESHOLD='high': Input should be a valid number, unable to parse string "
            "as a number",
        ),
        (
            "SEARCH_FLOOR",
            "0.8",
            "SEARCH_FLOOR='0.8': should be below SIMILARITY_THRESHOLD=0.75, or 0 to always "
            "ask the model",
        ),
        (
            "OPENAI_BASE_URL",
            "localhost:1",
            r"OPENAI_BASE_URL='localhost:1': String should match pattern '^https?://\S+$'",
        ),
        (
            "DATABASE_URL",
            "mysql://me:secret@host/db",
            f"DATABASE_URL='mysql://***@host/db': String should match pattern '{DATABASE}'",
        ),
        ("DOCKER_IMAGE_NAME", "a:", f"DOCKER_IMAGE_NAME='a:': {IMAGE}"),
        ("DOCKER_IMAGE_NAME", "Upper", f"DOCKER_IMAGE_NAME='Upper': {IMAGE}"),
        ("BASE_IMAGE", "a//b", f"BASE_IMAGE='a//b': {IMAGE}"),
        (
            "TURN_MAX_TOKENS",
            f"{10**30}",
            f"TURN_MAX_TOKENS='{10**30}': Input should be less than or equal to 1000000000",
        ),
        ("TURN_MAX_SECONDS", "nan", "TURN_MAX_SECONDS='nan': Input should be a finite number"),
        ("TURN_MAX_COST", "inf", "TURN_MAX_COST='inf': Input should be a finite number"),
        ("MCP_TIMEOUT", "-1", "MCP_TIMEOUT='-1': Input should be greater than 0"),
        (
            "OPENAI_MODEL",
            "a\r\nb",
            r"OPENAI_MODEL='a\r\nb': has a character that acts or hides, such as '\r'",
        ),
        (
            "OPENAI_API_KEY",
            "sk-a\nX-B: c",
            r"OPENAI_API_KEY=(hidden): has a character that acts or hides, such as '\n'",
        ),
        (
            "ACCESS_TOKEN",
            "x" * 10_001,
            "ACCESS_TOKEN=(hidden): has 10,001 characters, more than 10,000",
        ),
        ("ASYNC_MODE", "gevent", "ASYNC_MODE='gevent': Input should be 'eventlet' or 'threading'"),
    ],
)
def test_a_bad_value_is_named_with_what_is_allowed(monkeypatch, name, value, message):
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as caught:
        load_settings(None)
    assert caught.value.message == message


@pytest.mark.parametrize(
    "given",
    [{"openai_model": "a\0"}, {"docker_hosts": ("tcp://a\0:1",)}, {"data_dir": Path("a\0")}],
)
def test_no_text_has_a_nul_wherever_it_comes_from(given):
    with pytest.raises(
        ConfigurationError, match=r"has a character that acts or hides, such as '\\x00'"
    ):
        load_settings(None, given)


def test_every_number_has_a_range():
    for name, field in Settings.model_fields.items():
        if {int, float} & {field.annotation, *get_args(field.annotation)}:
            bounds = {type(rule).__name__ for rule in field.metadata}
            assert bounds & {"Ge", "Gt"}, name
            assert "Le" in bounds, name


@pytest.mark.parametrize(
    "name",
    ["a", "local/python:3.11-slim", "localhost:5000/a_b/c--d:V.1", f"python@sha256:{'0' * 64}"],
)
def test_names_of_images_are_taken_as_docker_takes_them(monkeypatch, name):
    monkeypatch.setenv("BASE_IMAGE", name)
    assert load_settings(None).base_image == name


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "OPENAI_BASE_URL", "ACCESS_TOKEN", "FLASK_PORT"]
)
def test_a_blank_value_is_none(monkeypatch, name):
    default = load_settings(None)
    monkeypatch.setenv(name, " \t")
    assert load_settings(None) == default


def test_a_key_is_used_without_the_blanks_around_it(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", " sk-secret\n")
    key = load_settings(None).openai_api_key
    assert key
    assert key.get_secret_value() == "sk-secret"


def test_relative_folders_are_the_projects_wherever_a_program_starts(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", "state/data")
    settings = load_settings(None)
    assert (settings.data_dir, settings.tools_dir) == (ROOT / "state" / "data", ROOT / "tools")
    assert settings.database == f"sqlite:///{ROOT}/state/data/agent.db"
    monkeypatch.setenv("DATABASE_URL", "sqlite:///state/other.db")
    assert load_settings(None).database == f"sqlite:///{ROOT}/state/other.db"
    monkeypatch.setenv("DATABASE_URL", "sqlite:////state/other.db")
    assert load_settings(None).database == "sqlite:////state/other.db"


def test_the_env_file_is_the_projects_wherever_a_program_starts(monkeypatch, tmp_path):
    before = load_settings()
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("FLASK_PORT=6000\nOPENAI_MODEL=from-some-folder\n")
    assert load_settings() == before


def test_an_env_file_that_is_no_text_is_named(tmp_path):
    (tmp_path / ".env").write_bytes("OPENAI_MODEL=café".encode("latin-1"))
    with pytest.raises(ConfigurationError) as caught:
        load_settings(tmp_path / ".env")
    assert (
        caught.value.message
        == f"{tmp_path}/.env is not UTF-8 text: unexpected end of data at byte 16"
    )
    assert caught.value.remedy == "save it as UTF-8"


def test_a_program_gets_the_variables_of_the_env_file_that_are_no_settings(tmp_path, monkeypatch):
    env = tmp_path / ".env"
    env.write_text(
        "FLASK_PORT=6000\nopenai_model=small\nSSL_CERT_FILE='/etc/our ca.pem'\n"
        "export HTTPS_PROXY=http://proxy.example:3128\nNO_PROXY=\nALONE\nOTEL_A=${SSL_CERT_FILE}#\n"
    )
    for name in ("SSL_CERT_FILE", "NO_PROXY", "ALONE", "OTEL_A"):
        monkeypatch.setenv(name, "")  # is noted, so that the end of the test removes it
        monkeypatch.delenv(name)
    monkeypatch.setenv("HTTPS_PROXY", "http://other.example:1")
    before = dict(os.environ)
    export_env_file(env)
    added = {name: os.environ[name] for name in os.environ.keys() - before.keys()}
    for name in added:
        monkeypatch.delenv(name)
    assert added == {
        "SSL_CERT_FILE": "/etc/our ca.pem",
        "NO_PROXY": "",
        "OTEL_A": "/etc/our ca.pem#",
    }
    assert before.items() <= os.environ.items()
    env.write_bytes("NO_PROXY=café".encode("latin-1"))
    with pytest.raises(ConfigurationError, match=r"is not UTF-8 text"):
        export_env_file(env)
    export_env_file(tmp_path / "missing")


@pytest.mark.parametrize("variable", ["DATA_DIR", "TOOLS_DIR", "CHROMA_PERSIST_DIR"])
@pytest.mark.parametrize(
    ("folder", "problem"),
    [
        ("/etc/passwd", "is not a folder"),
        ("/etc/passwd/x", "Not a directory"),
        ("/proc/nope", "No such file or directory"),
    ],
)
def test_a_folder_that_cannot_be_used_is_named(tmp_path, monkeypatch, variable, folder, problem):
    for name in ("DATA_DIR", "TOOLS_DIR", "CHROMA_PERSIST_DIR"):
        monkeypatch.setenv(name, folder if name == variable else str(tmp_path / name))
    with pytest.raises(ConfigurationError) as caught:
        make_folders(load_settings(None))
    assert caught.value.message == f"{variable}='{folder}' can't be used: {problem}"
    assert caught.value.remedy == f"set {variable} to a writable folder"


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path, monkeypatch):
    for name in ("DATA_DIR", "CHROMA_PERSIST_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("TOOLS_DIR", "/proc")  # nobody can, not even root
    with pytest.raises(ConfigurationError, match="TOOLS_DIR='/proc' can't be used: "):
        make_folders(load_settings(None))


def test_folders_that_are_missing_are_made(tmp_path, monkeypatch):
    for name in ("DATA_DIR", "TOOLS_DIR", "CHROMA_PERSIST_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "new" / name))
    make_folders(load_settings(None))
    made = sorted((tmp_path / "new").iterdir())
    assert [(path.name, list(path.iterdir())) for path in made] == [
        ("CHROMA_PERSIST_DIR", []),
        ("DATA_DIR", []),
        ("TOOLS_DIR", []),
    ]
    assert made[1].stat().st_mode & 0o777 == 0o700


def test_secrets_are_shown_nowhere(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "sk-secret" not in repr(load_settings(None))


def test_without_key_and_server_the_offline_model_serves(monkeypatch):
    assert load_settings(None).offline
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1")
    assert not load_settings(None).offline
