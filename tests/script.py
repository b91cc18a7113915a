"""A script as the author of the offline server, for tests: what to reply, step by step or by the
prompt's title.
"""

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.server import OfflineServer
from selfeng_offline.wire import Rejection
from tests.home import Home, serving

Step = Completion | Rejection | Callable[[CompletionRequest], Completion]
"""A reply, an HTTP error, or a function that writes the reply."""


class ScriptExhausted(Exception):
    """A request came for which the script has no step; the client sees it as status 500."""


class Script:
    """Replies with its steps in order, and keeps the requests it saw.

    `titled` maps a prompt's title, the words after `# Task: `, to steps of its own, which come
    first: a sequence is used up in order, a single step serves every request of that title.
        `refuses` names fields of a request that are answered with
    status 400, as servers do that don't know them: `tools`, or `tool_choice=required` for one value
    only.
    """

    def __init__(
        self,
        *steps: Step,
        titled: Mapping[str, Step | Sequence[Step]] | None = None,
        refuses: Collection[str] = (),
    ) -> None:
        self._steps = deque(steps)
        self._titled = {
            title: deque(s) if isinstance(s, Sequence) else s for title, s in (titled or {}).items()
        }
        self._refuses = refuses
        self._lock = threading.Lock()
        self.requests: list[CompletionRequest] = []
        """All requests so far, also the refused ones, oldest first."""

    @property
    def unused(self) -> int:
        """How many steps have not been used."""
        return len(self._steps) + sum(
            len(steps) for steps in self._titled.values() if isinstance(steps, deque)
        )

    def complete(self, request: CompletionRequest) -> Completion:
        """Raises: Rejection, ScriptExhausted."""
        with self._lock:
            self.requests.append(request)
            self._refuse(request)
            step = self._next(title_of(request))
        match step:
            case Completion():
                return step
            case Rejection():
                raise step
            case _:
                return step(request)

    def _refuse(self, request: CompletionRequest) -> None:
        for refused in self._refuses:
            name, _, value = refused.partition("=")
            if name in request.body and (not value or request.body[name] == value):
                raise Rejection(
                    400,
                    f"Unsupported parameter: {refused!r} is not supported with this model.",
                    param=name,
                )

    def _next(self, title: str) -> Step:
        steps = self._titled.get(title, self._steps)
        if not isinstance(steps, deque):
            return steps
        if not steps:
            number = len(self.requests)
            raise ScriptExhausted(
                f"the script has no step left for request {number}, titled {title!r}"
            )
        return steps.popleft()


def title_of(request: CompletionRequest) -> str:
    """The words after `# Task: ` in the first line of the system message, or ""."""
    for message in request.messages:
        content = message.get("content")
        if message.get("role") == "system" and isinstance(content, str):
            return content.partition("\n")[0].removeprefix("# Task:").strip()
    return ""


@contextmanager
def serving_script(home: Home, titled: Mapping[str, Step | Sequence[Step]]) -> Iterator[str]:
    """The link to a page's server in that home, whose model replies by the prompts' titles."""
    with (
        OfflineServer(Script(titled=titled), delay=0) as server,
        serving(
            home,
            OPENAI_BASE_URL=server.base_url,
            OPENAI_API_KEY=server.api_key,
            OPENAI_MODEL=server.model,
        ) as link,
    ):
        yield link
