"""Credentials in what comes from the sandbox."""

import pytest

from selfeng.core.secrets import REMOVED, without_secrets

SECRETS = [
    "sk-CANARY-0123456789abcdef",
    "sk-proj-abcDEF123456_7890-xyz",
    "sk-ant-api03-abcdefghijkl0123",
    "sk_live_0123456789abcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "github_pat_11AAAAAAA0123456789_abcdef",
    "glpat-0123456789abcdefghij",
    "xoxb-123456789012-abcdef",
    "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "hf_abcdefghijABCDEFGHIJabcdefghij0123",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_credentials_are_taken_out(secret: str) -> None:
    assert without_secrets(f"key='{secret}', more") == f"key='{REMOVED}', more"


def test_passwords_in_addresses_are_taken_out() -> None:
    assert (
        without_secrets("postgres://me:hunter2@db/x http://a/b:c@d")
        == f"postgres://{REMOVED}@db/x http://a/b:c@d"
    )


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn-classification-report",
        "risk-management-2024-approach-x1",
        "1234 AKIA eyJ",
        "http://h:80/a",
        "",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert without_secrets(text) == text
