"""The cookbook: the author behind the offline model. It knows a fixed set of recipes, and says so
if none fits.
"""

from collections.abc import Callable, Mapping

from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.cookbook.answering import answer, answer_plan
from selfeng_offline.cookbook.choosing import choose
from selfeng_offline.cookbook.project_recipes import take_step
from selfeng_offline.cookbook.read_prompt import ReadPrompt
from selfeng_offline.cookbook.scripts import code, relay
from selfeng_offline.cookbook.small_talk import KNOWLEDGE, reply_to
from selfeng_offline.cookbook.writing import learn, specify, write_code, write_tests
from selfeng_offline.wire import Rejection

ANSWERS: Mapping[str, Callable[[ReadPrompt], Completion]] = {
    "answer": answer,
    "arguments": choose,
    "coder": code,
    "decide": choose,
    "deciding_test": lambda _: Completion(content="undecided"),
    "implementation": write_code,
    "lessons": learn,
    "mend": lambda _: Completion(content="misuse"),  # its recipes are right
    "more_tests": write_tests,
    "project_step": take_step,
    "proxy": relay,
    "refactor": lambda _: Completion(content="optimal"),
    "repair": write_code,
    "results": answer_plan,
    "specification": specify,
    "tests": write_tests,
}
"""How each prompt of `src/selfeng/prompts` is answered, by its name."""


class Cookbook:
    """Completes prompts from recipes, and makes small talk with clients that name no prompt;
    implements `Author`.
    """

    def complete(self, request: CompletionRequest) -> Completion:
        """Raises: Rejection: the request has pictures."""
        contents = [message.get("content") for message in request.messages]
        parts = [part for content in contents if isinstance(content, list) for part in content]
        if any(part.get("type") != "text" for part in parts):
            raise Rejection(400, "it reads text only, no image_url", param="messages")
        return ANSWERS.get(request.prompt, _talk)(ReadPrompt.of(request))


def _talk(prompt: ReadPrompt) -> Completion:
    return Completion(content=reply_to(prompt.said[-1] if prompt.said else "") or KNOWLEDGE)
