"""The examples of docs/usage.md from Python run one after the other, and print what stands below
them.
"""

import re
from pathlib import Path

import pytest

from tests.home import Home

USAGE = (Path(__file__).parents[2] / "docs/usage.md").read_text()
SECTION = USAGE.partition("\n## From Python\n")[2].partition("\n## ")[0]
EXAMPLES = re.findall(
    r"^```python\n(.*?)^```\n^```text\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE
)


@pytest.mark.bubblewrap
def test_the_examples_print_what_stands_below_them(tmp_path, monkeypatch, capsys):
    for name, value in Home(tmp_path / "app", bubblewrap=True).environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    assert EXAMPLES
    assert len(EXAMPLES) == SECTION.count("```python")
    names = {"__name__": "__main__"}
    for code, printed in EXAMPLES:
        exec(code, names)
        assert capsys.readouterr().out == printed
