"""How installers reach the network: the machine's certificate authorities, proxies and package
indexes, in the variables that uv, pip, npm and apt read.

Imports nothing but the standard library: set-up runs it before anything is installed. `python -m
selfeng.core.network COMMAND…` runs an installer; the exit code is 3 if a server is not trusted.
"""

import configparser
import os
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from selfeng.core.errors import AgentError

_STORES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Alpine, Arch
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  # Fedora, Red Hat
    "/etc/ssl/ca-bundle.pem",  # openSUSE
)
INDEXES = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST")
"""Arguments that an image's build gets, if the machine has them."""
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_UNTRUSTED = re.compile(
    r"UnknownIssuer|CERTIFICATE_VERIFY_FAILED|certificate verify failed|SELF_SIGNED_CERT|"
    r"self.signed certificate|UNABLE_TO_(?:GET_ISSUER|VERIFY)|unable to get local issuer",
    re.IGNORECASE,
)
_SHOWN = 15
"""Lines."""
UNTRUSTED = 3
"""Exit code."""


def system_store() -> str:
    """The file in which Linux keeps the authorities that it trusts; "" on other systems, whose
    stores are no files.
    """
    return next(filter(os.path.isfile, _STORES), "") if sys.platform == "linux" else ""


def trust(environment: Mapping[str, str] = os.environ) -> str:
    """The remedy for a program that does not trust a server's certificate."""
    where = environment.get("SSL_CERT_FILE") or system_store() or "the system's store"
    return (
        f"the server's certificate is not signed by an authority in {where}: add that of your "
        "company to the system's store (`update-ca-certificates`), or set SSL_CERT_FILE to a file "
        "that has it"
    )


class InstallFailed(AgentError):
    """The message is the end of the installer's output; the remedy may be empty."""


def untrusted(output: str) -> bool:
    """Whether a program wrote that it does not trust the certificate of a server."""
    return bool(_UNTRUSTED.search(output))


def run_installer(
    command: Sequence[str],
    on_line: Callable[[str], object] = lambda line: None,
    *,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> None:
    """Run an installer; its lines go to `on_line`. `environment`: `installer_environment`, unless
    another is given.

    Raises:
        InstallFailed: it failed, or is about to repeat that it does not trust a server.
    """
    lines = deque[str](maxlen=_SHOWN)
    environment = installer_environment() if environment is None else environment
    with subprocess.Popen(  # noqa: S603
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # pip starts itself again
        env=environment,
        cwd=cwd,
    ) as process:
        try:
            for line in process.stdout or ():
                lines.append(line.rstrip())
                on_line(lines[-1])
                if untrusted(line):
                    break
            else:
                process.wait()
        finally:
            _end(process)
    if process.returncode:
        output = "\n".join(lines).strip() or f"exit code {process.returncode}"
        raise InstallFailed(output, trust(environment) if untrusted(output) else "")


def _end(process: subprocess.Popen[str]) -> None:
    """End an installer that still runs, with what it has started."""
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)


def join_network() -> None:
    """For a program, not a library, to call first: add to its environment what its clients would
    miss. Those of model servers, Chroma and MCP servers read the system's store by themselves.
    """
    os.environ.update(proxies())
    if trusted := os.environ.get("SSL_CERT_FILE") or system_store():
        os.environ.setdefault("OTEL_EXPORTER_OTLP_CERTIFICATE", trusted)


def installer_environment(
    environment: Mapping[str, str] = os.environ, store: str | None = None
) -> dict[str, str]:
    """The environment of an installer: this one, with what the other installers' variables, pip's
    files and the system's `store` say where its own variables say nothing.
    """
    pip = _pip_settings(environment)
    lacking = _authorities(environment, pip, system_store() if store is None else store)
    lacking |= _indexes(environment, pip) | proxies(environment, pip.get("proxy", ""))
    return {**environment, **lacking}


