"""`selfeng check`: the parts show themselves at work, without what they don't need."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from selfeng.cli.app import app
from selfeng.models.received import context_length_in
from selfeng_offline.completion import Completion, CompletionRequest, Flawed
from selfeng_offline.server import OfflineServer
from tests.home import Home
from tests.script import Script, Step


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def check(home: Home, part: str, code: int = 0, **more: str) -> str:
    nowhere = {"SANDBOX": "docker", "DOCKER_HOST": f"unix://{home.folder}/none.sock"}
    asked = CliRunner(env=home.environment(**nowhere, **more)).invoke(app, ["check", part])
    assert asked.exit_code == code, asked.output
    return asked.stdout


def test_the_library_is_checked_without_a_sandbox(home: Home) -> None:
    *_, request, first, _, _ = check(home, "capability_registry").splitlines()
    assert request == "What is 15 percent of 300?"
    assert "calculate_percentage" in first


def test_the_models_reply_is_printed_as_it_was_written(home: Home) -> None:
    shown = check(home, "llm_client")
    assert "- **encodings**: Base64, URL, ROT13, Morse code, SHA-256\n" in shown


TOTAL = '{"sentence": "Five.", "total": 5}'
ADD = Completion(function="add", arguments={"a": 2, "b": 3})
WRITTEN = '{"name": "add", "arguments": {"a": 2, "b": 3}}'


def strong(request: CompletionRequest) -> Completion:
    """A server that follows what it is asked."""
    asked = str(request.messages[-1]["content"])
    if request.stream:
        return Completion(content="They are five.")
    if any(tool["function"]["name"] == "add" for tool in request.tools):
        return ADD
    if request.tools:
        return Completion(function="Total", arguments={"sentence": "Five.", "total": 5})
    return Completion(content=WRITTEN if "The functions" in asked else TOTAL)


def prosaic(request: CompletionRequest) -> Completion:
    """A server that ignores schemas and tools, and a model that thinks aloud."""
    if request.stream or request.response_format or request.tools:
        return Flawed(content="<think>2 + 3</think>They are five.", usage=False)
    return strong(request)


def useless(request: CompletionRequest) -> Completion:
    return Completion(content="They are five.")


def checked(home: Home, author: Step, code: int = 0, refuses: tuple[str, ...] = ()) -> list[str]:
    script = Script(*[author] * 9, refuses=refuses)
    with OfflineServer(script, delay=0) as server:
        key = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": server.api_key}
        return check(home, "model", code, **key, OPENAI_MODEL="offline").splitlines()


COST = "A request that a tool serves takes 2 model calls, one that needs a new tool 4 to 6."


def test_a_server_is_asked_in_each_way_what_it_can_do(home: Home) -> None:
    _, models, text, *ways, _, cost = checked(home, strong)
    assert models == "yes models: it does not tell its context length"
    assert text.startswith("yes text in a stream: 1 piece, the first after ")
    assert text.endswith("; it reports usage")
    assert ways == [
        "yes values by a strict schema",
        'yes values by tool_choice "required"',
        "yes values by tool_choice with the function",
        "yes values in words",
        'yes choices by tool_choice "required"',
        'yes choices by tool_choice "auto"',
        "yes choices in words",
        'no  pictures: it read \'{"sentence": "Five.", "total": 5}\' where the picture shows 83',
    ]
    assert cost == COST


def test_what_a_server_refuses_is_said_and_costs_nothing(home: Home) -> None:
    lines = checked(home, strong, refuses=("response_format", "tools"))
    assert [line[:4] for line in lines[3:10]] == [*["no  "] * 3, "yes ", *["no  "] * 2, "yes "]
    assert "does not take the request (400)" in lines[3]
    assert lines[-1] == COST


def test_what_a_server_ignores_costs_calls_at_first(home: Home) -> None:
    lines = checked(home, prosaic)
    assert lines[2].endswith(
        "it reports no usage, which is estimated; it thinks aloud, which is kept apart"
    )
    assert lines[3] == "no  values by a strict schema: the reply does not follow: it holds no JSON"
    assert lines[-1] == f"{COST} What the server ignores costs 5 further calls until it is known."


def test_a_model_that_gives_only_prose_cannot_be_used(home: Home) -> None:
    lines = checked(home, useless, code=1)
    assert lines[-1] == "This model can't be used: it gives no values and no choices."


def test_a_reply_that_was_cut_off_is_said_to_be(home: Home) -> None:
    lines = checked(home, Completion(content='{"sentence', finish_reason="length"), code=1)
    assert [line.rpartition(": ")[2] for line in lines[2:10]] == [
        "the reply of offline was cut off by its length limit"
    ] * 8


def test_a_server_that_is_not_there_is_named(home: Home) -> None:
    assert check(home, "model", 1, OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_MAX_RETRIES="0")


def test_the_offline_model_needs_no_check(home: Home) -> None:
    assert check(home, "model").startswith("Built-in offline model")


@pytest.mark.parametrize(
    ("fields", "length"),
    [
        ({"max_model_len": 8192, "root": "x"}, 8192),
        ({"meta": {"n_ctx_train": 131072, "n_ctx": 4096}}, 4096),
        ({"loaded_context_length": 4096, "max_context_length": 32768}, 4096),
        ({"owned_by": "me"}, None),
        (None, None),
    ],
)
def test_the_context_length_is_found_where_a_server_tells_it(
    fields: object, length: int | None
) -> None:
    assert context_length_in(fields) == length
