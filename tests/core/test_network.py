"""How installers reach the network: what the machine says in one place holds for all of them, and a
server that is not trusted ends them at once.
"""

import ensurepip
import os
import ssl
import sys
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme
from uv import find_uv_bin

from selfeng.core.network import (
    InstallFailed,
    image_arguments,
    installer_environment,
    proxies,
    run_installer,
    system_store,
)

STORE = "/store.pem"


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """The environment of a person without settings, whose machine has no files of pip."""
    return {"HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}


def added(environment: dict[str, str]) -> dict[str, str]:
    every = installer_environment(environment, STORE)
    return {name: value for name, value in every.items() if name not in environment}


def test_the_systems_store_is_every_installers(bare: dict[str, str]) -> None:
    names = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
    assert added(bare) == dict.fromkeys(names, STORE)


def test_a_file_of_authorities_that_is_named_wins_for_all_that_have_none(
    bare: dict[str, str],
) -> None:
    environment = {**bare, "SSL_CERT_FILE": "/company.pem", "NODE_EXTRA_CA_CERTS": "/node.pem"}
    assert added(environment) == {"PIP_CERT": "/company.pem", "REQUESTS_CA_BUNDLE": "/company.pem"}
    folder = added({**bare, "SSL_CERT_DIR": "/certificates"})
    assert "SSL_CERT_FILE" not in folder
    for_pip = installer_environment({**bare, "PIP_CERT": "/pip.pem"}, STORE)
    assert (for_pip["PIP_CERT"], for_pip["SSL_CERT_FILE"]) == ("/pip.pem", "/pip.pem")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no file of authorities")
def test_without_a_store_the_installers_own_authorities_serve(bare: dict[str, str]) -> None:
    assert installer_environment(bare, "") == bare


def test_uv_has_the_indexes_of_pips_file_and_pip_those_of_uv(
    bare: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "pip.conf"
    file.write_text(
        "[global]\nindex-url = https://a.example/simple\nextra_index_url =\n  https://b.example/x\n"
        "  https://c.example/y\n[install]\ncert = /of-the-file.pem\n"
    )
    for_uv = added({**bare, "PIP_CONFIG_FILE": str(file)})
    assert for_uv["UV_INDEX_URL"] == "https://a.example/simple"
    assert for_uv["UV_EXTRA_INDEX_URL"] == "https://b.example/x https://c.example/y"
    assert for_uv["UV_INDEX_STRATEGY"] == "unsafe-best-match"
    assert {for_uv[name] for name in ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")} == {
        "/of-the-file.pem"
    }
    for_pip = added({**bare, "UV_DEFAULT_INDEX": "https://a.example/simple"})
    assert for_pip["PIP_INDEX_URL"] == "https://a.example/simple"
    both = {**bare, "UV_DEFAULT_INDEX": "https://a.example", "PIP_INDEX_URL": "https://b.example"}
    assert not [name for name in added(both) if "INDEX" in name]


def test_files_of_uv_keep_pips_indexes_away(bare: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / ".config" / "uv" / "uv.toml"
    file.parent.mkdir(parents=True)
    file.write_text('index-url = "https://a.example/simple"\n')
    assert "UV_INDEX_URL" not in added({**bare, "PIP_INDEX_URL": "https://b.example/simple"})


def test_a_proxy_is_in_both_cases_and_never_between_the_machine_and_itself() -> None:
    assert proxies({}) == {}
    assert proxies({"HTTPS_PROXY": "http://p:3128", "no_proxy": "intern.example, localhost"}) == {
        "https_proxy": "http://p:3128",
        "no_proxy": "intern.example,localhost,127.0.0.1,::1",
        "NO_PROXY": "intern.example,localhost,127.0.0.1,::1",
    }
    assert proxies({"http_proxy": "http://p:3128", "NO_PROXY": "*"})["no_proxy"] == "*"
    assert proxies({}, "http://of-pip:3128")["HTTPS_PROXY"] == "http://of-pip:3128"


def test_the_build_of_an_image_has_proxies_and_indexes_but_no_folders_of_this_machine(
    bare: dict[str, str],
) -> None:
    environment = {
        **bare,
        "PIP_INDEX_URL": "https://a.example/simple",
        "PIP_EXTRA_INDEX_URL": "file:///srv/simple https://b.example/simple",
        "PIP_FIND_LINKS": "/srv/wheels",
        "https_proxy": "http://p:3128",
    }
    assert image_arguments(environment) == {
        "PIP_INDEX_URL": "https://a.example/simple",
        "PIP_EXTRA_INDEX_URL": "https://b.example/simple",
        "https_proxy": "http://p:3128",
    }


class Index(SimpleHTTPRequestHandler):
    """A package index with one package, `small`."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def index(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address of an index that serves TLS, and the file of its authority."""
    page = tmp_path / "index" / "simple" / "small"
    page.mkdir(parents=True)
    name, info = "small-1.0-py3-none-any.whl", "small-1.0.dist-info"
    with zipfile.ZipFile(page / name, "w") as wheel:
        wheel.writestr("small.py", "SIZE = 1\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: small\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{info}/RECORD", "")
    (page / "index.html").write_text(f'<a href="{name}">{name}</a>')
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    handler = partial(Index, directory=str(tmp_path / "index"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"https://127.0.0.1:{server.server_port}/simple", str(tmp_path / "authority.pem")
        server.shutdown()
        thread.join()


def pip() -> Path:
    """That of Python or of its distribution, as environments that uv makes have none."""
    folders = (Path(ensurepip.__file__).with_name("_bundled"), Path("/usr/share/python-wheels"))
    wheels = [wheel for folder in folders for wheel in folder.glob("pip-*.whl")]
    return wheels[0] / "pip"


def installer(by: str, target: Path) -> list[str]:
    if by == "uv":
        options = ["--python", sys.executable, "--no-cache"]
        command = [find_uv_bin(), "pip", "install", *options]
    else:
        command = [sys.executable, str(pip()), "install", "--no-cache-dir"]
    return [*command, "--target", str(target), "small"]


@pytest.mark.parametrize("by", ["uv", "pip"])
def test_an_index_behind_a_companys_authority_serves_each_installer(
    by: str, index: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is named to pip, and the authority to nobody in particular."""
    address, authority = index
    own_only(monkeypatch, PIP_INDEX_URL=address, SSL_CERT_FILE=authority)
    run_installer(installer(by, tmp_path / by))
    assert (tmp_path / by / "small.py").is_file()


@pytest.mark.parametrize("by", ["uv", "pip"])
def test_a_server_that_is_not_trusted_ends_an_installer_with_what_to_do(
    by: str, index: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, _ = index
    stranger = tmp_path / "stranger.pem"
    trustme.CA().cert_pem.write_to_path(stranger)
    own_only(monkeypatch, PIP_INDEX_URL=address, SSL_CERT_FILE=str(stranger), UV_HTTP_RETRIES="0")
    lines = list[str]()
    with pytest.raises(InstallFailed) as failed:
        run_installer(installer(by, tmp_path / by), lines.append)
    assert failed.value.remedy == (
        f"the server's certificate is not signed by an authority in {stranger}: add that of your "
        "company to the system's store (`update-ca-certificates`), or set SSL_CERT_FILE to a file "
        "that has it"
    )
    assert sum("etry" in line for line in lines) <= 1


def own_only(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    """Remove what this machine's owner has set about reaching an index."""
    for name in list(os.environ):
        if (
            name.startswith(("PIP_", "UV_", "SSL_", "REQUESTS_", "CURL_"))
            or "PROXY" in name.upper()
        ):
            monkeypatch.delenv(name)
    for name, value in {"PIP_CONFIG_FILE": os.devnull, **variables}.items():
        monkeypatch.setenv(name, value)


def test_the_store_of_this_machine_is_a_file_or_none() -> None:
    assert system_store() == "" or Path(system_store()).is_file()
