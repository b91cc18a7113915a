"""Signing keys: the Ed25519 key of this instance, and those of others that a person trusts.

Keys are written as OpenSSH writes them, `ssh-ed25519 AAAA…`, and fingerprints as `ssh-keygen -l`
prints them. The private key is in `signing.key`, made at its first use and closed to other users;
`trusted_keys` has one key a line, with a name after it.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from filelock import FileLock

from selfeng.core.errors import ConfigurationError, RequestError, ResourceNotFound
from selfeng.core.private import close_to_others, make_private, replace_private
from selfeng.core.value import Value
from selfeng.core.visible import one_line

SignerStatus = Literal["own", "trusted", "unknown", "unsigned"]
"""own: this instance signed it; trusted: a key of `trusted_keys`; unknown: another key."""
_PRIVATE, _TRUSTED = "signing.key", "trusted_keys"
_NAME = re.compile(r"\S(?:.{0,98}\S)?")


class TrustedKey(Value):
    """A key that a person trusts."""

    name: str
    key: str
    fingerprint: str


class DetachedSignature(Value):
    """A detached signature, with the key that is said to have made it."""

    key: str
    """`ssh-ed25519 AAAA…`"""
    signature: str
    """Base64 of its 64 bytes."""


class Signer(Value):
    """The key that signed a file, and what this instance knows of it."""

    status: SignerStatus
    name: str = ""
    """The name that a trusted key was given here."""
    key: str = ""
    fingerprint: str = ""
    """`SHA256:…`; "" for an unsigned file."""

    def __str__(self) -> str:
        match self.status:
            case "own":
                return f"signed by this instance ({self.fingerprint})"
            case "trusted":
                return f"signed by {self.name}, whom you trust ({self.fingerprint})"
            case "unknown":
                return f"signed by an unknown key ({self.fingerprint})"
            case "unsigned":
                return "not signed"


UNSIGNED = Signer(status="unsigned")


class SigningKeys:
    """Blocking; processes may share the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def own_key(self) -> str:
        """The public key of this instance. Raises: ConfigurationError: its file is damaged."""
        return _text(self._private().public_key())

    def sign(self, content: bytes) -> DetachedSignature:
        """Raises: ConfigurationError: the file of the key is damaged."""
        private = self._private()
        signed = base64.b64encode(private.sign(content)).decode()
        return DetachedSignature(key=_text(private.public_key()), signature=signed)

    def signer(self, content: bytes, signature: DetachedSignature | None) -> Signer:
        """The signer of the content. Raises: RequestError: the signature is not of this content."""
        if signature is None:
            return UNSIGNED
        public = read_key(signature.key)
        try:
            public.verify(base64.b64decode(signature.signature, validate=True), content)
        except (InvalidSignature, binascii.Error, ValueError) as error:
            raise RequestError(
                f"the signature by {fingerprint(public)} is broken: the file was changed after it "
                "was signed, or the signature is of another file",
                "get the file again from its author, and do not use this one",
                cause="modified",
            ) from error
        key, names_by_key = (
            _text(public),
            {trusted_key.key: trusted_key.name for trusted_key in self.trusted()},
        )
        is_own = self._exists() and key == self.own_key()
        status: SignerStatus = "own" if is_own else "trusted" if key in names_by_key else "unknown"
        return Signer(
            status=status, name=names_by_key.get(key, ""), key=key, fingerprint=fingerprint(public)
        )

    def trusted(self) -> tuple[TrustedKey, ...]:
        """The trusted keys, in the order in which they were added. Raises: ConfigurationError: a
        line of the file is no key.
        """
        path = self._folder / _TRUSTED
        try:
            lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(
                f"{path} can't be read: {error}", "correct or delete it"
            ) from error
        return tuple(self._trusted_keys(path, lines))

    def trust(self, key: str, name: str) -> TrustedKey:
        """Trust a key under a name; one that is trusted already gets the new name.

        Raises: RequestError: it is no Ed25519 key, or the name is not one line of 1 to 100 visible
            characters.
        """
        public = read_key(key)
        if not _NAME.fullmatch(name) or one_line(name) != name:
            raise RequestError(
                f"{name[:100]!r} can't be the name of a key",
                "use one line of 1 to 100 visible characters",
            )
        new = TrustedKey(name=name, key=_text(public), fingerprint=fingerprint(public))
        with self._alone():
            self._write(
                [
                    *(trusted_key for trusted_key in self.trusted() if trusted_key.key != new.key),
                    new,
                ]
            )
        return new

    def distrust(self, which: str) -> TrustedKey:
        """Stop trusting a key, given as key, fingerprint or name. Raises: ResourceNotFound: it is
        not trusted; RequestError: several keys have that name.
        """
        bare = " ".join(which.split()[:2])
        with self._alone():
            keys = self.trusted()
            matches = [k for k in keys if which in (k.name, k.fingerprint) or bare == k.key]
            if not matches:
                raise ResourceNotFound(
                    f"no trusted key is {which[:100]!r}", "`selfeng keys` lists them"
                )
            if len(matches) > 1:
                raise RequestError(
                    f"{len(matches)} trusted keys have the name {which[:100]!r}",
                    "give the fingerprint; `selfeng keys` lists them",
                )
            self._write([key for key in keys if key not in matches])
        return matches[0]

    def _trusted_keys(self, path: Path, lines: list[str]) -> Iterator[TrustedKey]:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            kind, _, blob_and_name = line.partition(" ")
            blob, _, name = blob_and_name.partition(" ")
            try:
                public = read_key(f"{kind} {blob}")
            except RequestError as error:
                raise ConfigurationError(
                    f"line {number} of {path}: {error.message}", "correct or delete the line"
                ) from error
            yield TrustedKey(
                name=one_line(name.strip()) or fingerprint(public),
                key=_text(public),
                fingerprint=fingerprint(public),
            )

    def _write(self, keys: list[TrustedKey]) -> None:
        lines = "".join(f"{key.key} {key.name}\n" for key in keys)
        replace_private(self._folder / _TRUSTED, lines.encode())

    def _exists(self) -> bool:
        return (self._folder / _PRIVATE).exists()

    def _private(self) -> Ed25519PrivateKey:
        path = self._folder / _PRIVATE
        with self._alone():
            if not self._exists():
                pem = Ed25519PrivateKey.generate().private_bytes(
                    serialization.Encoding.PEM,
                    serialization.PrivateFormat.PKCS8,
                    serialization.NoEncryption(),
                )
                replace_private(path, pem)
            close_to_others(path)
            try:
                key = serialization.load_pem_private_key(path.read_bytes(), password=None)
            except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
                raise ConfigurationError(
                    f"{path} can't be read: {error}",
                    "restore it; or delete it, and a new key is made, which nobody trusts yet",
                ) from error
        if not isinstance(key, Ed25519PrivateKey):
            raise ConfigurationError(f"{path} is no Ed25519 key", "restore it, or delete it")
        return key

    @contextmanager
    def _alone(self) -> Iterator[None]:
        make_private(self._folder)
        with FileLock(self._folder / f"{_PRIVATE}.lock", mode=0o600):
            yield


def read_key(text: str) -> Ed25519PublicKey:
    """A public key as OpenSSH writes it; a comment after it is left out. Raises: RequestError."""
    try:
        key = serialization.load_ssh_public_key(" ".join(text.split()[:2]).encode())
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise RequestError(
            f"{text[:60]!r} is no Ed25519 key",
            "give the line that `selfeng keys` prints at its owner's: ssh-ed25519 AAAA…",
        )
    return key


def fingerprint(key: Ed25519PublicKey) -> str:
    """As `ssh-keygen -l` prints it."""
    blob = base64.b64decode(_text(key).split()[1])
    return f"SHA256:{base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip('=')}"


def _text(key: Ed25519PublicKey) -> str:
    return key.public_bytes(
        *(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    ).decode()
