"""The code in the document of the package `miniagents` runs through the alias as written, one block
after another, as in a notebook, in an environment of its own.
"""

import json
import os
import re
import subprocess
import sys
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT

import pytest
from uv import find_uv_bin

from tests.home import ROOT
from tests.runtime.test_anthropic_agent import ONLINE, streamed
from tests.runtime.test_openai_agent import STREAM

DOCUMENTS = ROOT.parent / "shared" / "documents"
if not DOCUMENTS.is_dir():
    pytest.skip(f"{DOCUMENTS} is not on this machine", allow_module_level=True)
TEXT = next(DOCUMENTS.glob("004*.txt")).read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
MODELS = {"OPENAI_MODEL": "model-of-openai", "ANTHROPIC_MODEL": "model-of-anthropic"}
NOTEBOOK = """
import ast, asyncio, contextlib, inspect, io, json, sys
import miniagents
context = miniagents.MiniAgents
# Names that blocks use and the document does not define.
names = {"asyncio": asyncio, "MiniAgents": context, "mini_agents": context(), "miniagents": context()}
names["__name__"] = "__main__"
cells = []
for block, lines in json.load(open("notebook.json")):
    printed, ended, sys.stdin = io.StringIO(), "", io.StringIO(lines)
    with contextlib.redirect_stdout(printed):
        try:
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            cell = eval(compile(block, "cell.py", "exec", flags=flags), names)
            if inspect.iscoroutine(cell):
                asyncio.run(cell)
        except EOFError as error:
            ended = repr(error)
    cells.append([printed.getvalue(), ended])
json.dump(cells, sys.stdout)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an environment with requirements.txt and Anthropic's SDK."""
    venv, uv = tmp_path_factory.mktemp("document") / "venv", find_uv_bin()
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([uv, "venv", "-q", "--python", base, venv], check=True)
    python = str(venv / "bin" / "python")
    install = [uv, "pip", "install", "-q", "--python", python]
    subprocess.run([*install, "-r", "requirements.txt"], cwd=ROOT, check=True)
    subprocess.run([*install, "-c", "requirements-dev.txt", "anthropic"], cwd=ROOT, check=True)
    return python


def is_python(block):
    try:
        compile(block, "block", "exec", flags=PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except IndentationError:
        return False
    return True


@pytest.fixture
def run(python, wire, tmp_path):
    """Runs a program with these lines as its input; returns what it prints."""

    def run(program, lines=""):
        (tmp_path / "program.py").write_text(program, encoding="utf-8")
        ours = {"PYTHONPATH": str(ROOT / "src"), **MODELS}
        for provider in ("OPENAI", "ANTHROPIC"):
            ours |= {f"{provider}_BASE_URL": wire.url, f"{provider}_API_KEY": "local"}
        done = subprocess.run(
            [python, "program.py"],
            cwd=tmp_path,
            env={**os.environ, **ours},
            input=lines,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


def expected_models():
    """The models of the blocks that run one, in order."""
    models = []
    for block in BLOCKS:
        for provider in re.findall(r"ext\.llm\.(openai|anthropic) import", block):
            named = re.search(r'model="([^"]+)"', block)
            models.append(named[1] if named else MODELS[f"{provider.upper()}_MODEL"])
    return models


def test_the_blocks_run_one_after_another(run, wire, tmp_path):
    cells = []
    for block in filter(is_python, BLOCKS):
        if "ext.llm.anthropic import" in block:
            wire.replies.append(streamed("end_turn", ONLINE))
        elif "ext.llm.openai import" in block:
            wire.replies.append(STREAM)
        cells.append([block, "Hello\nexit\n" if "console_user_agent" in block else "Hello\n"])
    (tmp_path / "notebook.json").write_text(json.dumps(cells), encoding="utf-8")
    results = json.loads(run(NOTEBOOK))
    for (block, _), (printed, ended) in zip(cells, results, strict=True):
        assert not ended or "input(" in block
        for said in re.findall(r'# (?:prints|Output:) "?([^"\n]+)', block):
            assert said in printed
    assert [asked["model"] for asked in wire.asked] == expected_models()
    assert sum("I AM ONLINE" in printed for printed, _ in results) == 4


def test_only_blocks_without_a_body_are_not_python():
    others = [block for block in BLOCKS if not is_python(block)]
    assert [block.splitlines()[-1].lstrip()[0] for block in others] == ["#", "#"]
    assert len(BLOCKS) == 21


def test_the_dialog_with_a_history_runs_as_a_program_on_piped_lines(run, wire, tmp_path):
    wire.replies.extend([STREAM, STREAM])
    (block,) = [block for block in BLOCKS if "ChatHistoryMD" in block]
    assert run(block, "Hello\nAgain\nexit\n").count("I AM ONLINE") == 2
    said = [[message["content"] for message in asked["messages"]] for asked in wire.asked]
    assert said == [["Hello"], ["Hello", "I AM ONLINE", "Again"]]
    assert (tmp_path / "CHAT.md").read_text().count("I AM ONLINE") == 2
