"""The provider of the offline model: the client of its server, which runs as long as it does."""

import asyncio

from selfeng.core.model_server import ModelServer
from selfeng.models.transport import Transport
from selfeng_offline.server import OfflineServer


class OfflineProvider(Transport):
    """Talks to the offline server as to any other one, and stops it when it is closed."""

    def __init__(self, offline: OfflineServer, server: ModelServer, max_retries: int) -> None:
        """Starts the offline server."""
        self._offline = offline
        offline.start()
        offline_fields = {
            "base_url": offline.base_url,
            "api_key": offline.api_key,
            "uses_tokens": False,
        }
        super().__init__(server.model_copy(update=offline_fields), max_retries)

    async def aclose(self) -> None:
        await super().aclose()
        await asyncio.to_thread(self._offline.stop)
