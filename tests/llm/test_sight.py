"""Models that see pictures: what goes over the wire, and how it is found out whether one sees."""

from collections.abc import Callable

import pytest

from selfeng.core.http import NetworkAccess
from selfeng.core.model_server import ModelServer
from selfeng.core.pictures import Sight
from selfeng.models.chat import ChatRequest, messages_of
from selfeng.models.pricing import Meter
from selfeng_offline.cookbook import Cookbook
from tests.llm.desk import PROMPT, Desk
from tests.llm.test_responses import TEXT, response
from tests.llm.test_structured import GOOD, Plan
from tests.llm.wire_server import Sent, Served, serving

URL = "data:image/jpeg;base64,/9j/"
SHOWN = PROMPT.showing((URL, URL))


def completion(text: str) -> Served:
    return Served({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]})  # fmt: skip


async def test_pictures_are_parts_of_the_last_message(desk: Desk) -> None:
    with serving(lambda sent: completion(GOOD)) as server:
        desk.use(base_url=f"{server.url}/v1")
        await desk.client.structured(SHOWN, Plan, desk.budget)
    system, user = server.bodies[0]["messages"]
    assert system == {"role": "system", "content": PROMPT.messages[0].content}
    picture = {"type": "image_url", "image_url": {"url": URL}}
    assert user["content"] == [
        {"type": "text", "text": PROMPT.messages[1].content}, picture, picture
    ]  # fmt: skip


async def test_a_plainer_way_of_asking_keeps_the_pictures(desk: Desk) -> None:
    def answer(sent: Sent) -> Served:
        if {"tools", "response_format"} & sent.body.keys():
            return Served({"error": {"message": "response_format and tools are unknown"}}, 400)
        return completion(GOOD)

    with serving(answer) as server:
        desk.use(base_url=f"{server.url}/v1")
        await desk.client.structured(SHOWN, Plan, desk.budget)
    kinds = [part["type"] for part in server.bodies[-1]["messages"][-1]["content"]]
    assert kinds == ["text", "image_url", "image_url", "text"]


async def test_the_responses_api_gets_them_in_its_own_form(desk: Desk) -> None:
    with serving(lambda sent: Served(response(TEXT))) as server:
        desk.use(base_url=f"{server.url}/v1", api="responses")
        sight = await desk.client.sight(desk.budget)
    (message,) = server.bodies[0]["input"]
    assert [part["type"] for part in message["content"]] == ["input_text", "input_image"]
    assert message["content"][1]["image_url"].startswith("data:image/png;base64,iVBOR")
    assert sight.problem == "it read 'It is 45.' where the picture shows 83"


def refusal(status: int, message: str) -> Callable[[Sent], Served]:
    return lambda sent: Served({"error": {"message": message}}, status)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (lambda sent: completion("83"), ""),
        (lambda sent: completion("The picture shows **83**."), ""),
        (lambda sent: completion("I see no picture."), "it read 'I see no picture.'"),
        (refusal(400, "messages[0].content must be a string"), "does not take the request (400)"),
        (refusal(404, "No endpoints found that support image input"), "support image input"),
        (refusal(500, "image input is not supported - you need the mmproj"), "the mmproj"),
    ],
)
async def test_one_call_finds_out_whether_a_model_sees(
    desk: Desk, answer: Callable[[Sent], Served], problem: str
) -> None:
    with serving(answer) as server:
        desk.use(base_url=f"{server.url}/v1", max_retries=0, api="chat")
        sight = await desk.client.sight(desk.budget)
        again = await desk.client.sight(desk.budget)
        assert (len(server.requests), again) == (1, sight)
    assert problem in sight.problem
    assert bool(sight.problem) == bool(problem)
    assert sight.needs == ()


@pytest.mark.parametrize(
    ("url", "near"),
    [
        ("http://localhost:11434/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://192.168.1.7:8000/v1", True),
        ("http://ollama:11434/v1", True),
        ("http://gpu.local:1234/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8/v1", False),
        ("https://localhost.example.org/v1", False),
    ],
)
def test_only_this_machine_and_its_own_network_are_near(url: str, near: bool) -> None:
    assert ModelServer(base_url=url, model="m", api_key="k", timeout=1).near == near


def test_a_server_elsewhere_is_a_host_that_needs_consent() -> None:
    url = "https://me:pass@api.example.org/v1?key=1"
    server = ModelServer(base_url=url, model="m", api_key="k", timeout=1)
    assert server.access("see") == NetworkAccess(
        host="api.example.org", methods=("POST",), path="/v1", purpose="see"
    )


def test_a_picture_counts_as_the_tokens_that_it_costs() -> None:
    def tokens(picture: str) -> int:
        messages = messages_of(PROMPT.showing((f"data:image/jpeg;base64,{picture}",)))
        return Meter(ChatRequest(messages=messages)).tokens.input

    assert tokens("A" * 400_000) == tokens("A" * 4)
    assert 1000 < tokens("A" * 4) < 1100


async def test_the_offline_model_says_that_it_reads_text_only(desk: Desk) -> None:
    desk.play(Cookbook().complete)
    sight = await desk.client.sight(desk.budget)
    assert sight == Sight(model="offline", problem=sight.problem)
    assert "it reads text only" in sight.problem
