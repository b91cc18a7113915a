"""The examples in docs/runtime.md run, and print what stands below them."""

import re
from pathlib import Path

import pytest

DOCUMENT = (Path(__file__).parents[2] / "docs/runtime.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", DOCUMENT, re.DOTALL)


@pytest.mark.parametrize(("code", "printed"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_prints_what_stands_below_it(code, printed, capsys):
    exec(code, {"__name__": "__main__"})
    assert capsys.readouterr().out == printed


def test_there_are_examples_and_no_code_that_is_not_run():
    assert 0 < len(EXAMPLES) == DOCUMENT.count("```python")
