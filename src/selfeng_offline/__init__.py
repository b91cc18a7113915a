"""The offline model, for use without a key: a provider of models, by the entry point that other
packages have too. Its OpenAI-compatible HTTP server on loopback serves tests as well.
"""

from selfeng.core.model_server import ModelServer
from selfeng.models.chat import Provider
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer


def offline_model(server: ModelServer, max_retries: int) -> Provider:
    """The provider, which has its own server; of `server` it takes the model's name and the
    timeout.
    """
    from selfeng_offline.provider import OfflineProvider  # the SDK takes a second to import

    return OfflineProvider(OfflineServer(Cookbook(), model=server.model), server, max_retries)
