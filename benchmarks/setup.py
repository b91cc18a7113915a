"""The cost of a first start: `python -m benchmarks.setup`, with `make run` in clones of this
repository and empty caches.

The clones have homes of their own, and run code on bubblewrap, which set-up brings along; what is
not committed is not measured. The last line is one JSON object. Seconds from the command on:
`link_s` until the link, `first_answer_s` until the answer to a request that was sent as soon as
there was a link, `seeds_s` until all is set up, `second_link_s` until the link of a second start;
`pip_ratio` is `link_s` over the same where pip installs. `right` is whether the answer was. The
exit code is 1 if it was not, or if a goal is missed.

`behind_proxy_right` is whether another clone also sets itself up where nothing but a proxy with an
authority of its own is reached, image build included; null where that can't be tried, which a line
explains. `--behind-proxy` tries only that.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
import socketio  # type: ignore[import-untyped]

from benchmarks.goals import report
from selfeng.core.places import HOME
from selfeng.core.settings import Settings

_REQUEST, RIGHT = "What is 15 percent of 300?", "45"
_PATIENCE = 600
GOALS = {"link_s": 25, "first_answer_s": 60, "seeds_s": 90, "second_link_s": 4}
"""The largest allowed figures, on two cores with nothing else to do."""


def main(arguments: list[str]) -> int:
    figures = {} if "--behind-proxy" in arguments else _measured()
    figures["behind_proxy_right"] = _behind_proxy_right()
    shown = ("right", "behind_proxy_right")
    problems = [f"{name} is false" for name in shown if figures.get(name) is False]
    return report(figures, GOALS, problems=problems)


def _behind_proxy_right() -> bool | None:
    from benchmarks.behind_proxy import behind_proxy_right, lacks

    if problem := lacks():
        sys.stderr.write(f"Set-up behind a proxy was not tried: {problem}\n")
        return None
    return behind_proxy_right()


def _measured() -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="setup-", ignore_cleanup_errors=True) as root:
        by_uv, by_pip = clone(Path(root, "uv")), clone(Path(root, "pip"))
        with started(by_uv) as (link, link_s):
            answer, first_answer_s, seeds_s = first_answer(link)
        with started(by_uv) as (_, second_link_s):
            pass
        with started(by_pip, INSTALLER="pip") as (_, link_by_pip):
            pass
    figures: dict[str, Any] = {
        "link_s": link_s,
        "first_answer_s": first_answer_s + link_s,
        "seeds_s": seeds_s + link_s,
    }
    figures |= {"second_link_s": second_link_s, "pip_ratio": link_s / link_by_pip}
    rounded = {name: round(value, 2) for name, value in figures.items()}
    return {**rounded, "right": RIGHT in answer}


def clone(home: Path) -> Path:
    folder = home / "clone"
    subprocess.run(["git", "clone", "--quiet", str(HOME), str(folder)], check=True)  # noqa: S603, S607
    return folder


@contextmanager
def started(folder: Path, **more: str) -> Iterator[tuple[str, float]]:
    """`make run` in a clone; gives the link and the seconds until it was there."""
    ours = {name.upper() for name in Settings.model_fields} | {
        "VIRTUAL_ENV",
        "MAKEFLAGS",
        "MAKELEVEL",
        "XDG_CACHE_HOME",
        "UV_CACHE_DIR",
        "PYTHONDONTWRITEBYTECODE",
    }
    inherited = {name: value for name, value in os.environ.items() if name not in ours}
    environment = {
        **inherited,
        "HOME": str(folder.parent),
        "SANDBOX": "bubblewrap",
        "FLASK_HOST": "127.0.0.1",
        "FLASK_PORT": "0",
        **more,
    }
    began = time.monotonic()
    command = ["make", "--no-print-directory", "run"]
    process = subprocess.Popen(  # noqa: S603
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout
        link = next((line.strip() for line in process.stdout if line.startswith("http://")), "")
        if not link:
            raise SystemExit("`make run` has printed no link")
        yield link, time.monotonic() - began
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(
            timeout=_PATIENCE
        )  # to the end of its output, which the server holds open


def first_answer(link: str) -> tuple[str, float, float]:
    """The answer to the request, and the seconds until it was there and until all was set up."""
    began = time.monotonic()
    parts = urlsplit(link)
    server, token = (
        f"{parts.scheme}://{parts.netloc}",
        {"Authorization": f"Bearer {parts.query.removeprefix('token=')}"},
    )
    with socketio.SimpleClient() as client:
        client.connect(server, headers=token)
        client.call("ask", {"text": _REQUEST, "conversation_id": None})
        answer = _answer(client)
    answered = time.monotonic() - began
    while requests.get(f"{server}/api/v1/health", headers=token, timeout=_PATIENCE).json()[
        "unready"
    ]:
        time.sleep(0.1)
    return answer, answered, time.monotonic() - began


def _answer(client: socketio.SimpleClient) -> str:
    while True:
        name, *arguments = client.receive(timeout=_PATIENCE)
        for record in arguments[0]["records"] if name == "records" else ():
            event = record["event"]
            if event["type"] in {"turn_finished", "turn_failed", "turn_stopped"}:
                return str(event.get("answer") or event)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
