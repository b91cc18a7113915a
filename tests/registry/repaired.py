"""A library with a tool that was repaired once and used since, for tests of what shows it."""

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.events import Usage
from selfeng.core.provenance import Provenance, Repaired
from selfeng.store.database import open_database
from selfeng.store.journal import Journal
from tests.doubles import passing
from tests.embedding.hashing import HashingEmbedder
from tests.home import Home
from tests.registry.drafts import REPAIRED, REVERSE, SHOUT

REPAIR = Provenance(
    origin=Repaired(failure="it raised KeyError"),
    verdict=passing(),
    usage=Usage(calls=2, input_tokens=900, output_tokens=100, cost=0.0125),
)
USED = ("write hello the wrong way round", "what is desserts backwards?")
"""The requests that `reverse_text` has served, the newest first."""


async def prepare(home: Home, owner: str = "terminal") -> None:
    """`reverse_text` at version 2, with requests of `owner` that it has served, and beside it
    `shout_text`.
    """
    engine = open_database(f"sqlite:///{home.folder / 'data' / 'agent.db'}")
    library = CapabilityRegistry(engine, home.tools, home.folder / "chroma_db", HashingEmbedder())
    await library.start()
    for draft in (REVERSE, SHOUT):
        await library.add(draft)
    await library.revise(REPAIRED, 1, REPAIR)
    journal = Journal(engine)
    conversation = journal.create_conversation(owner, "reversing")
    for request in reversed(USED):
        journal.begin_turn(conversation, request)
        await library.record_request(REPAIRED.name, 2, request)
    await library.aclose()
    engine.dispose()
