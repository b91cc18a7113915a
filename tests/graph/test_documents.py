"""docs/graph.md: its example runs and prints what stands below it, and the graph of a turn in it is the one that turns take."""

import re
from pathlib import Path

from selfeng.graph.turn_graph import STAGES, turn_graph

DOCUMENT = (Path(__file__).parents[2] / "docs/graph.md").read_text()


def test_the_example_prints_what_stands_below_it(capsys):
    ((code, printed),) = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", DOCUMENT, re.DOTALL)
    exec(code, {"__name__": "__main__"})
    assert capsys.readouterr().out == printed


def test_the_graph_of_a_turn_is_the_one_that_turns_take():
    assert re.findall(r"```mermaid\n(.*?)```", DOCUMENT, re.DOTALL) == [turn_graph().mermaid()]


def test_the_stages_are_told_in_the_words_of_their_definition():
    told = re.findall(r"^\| `(\w+)` \| (.*) \|$", DOCUMENT, re.MULTILINE)
    assert told == [(name, words[0].lower() + words[1:]) for name, words in STAGES.items()]
