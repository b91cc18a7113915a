"""The examples in docs/runtime.md run, and print what stands below them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", (ROOT / "docs/runtime.md").read_text(), re.DOTALL)


@pytest.mark.parametrize(("code", "printed"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_prints_what_stands_below_it(code, printed):
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)
    assert (ran.stderr, ran.stdout) == ("", printed)


def test_there_are_five_examples():
    assert len(EXAMPLES) == 5
