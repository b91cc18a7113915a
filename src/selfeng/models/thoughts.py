"""A model's thoughts, separated from its reply."""

import re
from collections.abc import Callable
from typing import Literal

_TAG = r"(?:seed:)?(?:think|thinking|thought|thoughts|reasoning)"
_OPEN = re.compile(
    rf"<{_TAG}>|\[THINK\]|◁think▷|<\|channel>\s*thought|<\|channel\|>\s*analysis\s*<\|message\|>",
    re.I,
)
_CLOSE = re.compile(
    rf"</{_TAG}>|\[/THINK\]|◁/think▷|<channel\|>|(?:<\|(?:end|start)\|>(?:assistant)?)*"
    r"<\|channel\|>\s*final\s*<\|message\|>",
    re.I,
)
_INNER = re.compile(rf"(?<!`)<{_TAG}>", re.I)
"""Opens a thought within a thought."""
_UNOPENED = re.compile(rf"(?<!`)(?:{_CLOSE.pattern})", re.I)
_PLAIN = re.compile(r"\s*(?:```|\{|\[(?!/?T))")
"""How replies begin that are code or JSON, as no thought does."""
_END = re.compile(r"\s*(?:(?:<\|(?:return|call|end|im_end|eot_id|endoftext)\|>|</s>)\s*)+\Z")
_UNDECIDED = re.compile(
    r"(?:(?:<\|\w+\|?>(?:assistant)?)+|</s>)\s*(?:\w{0,9}\s*)?(?:<[|\w]{0,9})?\Z"
    r"|[<\[◁][^>\]▷\s]{0,14}\Z"
)
"""The end of a text that may become a tag with the next piece."""
_TOLD = 8_000
"""Characters of the thoughts of one reply that are reported."""


class Thoughts:
    """Takes a reply piece by piece, reports its thoughts, and returns the rest.

    Thoughts stand before the reply or between its lines, in the tags of one of the usual models.
    """

    def __init__(self, tell: Callable[[str], object], *, unopened: bool) -> None:
        """`unopened`: the reply may begin with thoughts that no tag opens, so it is held back until
        a tag closes them, or it can't be thoughts.
        """
        self._tell = tell
        self._state: Literal["unsure", "thinking", "speaking"] = (
            "unsure" if unopened else "speaking"
        )
        self._buffer = self._spoken = ""
        self._inner = 0
        self.text = ""
        self.were_unopened = False
        """Whether a tag closed thoughts that none had opened."""

    def hear_apart(self, thought: str) -> None:
        """Take thoughts that come in a field of their own: then the reply itself has none that are
        unopened.
        """
        if thought and self._state == "unsure":
            self._state = "speaking"
        self.hear(thought)

    def hear(self, thought: str) -> None:
        """Take and report thoughts, up to a bound."""
        remaining = _TOLD - len(self.text)
        thought = thought if self.text else thought.lstrip()
        self.text += thought
        if thought and remaining > 0:
            self._tell(thought if len(thought) <= remaining else f"{thought[:remaining]}…")

    def feed(self, piece: str) -> str:
        """Add a piece, and return the text that certainly belongs to the reply."""
        self._buffer += piece
        spoken = ""
        while (segment := self._step()) is not None:
            spoken += self._speak(segment)
        return spoken

    def finish(self) -> str:
        """The rest of the reply's text, after the last piece."""
        buffer, self._buffer = self._buffer, ""
        if self._state == "thinking":
            closed = self._closing(buffer, last=True)
            self.hear(buffer[: closed.start()] if closed else buffer)
            buffer = buffer[closed.end() :] if closed else ""
        return self._speak(_END.sub("", buffer))

    def _step(self) -> str | None:
        """Go on to the next tag; what is said before it, or None when there is none yet."""
        buffer = self._buffer
        match self._state:
            case "unsure":
                if _OPEN.match(buffer.lstrip()) or _PLAIN.match(buffer):
                    return self._go_on("speaking", buffer)
                closed = _UNOPENED.search(buffer)
                if closed is None:
                    return None
                self.hear(buffer[: closed.start()])
                self.were_unopened = bool(self.text.strip())
                return self._go_on("speaking", buffer[closed.end() :])
            case "thinking":
                closed = self._closing(buffer)
                if closed is None:
                    if not _CLOSE.search(buffer):
                        certain = self._certain()
                        self._inner += len(_INNER.findall(certain))
                        self.hear(certain)
                    return None
                self.hear(buffer[: closed.start()])
                return self._go_on("speaking", buffer[closed.end() :])
            case "speaking":
                if (closed := _CLOSE.match(buffer.lstrip())) and not self._spoken.strip():
                    return self._go_on("speaking", buffer.lstrip()[closed.end() :])
                for opened in _OPEN.finditer(buffer):
                    if self._begins_thought(buffer[: opened.start()]):
                        self._inner = 0
                        self._go_on("thinking", buffer[opened.end() :])
                        return buffer[: opened.start()]
                return self._certain() or None

    def _closing(self, buffer: str, *, last: bool = False) -> re.Match[str] | None:
        """The tag that closes the thoughts and all that were opened within them; of the `last` text
        the one that comes nearest, as a thought may merely name a tag.
        """
        closes = [*_CLOSE.finditer(buffer)]
        if not closes or _INNER.search(buffer, closes[0].end()):
            return closes[0] if closes else None
        inner = self._inner + len(_INNER.findall(buffer[: closes[0].start()]))
        if inner < len(closes):
            return closes[inner]
        return closes[-1] if last else None

    def _go_on(self, state: Literal["thinking", "speaking"], buffer: str) -> str:
        self._state, self._buffer = state, buffer
        return ""

    def _certain(self) -> str:
        """Take what is held, without an end that may become a tag."""
        undecided = _UNDECIDED.search(self._buffer)
        end = undecided.start() if undecided else len(self._buffer)
        certain, self._buffer = self._buffer[:end], self._buffer[end:]
        return certain

    def _begins_thought(self, before: str) -> bool:
        """Whether a tag after `before` is on a line of its own and in no block of code."""
        spoken = self._spoken + before
        return spoken.rstrip(" \t")[-1:] in {"", "\n"} and spoken.count("```") % 2 == 0

    def _speak(self, text: str) -> str:
        text = text if self._spoken else text.lstrip()
        self._spoken += text
        return text