def image_arguments(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The arguments with which an image's build reaches the network; without indexes that are
    folders of this machine. Docker keeps the proxies, which it knows, out of the image.
    """
    variables = installer_environment() if environment is None else environment
    pip = _pip_settings(variables)
    arguments = {name: pip.get(_option(name), "") for name in INDEXES}
    arguments |= {
        name: variables.get(name, "") for n in (*_PROXIES, "no_proxy") for name in (n, n.upper())
    }
    words = {
        name: " ".join(word for word in value.split() if not word.startswith("file:"))
        for name, value in arguments.items()
    }
    return {name: value for name, value in words.items() if value}


def proxies(environment: Mapping[str, str] = os.environ, otherwise: str = "") -> dict[str, str]:
    """The variables of proxies that the environment lacks: each in lower and upper case, as
    programs read one or the other, and connections of this machine with itself without one.
    """
    variables = {n: environment.get(n) or environment.get(n.upper(), "") for n in _PROXIES}
    if otherwise and not any(variables.values()):
        variables = dict.fromkeys(("http_proxy", "https_proxy"), otherwise)
    if not any(variables.values()):
        return {}
    direct = environment.get("no_proxy") or environment.get("NO_PROXY", "")
    hosts = [host.strip() for host in direct.split(",") if host.strip()]
    if "*" not in hosts:
        hosts += [host for host in _LOOPBACK if host not in hosts]
    variables["no_proxy"] = ",".join(hosts)
    both = {name: value for n, value in variables.items() if value for name in (n, n.upper())}
    return {name: value for name, value in both.items() if environment.get(name) != value}


def _authorities(
    environment: Mapping[str, str], pip: Mapping[str, str], store: str
) -> dict[str, str]:
    bundle = environment.get("SSL_CERT_FILE") or pip.get("cert")
    if trusted := bundle or environment.get("REQUESTS_CA_BUNDLE") or store:
        names = ["PIP_CERT", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"]
        names += [] if environment.get("SSL_CERT_DIR") else ["SSL_CERT_FILE"]
        variables = dict.fromkeys(names, trusted) | {"PIP_CERT": pip.get("cert") or trusted}
    elif sys.platform == "linux":  # without a store, the installers' own authorities serve
        variables = {}
    else:
        variables = {"UV_SYSTEM_CERTS": "true", "NODE_USE_SYSTEM_CA": "1"}
    return {name: value for name, value in variables.items() if not environment.get(name)}


def _indexes(environment: Mapping[str, str], pip: Mapping[str, str]) -> dict[str, str]:
    """uv gets pip's indexes and pip uv's, each where it has none of its own."""
    uv = {
        "index-url": environment.get("UV_DEFAULT_INDEX") or environment.get("UV_INDEX_URL", ""),
        "extra-index-url": environment.get("UV_INDEX") or environment.get("UV_EXTRA_INDEX_URL", ""),
        "find-links": environment.get("UV_FIND_LINKS", "").replace(",", " "),
    }
    has_files = any(map(os.path.isfile, _uv_files(environment)))
    uv_indexes = {name: value for name, value in uv.items() if value}
    lacking = {}
    if not uv_indexes and not has_files:
        for name in uv:
            if value := pip.get(name):
                lacking[f"UV_{_variable(name)}"] = ("," if name == "find-links" else " ").join(
                    value.split()
                )
        if "UV_EXTRA_INDEX_URL" in lacking:  # as pip chooses; the lists have hashes
            lacking["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    if not any(name in pip for name in uv):
        lacking |= {f"PIP_{_variable(name)}": value for name, value in uv_indexes.items()}
    return lacking


def _variable(option: str) -> str:
    return option.upper().replace("-", "_")


def _option(variable: str) -> str:
    return variable.removeprefix("PIP_").lower().replace("_", "-")


def _pip_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """pip's options, of its files and its variables, which win.
    https://pip.pypa.io/en/stable/topics/configuration/
    """
    settings: dict[str, str] = {}
    for path in _pip_files(environment):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):  # pip itself reports it
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                settings |= {name.replace("_", "-"): v for name, v in parser.items(section)}
    for name, value in environment.items():
        if name.startswith("PIP_") and value:
            settings[_option(name)] = value
    return settings


def _pip_files(environment: Mapping[str, str]) -> Iterator[Path]:
    """The last one wins."""
    if (config_file := environment.get("PIP_CONFIG_FILE", "")) == os.devnull:
        return
    home = Path(environment.get("HOME") or os.path.expanduser("~"))
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    name = "pip.conf"
    match sys.platform:
        case "win32":
            name = "pip.ini"
            shared = [Path(environment.get("PROGRAMDATA", ""), "pip")]
            user_folders = [home / "pip", Path(environment.get("APPDATA", ""), "pip")]
        case "darwin":
            support = Path("Library", "Application Support", "pip")
            shared = [Path("/", support)]
            user_folders = [home / ".pip", home / support, config / "pip"]
        case _:
            folders = (environment.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")
            shared = [*(Path(folder, "pip") for folder in folders), Path("/etc")]
            user_folders = [home / ".pip", config / "pip"]
    yield from (
        folder / name
        for folder in [*shared, *([] if config_file else user_folders), Path(sys.prefix)]
    )
    if config_file:
        yield Path(config_file)


def _uv_files(environment: Mapping[str, str]) -> Iterator[Path]:
    yield Path(environment.get("UV_CONFIG_FILE") or "/etc/uv/uv.toml")
    home = environment.get("HOME") or os.path.expanduser("~")
    yield Path(environment.get("XDG_CONFIG_HOME") or f"{home}/.config", "uv", "uv.toml")


def main(command: Sequence[str]) -> int:
    """Run an installer for a shell; gives its exit code, which is not 0 if it failed."""
    try:
        run_installer(command, lambda line: sys.stderr.write(f"{line}\n"))
    except InstallFailed as error:
        if error.remedy:
            sys.stderr.write(f"What to do: {error.remedy}\n")
        return UNTRUSTED if error.remedy else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
