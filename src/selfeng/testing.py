"""The contract that a package's own sandbox backend or model provider must keep, for its tests:

    @pytest.mark.parametrize("case", SANDBOX_CASES, ids=str)
    def test_it_keeps_the_contract(case):
        asyncio.run(case.check(SecureSandbox(timeout=2, backend=MyBackend())))

The cases need no pytest; `check` raises AssertionError.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Protocol

from selfeng.core.errors import ModelError, ModelReplyInvalid, ModelUnavailable
from selfeng.core.files import File
from selfeng.core.prompt import ChatMessage, FunctionCall, FunctionSchema, Prompt
from selfeng.core.protocols import Sandbox
from selfeng.core.turn import Budget
from selfeng.core.verdict import Execution, SandboxJob, TestResult
from selfeng.llm_client import LLMClient
from selfeng.models.abilities import Total
from selfeng.models.chat import ModelCall, ModelReply

_FILE = File(name="in.txt", content=b"abc")
_REFUSED = (
    "def refused(action):\n    try:\n        action()\n    except OSError:\n        return 1\n"
)
_SUITE = "from tool import tool\ndef test_one(): assert tool(1) == 2\n"


class SandboxCase(NamedTuple):
    """Code that a sandbox runs twice, as the first run must leave nothing for the second."""

    name: str
    code: str
    expected: Any
    """The tool's value; the type of its exception; `killed`; or the outcomes of its tests."""
    arguments: Mapping[str, Any] = {}
    tests: str = ""
    """A suite to verify the tool by, instead of calling it."""

    def __str__(self) -> str:
        return self.name

    async def check(self, sandbox: Sandbox) -> None:
        """Raises: AssertionError, SandboxError."""
        run = self._verify if self.tests else self._execute
        for _ in range(2):
            outcome = await run(sandbox)
            assert outcome == self.expected, f"{self}: {outcome!r} instead of {self.expected!r}"

    async def _verify(self, sandbox: Sandbox) -> object:
        streamed: list[TestResult] = []
        verdict = await sandbox.verify(SandboxJob("tool", self.code, self.tests), streamed.append)
        outcomes = {result.test: result.outcome for result in streamed}
        return (outcomes, verdict.passed, verdict.problem is None)

    async def _execute(self, sandbox: Sandbox) -> object:
        library = {"beside": "def double(n): return 2 * n"}
        job = SandboxJob("tool", self.code, library=library)
        return _outcome(await sandbox.execute(job, self.arguments, [_FILE]))


def _outcome(execution: Execution) -> object:
    match execution.outcome:
        case "returned":
            files = {file.name: file.content for file in execution.files}
            return (execution.data, execution.stdout, files)
        case "raised":
            return f"{execution.type_name}: {execution.message}"
        case "killed":
            return "killed"


SANDBOX_CASES = (
    SandboxCase(
        "a value returns with what was printed",
        "def tool(n):\n    print('x')\n    return {'n': n}",
        ('{"n":[1,null]}', "x\n", {}),
        {"n": [1, None]},
    ),
    SandboxCase(
        "an exception returns", "def tool():\n    raise KeyError('absent')", "KeyError: 'absent'"
    ),
    SandboxCase(
        "files go in and out",
        "def tool():\n    text = open('in.txt').read()\n    open('out.txt', 'w').write(text * 2)",
        ("null", "", {"out.txt": b"abcabc"}),
    ),
    SandboxCase(
        "a module beside the tool is imported",
        "def tool():\n    import beside\n    return beside.double(4)",
        ("8", "", {}),
    ),
    SandboxCase(
        "a tool may end its own process only", "import os\ndef tool():\n    os._exit(0)", "killed"
    ),
    SandboxCase("an endless tool is ended", "def tool():\n    while True: pass", "killed"),
    SandboxCase(
        "no network is reached",
        _REFUSED + "def tool():\n    import socket\n    address = ('192.0.2.1', 80)\n"
        "    return refused(lambda: socket.create_connection(address, 1))",
        ("1", "", {}),
    ),
    SandboxCase(
        "files of the host are out of reach",
        _REFUSED + "def tool(path):\n    return refused(lambda: open(path))",
        ("1", "", {}),
        {"path": __file__},
    ),
    SandboxCase(
        "the system can't be written",
        _REFUSED + "def tool():\n    return refused(lambda: open('/usr/written', 'w'))",
        ("1", "", {}),
    ),
    SandboxCase(
        "nothing is left for the next call",
        "def tool():\n    import os\n    left = os.path.exists('/tmp/left')\n"
        "    open('/tmp/left', 'w').close()\n    return left",
        ("false", "", {}),
    ),
    SandboxCase(
        "a right tool passes",
        "def tool(n): return n + 1",
        ({"test_one": "passed"}, True, True),
        tests=_SUITE,
    ),
    SandboxCase(
        "a wrong tool fails",
        "def tool(n): return n",
        ({"test_one": "failed"}, False, True),
        tests=_SUITE,
    ),
    SandboxCase(
        "a tool that ends the run proves nothing",
        "import os\ndef tool(n): os._exit(0)",
        ({"test_one": "failed"}, False, False),
        tests=_SUITE,
    ),
)


