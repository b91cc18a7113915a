"""The status watch: notices when model, sandbox or library change their state."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from selfeng.core.status import EngineStatus
from web.port import Engine

logger = logging.getLogger(__name__)


async def watch_status(engine: Engine, changed: Callable[[EngineStatus], None], interval: float) -> None:
    """Ask the engine every `interval` seconds, and when it has news; pass on what differs from the answer before. Runs until cancelled."""
    before: EngineStatus | None = None
    news = asyncio.Event()
    engine.on_status_change(news.set)
    while True:
        news.clear()
        try:
            now = await engine.status()
        except Exception:
            logger.exception("the engine could not tell its status")  # perhaps the next time
        else:
            if before is not None and now != before:
                changed(now)
            before = now
        with suppress(TimeoutError):
            async with asyncio.timeout(interval):
                await news.wait()
