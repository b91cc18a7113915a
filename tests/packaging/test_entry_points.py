"""Entry points of an installed package: a sandbox's backend, a provider of models."""

import sys
from pathlib import Path
from typing import Any

import pytest

from selfeng.core.errors import ConfigurationError, ModelUnavailable
from selfeng.core.model_server import ModelServer
from selfeng.core.settings import Settings
from selfeng.llm_client import openai_compatible, provider_named
from selfeng.sandbox import SecureSandbox

MODULE = """
from selfeng.sandboxes.backend import AutoBackend

def backend(options):
    return AutoBackend([])

def provider(server, max_retries):
    return (server.model, max_retries)
"""
ENTRY_POINTS = """
[selfeng.sandboxes]
microvm = thirdparty_selfeng:backend
[selfeng.models]
native = thirdparty_selfeng:provider
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "thirdparty_selfeng-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: thirdparty-selfeng\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (tmp_path / "thirdparty_selfeng.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "thirdparty_selfeng", raising=False)


def settings(tmp_path: Path, **values: Any) -> Settings:
    return Settings(_env_file=None, data_dir=tmp_path / "data", **values)


def test_a_package_provides_a_sandbox_backend(installed: None, tmp_path: Path) -> None:
    sandbox = SecureSandbox.from_settings(settings(tmp_path, sandbox="microvm"))
    assert sandbox.backend == "none"  # of its AutoBackend, which has chosen none yet


def test_a_package_provides_a_model_provider(installed: None, tmp_path: Path) -> None:
    server = ModelServer(base_url="http://a", model="m", api_key="k", timeout=1)
    make: Any = provider_named(settings(tmp_path, openai_api="native").openai_api)
    assert make(server, 2) == ("m", 2)
    assert provider_named("responses") is openai_compatible


def test_an_unknown_name_is_refused_with_those_that_exist(installed: None, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        SecureSandbox.from_settings(settings(tmp_path, sandbox="podman"))
    assert str(caught.value.message) == (
        "SANDBOX='podman' is unknown, and no installed package provides it"
    )
    assert caught.value.remedy == (
        "choose among auto, docker, bubblewrap, microvm, or install the package that provides it"
    )
    with pytest.raises(ConfigurationError, match="OPENAI_API='nativ' is unknown"):
        provider_named("nativ")


def test_a_name_that_is_none_is_refused_by_the_settings(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="openai_api"):
        settings(tmp_path, openai_api="../x")


async def test_the_offline_model_is_such_a_package() -> None:
    """Also in a checkout that is not installed, or was before the entry point was declared."""
    server = ModelServer(base_url="http://a", model="offline", api_key="k", timeout=5)
    provider = provider_named("offline")(server, 0)
    models = await provider.models()
    await provider.aclose()
    assert [model.id for model in models] == ["offline"]
    with pytest.raises(ModelUnavailable):
        await provider_named("auto")(provider.server, 0).models()
