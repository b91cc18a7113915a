"""The examples in docs/python.md run one after the other, and print what stands below them."""

import re
import textwrap
from pathlib import Path

import pytest

from tests.home import Home

DOCUMENT = (Path(__file__).parents[2] / "docs/python.md").read_text()
EXAMPLES = re.findall(
    r"^( *)```python\n(.*?)^ *```\n^ *```text\n(.*?)^ *```", DOCUMENT, re.DOTALL | re.MULTILINE
)


@pytest.mark.bubblewrap
def test_the_examples_print_what_stands_below_them(tmp_path, monkeypatch, capsys):
    for name, value in Home(tmp_path / "app", bubblewrap=True).environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    assert len(EXAMPLES) == DOCUMENT.count("```python")
    names = {"__name__": "__main__"}
    for _, code, printed in EXAMPLES:
        exec(textwrap.dedent(code), names)
        assert capsys.readouterr().out == textwrap.dedent(printed)
