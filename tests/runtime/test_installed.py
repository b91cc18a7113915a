"""An installed selfeng brings the names of two other packages with it, in any folder."""

import os
import subprocess
import sys
import zipfile

from tests.home import ROOT

PROGRAM = """
import autocoder
from miniagents import MiniAgents, miniagent

@miniagent
async def greeter(ctx):
    ctx.reply("hello")

print(*MiniAgents().run_agent(greeter), autocoder.autocoder.__name__)
"""


def test_a_program_elsewhere_finds_them_in_the_wheel(tmp_path):
    built, installed, away = (tmp_path / name for name in ("built", "installed", "away"))
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    away.mkdir()
    (away / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    ran = subprocess.run(
        [sys.executable, "-m", "program"],
        cwd=away,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert ran.stdout == "hello autocoder\n"