class ProviderBench(Protocol):
    """A client of a provider, and the server behind it, which a test scripts."""

    @property
    def client(self) -> LLMClient: ...

    def answer(self, *replies: ModelReply | int) -> None:
        """The server's next answers: a reply, or the status of an error."""


PROMPT = Prompt(name="contract", messages=(ChatMessage(role="user", content="Add 2 and 3."),))
ADD = FunctionSchema(
    name="add", description="Add.", parameters={"type": "object", "properties": {}}
)
_TOTAL = Total(sentence="It is 5.", total=5)
_FIVE = ModelReply(text=_TOTAL.model_dump_json())
_CALL = ModelReply(text="", calls=(ModelCall(id="one", name="add", arguments='{"a": 2}'),))


async def _text(client: LLMClient, budget: Budget) -> str:
    return "".join([piece async for piece in client.stream(PROMPT, budget)])


async def _total(client: LLMClient, budget: Budget) -> Total:
    return await client.structured(PROMPT, Total, budget)


async def _choice(client: LLMClient, budget: Budget) -> FunctionCall:
    return await client.choose(PROMPT, [ADD], budget)


class ProviderCase(NamedTuple):
    """One question to a model, and what comes of the server's answers."""

    name: str
    ask: Callable[[LLMClient, Budget], Awaitable[object]]
    answers: tuple[ModelReply | int, ...]
    expected: object
    """The value, or the type of an error with a remedy."""
    calls: int = 1
    """How many are charged."""

    def __str__(self) -> str:
        return self.name

    async def check(self, bench: ProviderBench) -> None:
        """Raises: AssertionError."""
        bench.answer(*self.answers)
        budget, outcome = Budget(), None
        try:
            outcome = await self.ask(bench.client, budget)
        except ModelError as error:
            is_expected = isinstance(self.expected, type) and isinstance(error, self.expected)
            outcome = self.expected if is_expected and error.remedy else error
        assert outcome == self.expected, f"{self}: {outcome!r} instead of {self.expected!r}"
        assert budget.usage.calls == self.calls, f"{self}: {budget.usage}"


PROVIDER_CASES = (
    ProviderCase("text is streamed", _text, (ModelReply(text="It is 5."),), "It is 5."),
    ProviderCase("a value is read", _total, (_FIVE,), _TOTAL),
    ProviderCase("a bad value is repaired", _total, (ModelReply(text="{}"), _FIVE), _TOTAL, 2),
    ProviderCase(
        "a function is called", _choice, (_CALL,), FunctionCall(name="add", arguments={"a": 2})
    ),
    ProviderCase(
        "a reply that is cut off is invalid",
        _text,
        (ModelReply(text="It", cut_off=True),),
        ModelReplyInvalid,
    ),
    ProviderCase("a refused key is reported", _text, (401,), ModelUnavailable),
    ProviderCase("passing trouble is tried again", _text, (529, ModelReply(text="5")), "5"),
    ProviderCase("lasting trouble is reported", _text, (500,) * 9, ModelUnavailable),
)
