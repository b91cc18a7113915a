"""The chat history: what was said, in memory or in a Markdown file."""

import asyncio
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import Any

from selfeng_agents.frozen import thaw
from selfeng_agents.interaction import InteractionContext
from selfeng_agents.message import Message
from selfeng_agents.mini_agent import MiniAgent, miniagent


class ChatHistory(ABC):
    """Stores messages and returns them."""

    @cached_property
    def logging_agent(self) -> MiniAgent:
        """Replies with what it is sent, and stores each message as it comes; done when all are
        stored.
        """

        async def logging_agent(ctx: InteractionContext) -> None:
            ctx.reply(ctx.message_promises)
            async for promise in ctx.message_promises:
                await self.akeep((await promise,))

        return MiniAgent(logging_agent)

    @abstractmethod
    async def akeep(self, messages: tuple[Message, ...]) -> None:
        """Add messages at the end."""

    @abstractmethod
    async def aload_chat_history(self) -> tuple[Message, ...]:
        """All stored messages, in order."""


class InMemoryChatHistory(ChatHistory):
    """A history that lives as long as this object."""

    def __init__(self) -> None:
        self._messages: list[Message] = []

    async def akeep(self, messages: tuple[Message, ...]) -> None:
        self._messages.extend(messages)

    async def aload_chat_history(self) -> tuple[Message, ...]:
        return tuple(self._messages)


RULE = "=" * 40
_UNDERLINE = re.compile(r"={3,}[ \t]*")
_LOOKS_LIKE_UNDERLINE = re.compile(r"(\\*)(={3,}[ \t]*)")
_ROLES = ("system", "user", "assistant")


class ChatHistoryMD(ChatHistory):
    """A history in a Markdown file, which people can read and edit.

    Each message has a heading, `role / model`, underlined with equals signs. A line of its text
    that looks like such an underline gets a backslash before it, as in Markdown, so that any text
    comes back unchanged. Fields other than role and model are not stored.
    """

    def __init__(self, chat_md_file: str | Path, default_role: str = "assistant") -> None:
        """`default_role` is for messages that have no role."""
        self._file = Path(chat_md_file)
        self._default_role = default_role

    async def akeep(self, messages: tuple[Message, ...]) -> None:
        """Raises: ValueError: a role or a model does not fit into a heading."""
        sections = "".join([self._section(message) for message in messages])
        await asyncio.to_thread(self._append, sections)

    async def aload_chat_history(self) -> tuple[Message, ...]:
        return tuple(_messages(await asyncio.to_thread(self._read)))

    async def anote(self, text: str) -> None:
        """Add text that is not a message."""
        await asyncio.to_thread(self._append, f"{text}\n")

    async def aclear(self) -> None:
        """Forget all messages."""
        await asyncio.to_thread(self._file.unlink, missing_ok=True)

    def _append(self, sections: str) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8", newline="") as file:
            file.write(sections)

    def _read(self) -> str:
        if not self._file.exists():
            return ""
        with self._file.open(encoding="utf-8", newline="") as file:
            return file.read()

    def _section(self, message: Message) -> str:
        role, model = message.get("role") or self._default_role, message.get("model")
        heading = role if model is None else f"{role} / {model}"
        if (
            tuple(heading.split(" / ", 1)) != ((role,) if model is None else (role, model))
            or heading != heading.strip()
            or "\n" in heading
        ):
            raise ValueError(
                f"The role {role!r} and the model {model!r} can't be a heading: one line, and no "
                "` / ` in the role."
            )
        lines = [
            _LOOKS_LIKE_UNDERLINE.sub(r"\\\1\2", line)
            if _LOOKS_LIKE_UNDERLINE.fullmatch(line)
            else line
            for line in _lines(message)
        ]
        return "\n".join(["", heading, RULE, *lines, ""])


def _lines(message: Message) -> list[str]:
    return str(message).split("\n")


def _messages(markdown: str) -> Iterator[Message]:
    lines = markdown.split("\n")
    starts = [at for at in range(len(lines) - 1) if _is_heading(lines[at], lines[at + 1])]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        if (text := lines[start + 2 : end]) and text[-1] == "":
            text.pop()  # the line that separates sections, or the end of the file
        role, _, model = lines[start].partition(" / ")
        content = "\n".join(
            [
                line[1:]
                if line.startswith("\\") and _LOOKS_LIKE_UNDERLINE.fullmatch(line)
                else line
                for line in text
            ]
        )
        yield Message(content, role=role, **({"model": model} if model else {}))


def _is_heading(line: str, below: str) -> bool:
    return below == RULE or (
        _UNDERLINE.fullmatch(below) is not None and line.partition(" / ")[0] in _ROLES
    )


@miniagent
async def markdown_llm_logger_agent(
    ctx: InteractionContext,
    log_folder: str | Path = "llm_logs/",
    request_metadata: Mapping[str, Any] | None = None,
    show_response_metadata: bool = True,
) -> None:
    """Writes the call of a model to a Markdown file of its own: who called, the parameters, the
    prompt, the reply, and what the server says of the reply.
    """
    request = dict(request_metadata or {})
    model = re.sub(r"[^\w.-]+", "_", str(request.get("model", "")))
    name = "__".join(filter(None, (f"{datetime.now():%Y%m%d_%H%M%S_%f}", model, token_hex(2))))
    callers = " <- ".join(agent.alias for agent in ctx.get_agent_trace()[1:])
    history = ChatHistoryMD(Path(log_folder) / f"{name}.md")
    await history.anote("\n\n".join(filter(None, (callers, _json(request)))))
    message = None
    async for promise in ctx.message_promises:
        message = await promise
        await history.akeep((message,))
    if message is not None and show_response_metadata:
        await history.anote(f"\n{'-' * 40}\n\n{_json(message.metadata())}")


def _json(values: Mapping[str, Any]) -> str:
    plain_values = {name: thaw(value) for name, value in values.items()}
    return f"```json\n{json.dumps(plain_values, indent=1, ensure_ascii=False, default=str)}\n```"
