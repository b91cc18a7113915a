"""Types."""

from collections.abc import AsyncIterable, Awaitable, Callable
from typing import Any

from selfeng.runtime.context import ResolvedHandler as PromiseResolvedEventHandler

PromiseResolver = Callable[[Any], Awaitable[Any]]
PromiseStreamer = Callable[[Any], AsyncIterable[Any]]
SequenceFlattener = Callable[[Any, Any], AsyncIterable[Any]]

__all__ = ["PromiseResolvedEventHandler", "PromiseResolver", "PromiseStreamer", "SequenceFlattener"]
