"""The options of a build, for the Python API, the command line and the page, and the packages that
it may request.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SecretStr, ValidationError

from selfeng.core.errors import RequestError
from selfeng.core.events import Limits
from selfeng.core.files import FileName
from selfeng.core.value import Value

_PACKAGE = re.compile(
    r"(?:(?P<module>[A-Za-z_]\w*):)?(?P<requirement>(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)(?:==[\w.]+)?)",
    re.ASCII,
)


def checked(package: str) -> str:
    """The package. Raises: ValueError: it has neither the form `requests==2.32.5` nor, if its
    import name differs, `yaml:PyYAML==6.0.2`.
    """
    if not _PACKAGE.fullmatch(package):
        raise ValueError(
            "should be a package such as `requests==2.32.5`, or `yaml:PyYAML==6.0.2` where it is "
            "imported by another name"
        )
    return package


def requirement(package: str) -> str:
    """The package as a requirement for pip."""
    return package.rpartition(":")[2]


def module(package: str) -> str:
    """The name by which it is imported."""
    match = _PACKAGE.fullmatch(package)
    return (match["module"] or match["name"].lower().replace("-", "_")) if match else ""


def is_meant(package: str, name: str) -> bool:
    """Whether `name` is one of the package's names."""
    plain_name = name.partition("==")[0].strip().lower().replace("-", "_")
    return plain_name in {
        module(package).lower(),
        requirement(package).partition("==")[0].lower().replace("-", "_"),
    }


REQUIREMENTS = "requirements.txt"
_REQUIRED = re.compile(
    r"(?P<requirement>[A-Za-z0-9][\w.-]*(?:==[\w.]+(?![^\s;#]))?)"
    r"[^#@/]*(?:#\s*(?:import (?P<module>\w+)|.*))?",
    re.ASCII,
)


def packages_in(text: str) -> tuple[str, ...]:
    """The packages that a requirements.txt lists, in the form of the option `packages`."""
    matches = [m for line in text.splitlines() if (m := _REQUIRED.fullmatch(line.strip()))]
    packages = [
        f"{m['module']}:{m['requirement']}" if m["module"] else m["requirement"] for m in matches
    ]
    return tuple(filter(_PACKAGE.fullmatch, packages))


def line_of(package: str) -> str:
    """The line of a package in a requirements.txt."""
    name, colon, _ = package.partition(":")
    return requirement(package) + (f"  # import {name}" if colon else "")


LogLevel = Literal["normal", "debug", "quiet"]


class ProjectOptions(Value):
    """The project to build, its folder, and the limits of the build."""

    project_name: FileName
    """Name of the project, and of its folder."""
    goal: str = ""
    """The task of the project; needed for a new one. For an existing one: "" keeps its goal."""
    project_dir: Path = Path("projects")
    """Folder of the projects; relative to the folder in which the program was started."""
    log_level: LogLevel = "normal"
    """`normal` reports each step on a line, `debug` also shows diffs and output, `quiet` prints
    nothing.
    """
    step: bool = False
    """Whether the build pauses before each action and asks whether to do it."""
    model: str | None = Field(None, min_length=1)
    """Name of the model; None: that in the settings."""
    api_key: SecretStr | None = None
    """Key of the model's server; None: that in the settings."""
    max_steps: int = Field(30, ge=1, le=1000)
    """Actions that the build may take."""
    max_calls: int = Field(60, ge=1, le=100_000)
    """Model calls."""
    max_tokens: int = Field(600_000, ge=1, le=10**9)
    """Tokens, input and output together."""
    max_seconds: float = Field(1800.0, gt=0, le=604_800)
    """Seconds after which no further model call is made."""
    max_cost: float | None = Field(None, ge=0, le=1_000_000)
    """US dollars; None: no limit."""
    packages: tuple[Annotated[str, AfterValidator(checked)], ...] = ()
    """Packages, beyond the sandbox's own, that the build may request: `requests==2.32.5`,
    `yaml:PyYAML==6.0.2`.
    """

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "ProjectOptions":
        """The options in a mapping. In place of `project_dir` and `project_name` it may have
        `project_path`, the project's own folder.

        Raises:
            RequestError: a key is unknown or missing, or a value is not allowed; names each.
        """
        values = dict(options)
        if "project_path" in values:
            folder = Path(str(values.pop("project_path"))).resolve()
            values |= {"project_dir": folder.parent, "project_name": folder.name}
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            problems = [_problem_text(detail) for detail in error.errors(include_url=False)]
            raise RequestError(
                "; ".join(problems), f"the keys are {', '.join(cls.model_fields)}"
            ) from error

    @property
    def limits(self) -> Limits:
        return Limits(
            calls=self.max_calls,
            tokens=self.max_tokens,
            seconds=self.max_seconds,
            cost=self.max_cost,
        )


def _problem_text(detail: Any) -> str:
    key = ".".join(map(str, detail["loc"]))
    match detail["type"]:
        case "extra_forbidden":
            return f"unknown option {key!r}"
        case "missing":
            return f"the option {key!r} is missing"
        case _:
            value_text = "(hidden)" if key == "api_key" else repr(detail["input"])
            return f"{key}={value_text}: {detail['msg'].removeprefix('Value error, ')}"
