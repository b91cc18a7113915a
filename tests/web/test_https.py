"""The page over HTTPS by a certificate and a key of the settings, on both servers."""

import socket
import ssl
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
import trustme

from selfeng.core.errors import ConfigurationError
from selfeng.core.settings import Settings
from tests.web.server_process import ServerProcess
from web.app import tls_context
from web.serving import AsyncMode


@pytest.fixture
def pair(tmp_path: Path) -> dict[str, str]:
    """The settings of a certificate for this machine; `ca.pem` in the same folder signed it."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    certificate = authority.issue_cert("127.0.0.1")
    for number, blob in enumerate(certificate.cert_chain_pems):
        blob.write_to_path(tmp_path / "certificate.pem", append=number > 0)
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    return {
        "HTTPS_CERTIFICATE": str(tmp_path / "certificate.pem"),
        "HTTPS_KEY": str(tmp_path / "key.pem"),
    }


@pytest.mark.parametrize("mode", ["eventlet", "threading"])
def test_page_files_and_websocket_are_encrypted(
    tmp_path: Path, pair: dict[str, str], mode: AsyncMode
) -> None:
    server = ServerProcess(tmp_path, mode, **pair)
    try:
        assert server.link.startswith("https://127.0.0.1:")
        parts = urlsplit(server.url)
        with socket.create_connection((parts.hostname, parts.port or 0)) as silent:
            with socket.create_connection((parts.hostname, parts.port or 0)) as plain:
                plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                plain.settimeout(20)
                with suppress(ConnectionResetError):
                    assert b"HTTP/1.1 2" not in plain.recv(100)
            visitor = requests.Session()
            visitor.verify, visitor.trust_env = str(tmp_path / "ca.pem"), False
            page = visitor.get(server.link)
            assert page.status_code == 200
            (cookie,) = visitor.cookies
            assert cookie.secure
            headers = {"Origin": server.url}
            sent = visitor.post(f"{server.url}/api/v1/files?name=a", data=b"abc", headers=headers)
            assert sent.status_code == 200
            other = {"Origin": server.url.replace("https", "http")}
            sent = visitor.post(f"{server.url}/api/v1/files?name=a", data=b"abc", headers=other)
            assert sent.status_code == 403
            with server.socket(visitor) as client:
                assert client.ask("Hello")["ok"]
            silent.close()
    finally:
        server.end()
    assert "Traceback" not in server.errors
    assert "nothing is encrypted" not in server.errors


def test_a_pair_that_cannot_be_used_is_named(tmp_path: Path, pair: dict[str, str]) -> None:
    certificate, key = (Path(path) for path in pair.values())
    other = trustme.CA().issue_cert("127.0.0.1")
    other.private_key_pem.write_to_path(tmp_path / "other.pem")
    assert isinstance(tls_context(_settings(certificate, key)), ssl.SSLContext)
    assert tls_context(_settings(None, None)) is None
    for wrong_pair, words in (
        ((certificate, None), "HTTPS_KEY is not set"),
        ((None, key), "HTTPS_CERTIFICATE is not set"),
        ((tmp_path / "nothing.pem", key), "nothing.pem"),
        ((certificate, tmp_path / "other.pem"), "other.pem"),
        ((key, certificate), "can't be used"),
    ):
        with pytest.raises(ConfigurationError, match=words) as caught:
            tls_context(_settings(*wrong_pair))
        assert caught.value.remedy


def _settings(certificate: Path | None, key: Path | None) -> Settings:
    return Settings(_env_file=None, https_certificate=certificate, https_key=key)
