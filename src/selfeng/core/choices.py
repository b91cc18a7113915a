"""Choices: the settings that people make in the page, kept in a file that this user alone reads.

They may hold a key, so they are neither in a backup nor in a log.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from selfeng.core.errors import ConfigurationError
from selfeng.core.private import replace_private

CHOICES = "settings.json"
"""Name of the file in DATA_DIR."""


def read_choices(folder: Path) -> dict[str, Any]:
    """The choices by the names of settings; empty if there are none.

    Raises: ConfigurationError: the file can't be read, or is not a JSON object.
    """
    path = folder / CHOICES
    if not os.access(folder, os.X_OK):  # missing, or of another user, whose choices these are not
        return {}
    try:
        choices = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} can't be read: {error}", "correct or delete it") from None
    if not isinstance(choices, dict):
        raise ConfigurationError(f"{path} holds no JSON object", "correct or delete it")
    return choices


def write_choices(folder: Path, choices: Mapping[str, Any]) -> None:
    """Replace the choices, whole or not at all, in a file with mode 0600.

    Raises:
        ConfigurationError: they can't be written.
    """
    try:
        replace_private(folder / CHOICES, json.dumps(choices, indent=2).encode())
    except OSError as error:
        raise ConfigurationError(
            f"{folder / CHOICES} can't be written: {error.strerror}",
            "make room, or correct DATA_DIR",
        ) from error
