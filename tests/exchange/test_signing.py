"""Signing keys: this instance's own, those that a person trusts, and what a signature says."""

import os

import pytest

from selfeng.core.errors import ConfigurationError, RequestError, ResourceNotFound
from selfeng.library.exchange.signing import UNSIGNED, SigningKeys, fingerprint, read_key

RSA = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7"


@pytest.fixture
def keys(tmp_path):
    return SigningKeys(tmp_path / "mine")


@pytest.fixture
def others(tmp_path):
    return SigningKeys(tmp_path / "theirs")


def test_the_own_key_is_made_once_and_closed_to_other_users(keys, tmp_path):
    umask = os.umask(0)
    try:
        assert keys.own_key() == keys.own_key() == SigningKeys(tmp_path / "mine").own_key()
    finally:
        os.umask(umask)
    for path in (tmp_path / "mine", *(tmp_path / "mine").iterdir()):
        assert path.stat().st_mode & 0o077 == 0, path
    assert keys.own_key().startswith("ssh-ed25519 AAAA")


def test_a_signature_tells_who_made_it(keys, others):
    content = b"some tools"
    assert keys.signer(content, None) == UNSIGNED
    assert keys.signer(content, keys.sign(content)).status == "own"
    theirs = others.sign(content)
    stranger = keys.signer(content, theirs)
    assert (stranger.status, stranger.name, stranger.key) == ("unknown", "", others.own_key())
    assert str(stranger) == f"signed by an unknown key ({stranger.fingerprint})"
    trusted = keys.trust(f"{others.own_key()} root@there", "Ada at work")
    assert trusted.fingerprint == stranger.fingerprint
    friend = keys.signer(content, theirs)
    assert (friend.status, friend.name) == ("trusted", "Ada at work")


def test_a_signature_of_something_else_is_refused(keys, others):
    signed = others.sign(b"some tools")
    mine = keys.sign(b"some tools")
    for content, signature in [
        (b"other tools", signed),
        (b"some tools", signed.model_copy(update={"key": mine.key})),
        (b"some tools", signed.model_copy(update={"signature": mine.signature})),
        (b"some tools", signed.model_copy(update={"signature": "AAAA"})),
        (b"some tools", signed.model_copy(update={"signature": "é"})),
    ]:
        with pytest.raises(RequestError, match="is broken"):
            keys.signer(content, signature)
    with pytest.raises(RequestError, match="is no Ed25519 key"):
        keys.signer(b"some tools", signed.model_copy(update={"key": RSA}))


def test_keys_are_trusted_and_distrusted_by_key_fingerprint_and_name(keys, others, tmp_path):
    for which in ("fingerprint", "key", "name"):
        keys.trust(others.own_key(), "Ada")
        again = keys.trust(others.own_key(), "Ada L.")
        assert keys.trusted() == (again,)
        assert keys.distrust(getattr(again, which)) == again
        assert keys.trusted() == ()
    with pytest.raises(ResourceNotFound, match="no trusted key is 'Ada'"):
        keys.distrust("Ada")
    keys.trust(others.own_key(), "Ada")
    keys.trust(SigningKeys(tmp_path / "third").own_key(), "Ada")
    with pytest.raises(RequestError, match="2 trusted keys have the name 'Ada'"):
        keys.distrust("Ada")


@pytest.mark.parametrize("name", ["", " ", "two\nlines", "x" * 101, "hid\u202eden", " edge"])
def test_a_name_that_could_deceive_is_refused(keys, others, name):
    with pytest.raises(RequestError, match="can't be the name of a key"):
        keys.trust(others.own_key(), name)
    assert keys.trusted() == ()


@pytest.mark.parametrize(
    "key", ["", "ssh-ed25519", "ssh-ed25519 AAAA", RSA, "Ada", "ssh-ed25519 é"]
)
def test_what_is_no_key_is_refused(keys, key):
    with pytest.raises(RequestError, match="is no Ed25519 key"):
        keys.trust(key, "Ada")


def test_a_damaged_file_is_named_with_the_remedy(keys, tmp_path):
    keys.own_key()
    (tmp_path / "mine" / "signing.key").write_text("-----BEGIN PRIVATE KEY-----\n")
    with pytest.raises(ConfigurationError, match=r"signing\.key can't be read"):
        keys.own_key()
    (tmp_path / "mine" / "trusted_keys").write_text("# ours\n\nssh-ed25519 AAAA Ada\n")
    with pytest.raises(ConfigurationError, match=r"line 3 of .*trusted_keys"):
        keys.trusted()


def test_fingerprints_are_those_that_openssh_prints():
    github = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
    assert fingerprint(read_key(github)) == "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"
