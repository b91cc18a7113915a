"""Ways to read streams and sequences."""


async def texts(sequence):
    """The messages as texts."""
    return [str(message) for message in await sequence]


async def read(stream, pieces):
    """Add the pieces one by one, so that those before an error are there after it."""
    async for piece in stream:
        pieces.append(piece)


async def read_texts(sequence, found):
    """The same with messages, as texts."""
    async for promise in sequence:
        found.append(str(await promise))
