"""The sandbox that benchmarks run in."""

import asyncio

from selfeng.sandbox import SecureSandbox


async def current_sandbox() -> SecureSandbox:
    """The sandbox of this machine's settings, with what its containers are made from as its sources
    have it now.
    """
    sandbox = SecureSandbox()
    if not await asyncio.to_thread(sandbox.image_is_current):
        await asyncio.to_thread(sandbox.build_image)
    return sandbox
