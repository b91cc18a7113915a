"""The settings: see src/selfeng/core/settings.py. `from config import Config` has their values by
the names of their variables, as `Config.OPENAI_MODEL`, read when it is first imported.
"""

from functools import cache
from pathlib import Path
from typing import Any

from pydantic import SecretStr

if Path(__file__).with_name("src").joinpath("selfeng").is_dir():
    import src  # noqa: F401 - in a checkout the package need not be installed

from selfeng.core.settings import *  # noqa: F403
from selfeng.core.settings import load_settings


def __getattr__(name: str) -> Any:
    """`Config`. Raises: ConfigurationError, as `load_settings`."""
    if name == "Config":
        return _config()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _config() -> type:
    def validate() -> bool:
        """Values that are not allowed have stopped the import; a key is not required."""
        return True

    values = {name.upper(): _plain(value) for name, value in load_settings()}
    return type("Config", (), {**values, "validate": staticmethod(validate)})


def _plain(value: Any) -> Any:
    """A folder or a secret as the text that a program of the standard library takes."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return str(value) if isinstance(value, Path) else value
