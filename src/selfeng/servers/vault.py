"""The vault: the secrets that people let tools use, by their names.

A value is in the system's keyring where there is one, else in the database, encrypted (Fernet) by a
key in DATA_DIR, which no backup has. Nothing but the broker reads values.
"""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from filelock import FileLock

from selfeng.core.errors import ConfigurationError, RequestError, ResourceNotFound
from selfeng.core.private import make_private, new_private_file
from selfeng.core.secrets import SHORTEST
from selfeng.core.value import Value
from selfeng.store import schema
from selfeng.store.database import fetch, fetch_column, id_of, utc, writing

if TYPE_CHECKING:
    from cryptography.fernet import Fernet
    from keyring.backend import KeyringBackend

KEY_FILE = "secrets.key"
"""Name of the key's file in DATA_DIR."""
LONGEST = 8192
"""Bytes of a value."""
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_SECRETS = schema.secrets


class StoredSecret(Value):
    """A secret without its value."""

    name: str
    updated_at: datetime
    """UTC."""
    readable: bool
    """False: this machine has no key for it, as after a restore elsewhere; enter it again."""


def system_keyring() -> "KeyringBackend | None":
    """The system's keyring, unlocked or not; None if there is none that is safe."""
    import keyring

    backend = keyring.get_keyring()
    return backend if backend.priority >= 1 else None


class Vault:
    """All methods block."""

    def __init__(
        self,
        database: sa.Engine,
        folder: Path,
        keyring: "Callable[[], KeyringBackend | None]" = system_keyring,
    ) -> None:
        """`folder`: of the key's file, which is made when it is first needed."""
        self._database, self._folder, self._keyring = database, folder, keyring

    def list(self) -> tuple[StoredSecret, ...]:
        """All secrets, by name."""
        rows = fetch(self._database, sa.select(_SECRETS).order_by(_SECRETS.c.name))
        return tuple(
            StoredSecret(
                name=row.name,
                updated_at=utc(row.updated_at),
                readable=self._read(row.name, row.content) is not None,
            )
            for row in rows
        )

    def check_name(self, name: str) -> None:
        """Raises: RequestError: no secret can have this name."""
        if not _NAME.fullmatch(name):
            raise RequestError(
                "the name of a secret has capitals, digits and _, and begins with a letter",
                "use a name such as GITHUB_TOKEN",
            )

    def set(self, name: str, value: str, owner: str = "") -> None:
        """Keep a secret, in place of an earlier value; "" leaves its owner.

        Raises:
            RequestError: the name or the value can't be one.
        """
        self.check_name(name)
        if not len(value) >= SHORTEST or len(value.encode(errors="replace")) > LONGEST:
            raise RequestError(
                f"a secret has at least {SHORTEST} characters and at most {LONGEST // 1024} KB",
                "enter the whole value; less can't be removed from what services answer",
            )
        if not value.isprintable():
            raise RequestError("a secret is one line of printable characters", "enter it again")
        row = {"content": self._keep(name, value), "updated_at": datetime.now(UTC)}
        row |= {"owner": owner} if owner else {}
        with writing(self._database) as connection:
            if not connection.execute(_SECRETS.update().where(_is(name)).values(row)).rowcount:
                connection.execute(_SECRETS.insert().values(name=name, **row))

    def value(self, name: str) -> str:
        """The value of a secret, for requests only: of a token, which is renewed if it has expired,
        the access token.

        Raises:
            ResourceNotFound: there is no such secret, or this machine can't read it.
            NetworkRefused: the service does not renew the token.
        """
        for row in fetch(self._database, sa.select(_SECRETS).where(_is(name))):
            if (value := self._read(name, row.content)) is not None:
                return self._access_token(name, value) if value.startswith("{") else value
        raise ResourceNotFound(
            f"the secret {name} has no value here",
            f"enter it in the settings, or by `selfeng secrets set {name}`",
        )

    def _access_token(self, name: str, value: str) -> str:
        from selfeng.servers.oauth import token_of

        if (token := token_of(value)) is None:
            return value
        if token.expired and token.refresh_token:
            token = token.renewed()
            self.set(name, token.model_dump_json())
        return token.access_token

    def remove(self, name: str) -> None:
        """Raises: ResourceNotFound: there is no such secret."""
        with writing(self._database) as connection:
            if not connection.execute(_SECRETS.delete().where(_is(name))).rowcount:
                raise ResourceNotFound(
                    f"there is no secret {name!r}", "`selfeng secrets list` shows what there is"
                )
        if keyring := self._keyring():
            from keyring.errors import KeyringError

            with suppress(KeyringError):  # it has none of that name
                keyring.delete_password(self._service(), name)

    def remove_of(self, owner: str) -> None:
        """Remove the secrets that this person entered."""
        query = sa.select(_SECRETS.c.name).where(_SECRETS.c.owner == owner)
        for name in fetch_column(self._database, query):
            with suppress(ResourceNotFound):  # it was removed meanwhile
                self.remove(name)

    def _keep(self, name: str, value: str) -> str | None:
        """The encrypted value for the database; None if the keyring has taken it."""
        if keyring := self._keyring():
            from keyring.errors import KeyringError

            with suppress(KeyringError):  # it is locked, or takes no such value
                keyring.set_password(self._service(), name, value)
                return None
        return self._cipher().encrypt(json.dumps([name, value]).encode()).decode()

    def _read(self, name: str, content: str | None) -> str | None:
        """The value; None if this machine can't read it."""
        if content is None:
            from keyring.errors import KeyringError

            keyring = self._keyring()
            with suppress(KeyringError):
                return keyring.get_password(self._service(), name) if keyring else None
            return None
        from cryptography.fernet import InvalidToken

        try:
            encrypted_name, value = json.loads(self._cipher().decrypt(content.encode()))
        except (InvalidToken, ConfigurationError):
            return None
        return str(value) if encrypted_name == name else None

    def _service(self) -> str:
        """The name of this database in the keyring."""
        return f"selfeng {id_of(self._database)}"

    def _cipher(self) -> "Fernet":
        """Raises: ConfigurationError: the key's file is damaged."""
        from cryptography.fernet import Fernet

        path = self._folder / KEY_FILE
        make_private(self._folder)
        with FileLock(f"{path}.lock", mode=0o600):
            with suppress(FileExistsError), new_private_file(path) as file:
                file.write(Fernet.generate_key())
            try:
                return Fernet(path.read_bytes())
            except ValueError as error:
                raise ConfigurationError(
                    f"{path} is not a key: {error}",
                    "bring its backup back, or delete it and enter the secrets again",
                ) from error


def _is(name: str) -> sa.ColumnElement[bool]:
    return _SECRETS.c.name == name
