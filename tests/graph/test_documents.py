"""docs/graph.md and the drawn image: the example prints what stands below it, and the graph of a turn is the one that turns take."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from selfeng.graph import TURN_SVG
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


def test_the_image_shows_the_graph_of_a_turn():
    """It is drawn again by `make graph`."""
    graph, svg = turn_graph(), "{http://www.w3.org/2000/svg}"
    root = ET.fromstring(TURN_SVG.read_text("utf-8"))
    assert (root.get("role"), root.findtext(f"{svg}title")) == ("img", "The stages of a turn")
    groups = [(tuple(group.attrib.values()), group.findtext(f"{svg}title"), group.findtext(f"{svg}text")) for group in root.iter(f"{svg}g")]
    arrows = {(a, b): " | ".join(symbols) for (a, b), symbols in graph.arrows.items()}
    assert groups == [
        *((("transition", a, b), f"{a} → {b}: {symbols}", symbols) for (a, b), symbols in arrows.items()),
        *((("node", name), f"{name}: {told}", name) for name, told in graph.nodes.items()),
    ]
