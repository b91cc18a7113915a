"""A package that a build may ask for: what pip installs, and the name under which it is imported."""

import re

_PACKAGE = re.compile(r"(?:(?P<module>[A-Za-z_]\w*):)?(?P<requirement>(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)(?:==[\w.]+)?)", re.ASCII)


def checked(package: str) -> str:
    """The package. Raises: ValueError: it is neither `requests==2.32.5` nor, under another name, `yaml:PyYAML==6.0.2`."""
    if not _PACKAGE.fullmatch(package):
        raise ValueError("should be a package such as `requests==2.32.5`, or `yaml:PyYAML==6.0.2` where it is imported by another name")
    return package


def requirement(package: str) -> str:
    """What pip is given."""
    return package.rpartition(":")[2]


def module(package: str) -> str:
    """The name by which it is imported."""
    found = _PACKAGE.fullmatch(package)
    return (found["module"] or found["name"].lower().replace("-", "_")) if found else ""


def is_meant(package: str, asked: str) -> bool:
    """Whether somebody who asks for it by any of its names means this package."""
    wanted = asked.partition("==")[0].strip().lower().replace("-", "_")
    return wanted in {module(package).lower(), requirement(package).partition("==")[0].lower().replace("-", "_")}
