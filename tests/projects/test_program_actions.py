"""A program's additions to a build, and its access to it: actions of its own, the context, packages
of a requirements.txt, and the names of the package `autocoder`.
"""

import pytest

import autocoder as alias
from selfeng.autocoder import Context, compose_prompt, start_autocoder
from selfeng.core.errors import RequestError
from selfeng.core.packages import sandbox_requirements
from selfeng.projects.options import ProjectOptions, line_of, packages_in
from tests.projects.conftest import DONE, Bench, call
from tests.projects.still_sandbox import StillSandbox, locked
from tests.projects.test_builds import READ, WRITE, Answers


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> StillSandbox:
    monkeypatch.setattr("selfeng.projects.loop.lock_packages", locked)
    return StillSandbox()


@pytest.fixture
def bench(tmp_path, still) -> Bench:
    return Bench(tmp_path, still)


def rename(context: Context, old: str, new: str = "app.py") -> str:
    """Rename a file of the project."""
    with open(f"{context.project_path}/{old}") as file:
        text = file.read()
    with open(f"{context.project_path}/{new}", "w") as file:
        file.write(text)
    return f"{old} is {new} now, in epoch {context.epoch}"


async def look_up(context: Context, word: str) -> None:
    """Look up a word."""
    raise LookupError(f"no {word}")


async def test_a_program_adds_actions_that_the_model_chooses_like_its_own(bench: Bench):
    last = await bench.build(
        WRITE, call("rename", old="main.py"), call("look_up", word="tea"), READ, DONE,
        actions=[rename, look_up],
    )  # fmt: skip
    assert last.type == "project_finished"
    assert bench.files == {"main.py": "print(42)\n", "app.py": "print(42)\n"}
    changed = [event for event in bench.events if event.type == "project_changed"]
    assert [(event.path, event.change) for event in changed] == [
        ("main.py", "created"),
        ("app.py", "created"),
    ]
    third, fourth = bench.prompts()[2:4]
    assert "main.py is app.py now, in epoch 2" in third
    assert "It was not done: look_up raised LookupError: no tea" in fourth
    offered = {
        tool["function"]["name"]: tool["function"] for tool in bench.script.requests[0].tools
    }
    assert offered["rename"]["description"] == "Rename a file of the project."
    assert offered["rename"]["parameters"]["required"] == ["old"]


async def test_arguments_of_a_programs_action_are_checked(bench: Bench):
    await bench.build(WRITE, call("rename", new="x"), DONE, actions=[rename])
    assert "rename can't be done: old: Field required" in bench.prompts()[2]


@pytest.mark.parametrize("name", ["finish", "undocumented"])
async def test_a_function_that_can_not_be_an_action_is_named(bench: Bench, name: str):
    def function(context: Context) -> None: ...

    function.__name__ = name
    with pytest.raises(RequestError, match=f"the function '{name}' can't be an action"):
        await bench.build(DONE, actions=[function])


async def test_the_context_of_each_choice_reaches_the_program_and_its_prompts(bench: Bench):
    contexts: list[Context] = []
    await bench.build(WRITE, DONE, on_context=contexts.append)
    assert [context.file_count for context in contexts] == [0, 1]
    told = compose_prompt("{{goal}} in {{ filetree }}{{main_error}}: {{epoch}}", contexts[-1])
    assert told == 'print 42 in [\n "main.py"\n]: 2'
    with pytest.raises(RequestError, match="the context has no key 'gaol'") as caught:
        compose_prompt("{{gaol}}", contexts[-1])
    assert "project_code_formatted" in caught.value.remedy


def test_a_requirements_txt_is_read_as_packages():
    text = "humanize==4.9.0\nPyYAML==6.0.2  # import yaml\nflask>=3  # web\n-r more.txt\na @ file:///a\n\n# b\n"
    assert packages_in(text) == ("humanize==4.9.0", "yaml:PyYAML==6.0.2", "flask")
    assert line_of("yaml:PyYAML==6.0.2") == "PyYAML==6.0.2  # import yaml"


async def test_packages_of_the_requirements_may_be_asked_for(bench: Bench, still: StillSandbox):
    bench.lay_out({"requirements.txt": "humanize==4.9.0\nnumpy\n", "main.py": "import humanize\n"})
    consent = Answers(package=True)
    ask = call("add_package", package="humanize")
    last = await bench.build(ask, DONE, consent=consent)
    assert (last.type, consent.packages) == ("project_finished", ["humanize==4.9.0"])
    assert bench.files["requirements.txt"] == "humanize==4.9.0\nnumpy\n"


async def test_a_finished_project_lists_the_packages_that_it_imports(
    bench: Bench, still: StillSandbox
):
    numpy, dates = sandbox_requirements()["numpy"], sandbox_requirements()["dateutil"]
    code = "import json, numpy\nfrom dateutil import tz\nimport yaml\n"
    bench.lay_out({"requirements.txt": "# mine\nother==1"})
    await bench.build(
        call("add_package", package="yaml"),
        call("create_file", name="main.py", body=code),
        DONE,
        packages=("yaml:PyYAML==6.0.2",),
        consent=Answers(package=True),
    )
    assert bench.files["requirements.txt"].splitlines() == [
        "# mine", "other==1", numpy, dates, "PyYAML==6.0.2  # import yaml",
    ]  # fmt: skip
    changed = [event.path for event in bench.events if event.type == "project_changed"]
    assert changed == ["main.py", "requirements.txt"]


async def test_a_requirements_txt_that_is_no_text_is_left_alone(bench: Bench):
    path = bench.folder / "demo" / "requirements.txt"
    bench.lay_out({"requirements.txt": ""})
    path.write_bytes(b"\xff\xfe")
    last = await bench.build(call("create_file", name="main.py", body="import numpy\n"), DONE)
    assert (last.type, path.read_bytes()) == ("project_finished", b"\xff\xfe")


def test_the_projects_own_folder_can_be_named(tmp_path):
    options = ProjectOptions.of({"project_path": tmp_path / "work" / "song", "goal": "g"})
    assert (options.project_dir, options.project_name) == (tmp_path / "work", "song")


def test_a_program_for_autocoder_builds_in_its_folder_and_reads_the_context(tmp_path, capsys):
    given = {"project_name": "any", "goal": "print 42", "project_dir": str(tmp_path / "own")}
    ended = alias.autocoder({**given, "log_level": "quiet", "max_steps": 1})
    assert (ended["thread"].is_alive(), ended["project_dir"]) == (False, str(tmp_path / "own"))
    assert (ended.project, ended["last"].type == ended.type) == ("own", True)
    assert capsys.readouterr() == ("", "")


def test_a_handle_has_the_last_context(tmp_path):
    options = {"project_name": "a", "goal": "print 42", "project_dir": tmp_path}
    build = start_autocoder({**options, "log_level": "quiet", "max_steps": 1}, actions=[rename])
    build.wait()
    assert build.context is not None
    assert "rename" in build.context.available_action_names
