"""The real server around the fake engine, as a process: `python -m tests.web.run_server`, settings
from the environment.
"""

import logging
import os

from selfeng.core.process import exit_process
from selfeng.core.settings import Settings, load_settings
from tests.web.fake_engine import FakeEngine
from web import app
from web.bridge import Bridge
from web.connections import Patience
from web.serving import serving


async def build(settings: Settings) -> FakeEngine:
    return FakeEngine(settings)


def main() -> None:
    logging.basicConfig(level=logging.WARNING)
    settings = load_settings(env_file=None)
    kind = serving(settings.async_mode)
    bridge = Bridge(kind)
    engine = bridge.run(build(settings))
    listener = app.bind(settings.flask_host, settings.flask_port)
    patience = (
        Patience(*map(float, os.environ["PATIENCE"].split())) if "PATIENCE" in os.environ else None
    )
    app.serve(engine, bridge, kind, settings, listener, status_interval=0.1, patience=patience)


if __name__ == "__main__":
    main()
    exit_process(0)
