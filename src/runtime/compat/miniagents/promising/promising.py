"""Promises and streams."""

from src.runtime import Promise, PromisingContext, StreamAppender, StreamedPromise

__all__ = ["Promise", "PromisingContext", "StreamAppender", "StreamedPromise"]
