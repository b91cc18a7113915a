"""Promises and streams."""

from selfeng.runtime import Promise, PromisingContext, StreamAppender, StreamedPromise

__all__ = ["Promise", "PromisingContext", "StreamAppender", "StreamedPromise"]
