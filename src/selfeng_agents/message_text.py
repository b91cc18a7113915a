"""Messages as text: several joined into one, or one cut into several, token by token."""

from collections.abc import AsyncIterator, Callable
from typing import Any

from selfeng_agents.message import Message, MessagePromise, MessageTokenAppender
from selfeng_agents.promising_context import PromisingContext
from selfeng_agents.sentinels import DEFAULT, Choice
from selfeng_agents.sequence import MessageSequence, MessageSequencePromise, MessageType
from selfeng_agents.streams import being_cancelled


def join_messages(
    messages: MessageType,
    delimiter: str | None = "\n\n",
    *,
    strip_leading_newlines: bool = False,
    reference_original_messages: bool = True,
    message_class: type[Message] = Message,
    start_asap: Choice = DEFAULT,
    start_soon: Choice = DEFAULT,
    **known_beforehand: Any,
) -> MessagePromise:
    """All messages as one, with the delimiter between them; their tokens are passed on as they
    come.

    The joined message has its parts in `original_messages`; each other field is taken from the last
    part that has it.
    """
    sequence = MessageSequence.turn_into_sequence_promise(messages)

    async def tokens(metadata: dict[str, Any]) -> AsyncIterator[str]:
        originals: list[Message] = []
        async for promise in sequence:
            if originals and delimiter:
                yield delimiter
            at_start = strip_leading_newlines
            async for token in promise:
                piece = token.lstrip("\r\n") if at_start else token
                if piece:
                    at_start = False
                    yield piece
            originals.append(await promise)
            metadata.update(originals[-1].metadata())
        if reference_original_messages:
            metadata["original_messages"] = originals

    return message_class.promise(
        message_token_streamer=tokens,
        start_asap=start_asap,
        start_soon=start_soon,
        **known_beforehand,
    )


def split_messages(
    messages: MessageType,
    delimiter: str = "\n\n",
    *,
    code_block_delimiter: str | None = "```",
    message_class: type[Message] = Message,
    start_asap: Choice = DEFAULT,
    start_soon: Choice = DEFAULT,
    **known_beforehand: Any,
) -> MessageSequencePromise:
    """The messages as one text, cut at each delimiter; code blocks, with their marks, stay whole as
    messages of their own.

    A part streams its tokens while it grows. There are no blank parts. An error comes after the
    text before it.

    Raises:
        ValueError: the delimiter is empty.
    """
    if not delimiter:
        raise ValueError(
            "Messages can't be split at an empty delimiter; give the text that stands between "
            "parts."
        )
    context = PromisingContext.get_current()
    joined = join_messages(messages, delimiter, reference_original_messages=False, start_asap=False)
    sequence = MessageSequence(start_asap=start_asap, start_soon=start_soon).open()

    def begin_part() -> MessageTokenAppender:
        part = MessageTokenAppender(capture_errors=True).open()
        sequence.append(message_class.promise(message_token_streamer=part, **known_beforehand))
        return part

    async def cut() -> None:
        cutter = _Cutter(begin_part, delimiter, code_block_delimiter)
        try:
            async for token in joined:
                cutter.feed(str(token))
        except BaseException as error:
            if not cutter.end(error):
                sequence.append(error)
            if being_cancelled(error):
                raise
        else:
            cutter.end()
        finally:
            sequence.close()

    sequence.begin(lambda: context.start(cut(), sequence.stream))
    return sequence.sequence_promise


class _Cutter:
    """Cuts text that comes in pieces, and holds back only what may be the beginning of a mark."""

    def __init__(
        self, begin_part: Callable[[], MessageTokenAppender], delimiter: str, fence: str | None
    ) -> None:
        self._begin_part = begin_part
        self._delimiter = delimiter
        self._fence = fence
        self._part: MessageTokenAppender | None = None
        self._in_code = False
        self._buffer = ""
        self._blank = ""
        """White space that may be the beginning of a part, if more comes."""

    def feed(self, text: str) -> None:
        self._buffer += text
        while mark := self._next_mark():
            before, _, self._buffer = self._buffer.partition(mark)
            self._say(before)
            if mark == self._fence and self._in_code:
                self._say(mark)
            self.close()
            if mark == self._fence:
                self._in_code = not self._in_code
                if self._in_code:
                    self._say(mark)
        overlap = max(_overlap(self._buffer, mark) for mark in self._marks())
        self._say(self._buffer[: len(self._buffer) - overlap])
        self._buffer = self._buffer[len(self._buffer) - overlap :]

    def end(self, error: BaseException | None = None) -> bool:
        """Emit the rest; returns whether there is a part that contains the error, if any."""
        self._say(self._buffer)
        return self.close(error)

    def close(self, error: BaseException | None = None) -> bool:
        part, self._part, self._blank = self._part, None, ""
        if part is not None:
            part.close(error)
        return part is not None

    def _marks(self) -> list[str]:
        if self._fence is None:
            return [self._delimiter]
        return [self._fence] if self._in_code else [self._fence, self._delimiter]

    def _next_mark(self) -> str | None:
        matches = [(at, mark) for mark in self._marks() if (at := self._buffer.find(mark)) >= 0]
        return min(matches)[1] if matches else None

    def _say(self, text: str) -> None:
        if text:
            if self._part is None:
                self._blank += text
                if not self._blank.strip():
                    return
                self._part, text, self._blank = self._begin_part(), self._blank, ""
            self._part.append(text)


def _overlap(text: str, mark: str) -> int:
    """How many characters at the end of the text may be the beginning of the mark."""
    return next(
        (
            size
            for size in range(min(len(mark) - 1, len(text)), 0, -1)
            if text.endswith(mark[:size])
        ),
        0,
    )
