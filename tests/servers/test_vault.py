"""The vault: values are encrypted or in the system's keyring, and nowhere else."""

import stat
from collections.abc import Mapping
from pathlib import Path

import pytest
import sqlalchemy as sa
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError, PasswordSetError

from selfeng.core.errors import ConfigurationError, RequestError, ResourceNotFound
from selfeng.servers.vault import KEY_FILE, Vault
from selfeng.store.backup import restore_backup, write_backup
from selfeng.store.database import open_database

VALUE = "kanarie-0123456789"


class Memory(KeyringBackend):
    """A keyring as the system has, which `locked` refuses values."""

    priority = 5  # type: ignore[assignment]

    def __init__(self) -> None:
        self.passwords: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        return self.passwords.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.locked:
            raise PasswordSetError("locked")
        self.passwords[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if (service, username) not in self.passwords:
            raise PasswordDeleteError("none")
        del self.passwords[service, username]


@pytest.fixture
def vault(database: sa.Engine, tmp_path: Path) -> Vault:
    return Vault(database, tmp_path / "data")


def readable(vault: Vault) -> Mapping[str, bool]:
    return {secret.name: secret.readable for secret in vault.list()}


def test_the_secrets_of_one_person_are_removed(vault: Vault) -> None:
    vault.set("FIRST", VALUE, "me")
    vault.set("SECOND", VALUE, "you")
    vault.set("THIRD", VALUE)
    vault.set("FIRST", VALUE)  # as who renews a token
    vault.remove_of("me")
    assert readable(vault) == {"SECOND": True, "THIRD": True}


def test_a_value_is_kept_replaced_and_removed(vault: Vault) -> None:
    vault.set("SECOND", VALUE)
    vault.set("FIRST", "before")
    vault.set("FIRST", VALUE)
    assert readable(vault) == {"FIRST": True, "SECOND": True}
    assert vault.value("FIRST") == VALUE
    vault.remove("FIRST")
    assert readable(vault) == {"SECOND": True}
    for act in (vault.value, vault.remove):
        with pytest.raises(ResourceNotFound, match="FIRST"):
            act("FIRST")


def test_files_have_no_value_and_the_key_is_closed_to_others(vault: Vault, tmp_path: Path) -> None:
    vault.set("TOKEN", VALUE)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if VALUE.encode() in path.read_bytes()]
    assert stat.S_IMODE((tmp_path / "data" / KEY_FILE).stat().st_mode) == 0o600


def test_a_value_that_was_moved_to_another_name_is_not_read(
    vault: Vault, database: sa.Engine
) -> None:
    vault.set("TOKEN", VALUE)
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE secrets SET name = 'OTHER'"))
    assert readable(vault) == {"OTHER": False}


def test_a_backup_that_is_restored_elsewhere_asks_for_the_values(
    vault: Vault, database: sa.Engine, tmp_path: Path
) -> None:
    vault.set("TOKEN", VALUE)
    write_backup(database, {}, tmp_path / "backup")
    new = open_database(f"sqlite:///{tmp_path / 'new.db'}")
    restore_backup(tmp_path / "backup", new, {})
    elsewhere = Vault(new, tmp_path / "elsewhere")
    assert readable(elsewhere) == {"TOKEN": False}
    with pytest.raises(ResourceNotFound, match="TOKEN has no value here"):
        elsewhere.value("TOKEN")
    elsewhere.set("TOKEN", VALUE)
    assert elsewhere.value("TOKEN") == VALUE
    new.dispose()


def test_the_systems_keyring_keeps_what_it_can(database: sa.Engine, tmp_path: Path) -> None:
    keyring = Memory()
    vault = Vault(database, tmp_path, lambda: keyring)
    vault.set("TOKEN", VALUE)
    assert list(keyring.passwords.values()) == [VALUE]
    assert not (tmp_path / KEY_FILE).exists()
    assert vault.value("TOKEN") == VALUE
    assert readable(Vault(database, tmp_path)) == {"TOKEN": False}
    keyring.locked = True
    vault.set("OTHER", VALUE)
    assert (vault.value("OTHER"), len(keyring.passwords)) == (VALUE, 1)
    vault.remove("TOKEN")
    vault.remove("OTHER")
    assert keyring.passwords == {}


@pytest.mark.parametrize("name", ["", "token", "1A", "A-B", "A" * 65, "A\nB"])
def test_names_are_identifiers_in_capitals(vault: Vault, name: str) -> None:
    with pytest.raises(RequestError, match="capitals"):
        vault.set(name, VALUE)


@pytest.mark.parametrize("value", ["short", "x" * 8193, "é" * 4097, "two\nlines", "a\x00bcdef"])
def test_values_have_limits_that_errors_state(vault: Vault, value: str) -> None:
    with pytest.raises(RequestError, match="a secret") as refusal:
        vault.set("TOKEN", value)
    assert value not in refusal.value.message
    assert vault.list() == ()


def test_a_damaged_key_is_an_error_that_names_its_file(vault: Vault, tmp_path: Path) -> None:
    vault.set("TOKEN", VALUE)
    (tmp_path / "data" / KEY_FILE).write_bytes(b"x")
    assert readable(vault) == {"TOKEN": False}
    with pytest.raises(ConfigurationError, match=KEY_FILE):
        vault.set("TOKEN", VALUE)
