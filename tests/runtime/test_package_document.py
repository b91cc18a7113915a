"""The code in the document of the package `miniagents` runs through the alias as written, one block
after another, as in a notebook.
"""

import asyncio
import inspect
import io
import os
import re
import subprocess
import sys
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from pathlib import Path

import pytest

import miniagents
from tests.home import ROOT
from tests.runtime.test_anthropic_agent import ONLINE, streamed
from tests.runtime.test_openai_agent import STREAM

DOCUMENTS = ROOT.parent / "shared" / "documents"
if not DOCUMENTS.is_dir():
    pytest.skip(f"{DOCUMENTS} is not on this machine", allow_module_level=True)
TEXT = next(DOCUMENTS.glob("004*.txt")).read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
SOURCE = Path(miniagents.__file__).parent
MODELS = {"OPENAI_MODEL": "model-of-openai", "ANTHROPIC_MODEL": "model-of-anthropic"}
FORGOTTEN = {
    "asyncio": asyncio,
    "MiniAgents": miniagents.MiniAgents,
    "mini_agents": miniagents.MiniAgents(),
    "miniagents": miniagents.MiniAgents(),
}
"""Names that blocks use and the document does not define."""


def compiled(block, file):
    file.write_text(block, encoding="utf-8")
    return compile(block, str(file), "exec", flags=PyCF_ALLOW_TOP_LEVEL_AWAIT)


def is_python(block):
    try:
        compile(block, "block", "exec", flags=PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except IndentationError:
        return False
    return True


@pytest.fixture
def folder(wire, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for provider in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{provider}_BASE_URL", wire.url)
        monkeypatch.setenv(f"{provider}_API_KEY", "local")
        monkeypatch.setenv(f"{provider}_MODEL", MODELS[f"{provider}_MODEL"])
    return tmp_path


def expected_models():
    """The models of the blocks that run one, in order."""
    models = []
    for block in BLOCKS:
        for provider in re.findall(r"ext\.llm\.(openai|anthropic) import", block):
            named = re.search(r'model="([^"]+)"', block)
            models.append(named[1] if named else MODELS[f"{provider.upper()}_MODEL"])
    return models


def test_the_blocks_run_one_after_another(folder, wire, monkeypatch, capsys):
    names = {**FORGOTTEN, "__name__": "__main__"}
    ended, printed = {}, []
    for block in filter(is_python, BLOCKS):
        wire.replies.clear()
        wire.replies.append(
            streamed("end_turn", ONLINE) if "ext.llm.anthropic" in block else STREAM
        )
        console = "console_user_agent" in block
        monkeypatch.setattr("sys.stdin", io.StringIO("Hello\nexit\n" if console else "Hello\n"))
        code = compiled(block, folder / "cell.py")
        try:
            cell = eval(code, names)
            if inspect.iscoroutine(cell):
                asyncio.run(cell)
        except EOFError as error:
            ended[block] = error
        out = capsys.readouterr().out
        for said in re.findall(r'# (?:prints|Output:) "?([^"\n]+)', block):
            assert said in out
        printed.append(out)
    assert [asked["model"] for asked in wire.asked] == expected_models()
    assert [printed.count("I AM ONLINE"), sum("I AM ONLINE" in out for out in printed)] == [0, 4]
    assert [block for block in ended if "input(" not in block] == []


def test_only_blocks_without_a_body_are_not_python():
    others = [block for block in BLOCKS if not is_python(block)]
    assert [block.splitlines()[-1].lstrip()[0] for block in others] == ["#", "#"]
    assert len(BLOCKS) == 21


def test_the_dialog_with_a_history_runs_as_a_program_on_piped_lines(folder, wire):
    wire.replies.extend([STREAM, STREAM])
    (block,) = [block for block in BLOCKS if "ChatHistoryMD" in block]
    (folder / "dialog.py").write_text(block, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "dialog.py"],
        check=False,
        input="Hello\nAgain\nexit\n",
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    assert (done.returncode, done.stderr, done.stdout.count("I AM ONLINE")) == (0, "", 2)
    said = [[message["content"] for message in asked["messages"]] for asked in wire.asked]
    assert said == [["Hello"], ["Hello", "I AM ONLINE", "Again"]]
    assert (folder / "CHAT.md").read_text().count("I AM ONLINE") == 2
