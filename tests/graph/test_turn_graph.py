"""The drawn image of the graph of a turn is current."""

import xml.etree.ElementTree as ET

from benchmarks.draw_graph import turn_graph
from selfeng.turns.graph_run import TURN_SVG


def test_the_image_shows_the_graph_of_a_turn():
    """It is drawn again by `make graph`."""
    graph, svg = turn_graph(), "{http://www.w3.org/2000/svg}"
    root = ET.fromstring(TURN_SVG.read_text("utf-8"))
    assert (root.get("role"), root.findtext(f"{svg}title")) == ("img", "The stages of a turn")
    groups = [
        (tuple(group.attrib.values()), group.findtext(f"{svg}title"), group.findtext(f"{svg}text"))
        for group in root.iter(f"{svg}g")
    ]
    arrows = {(a, b): " | ".join(symbols) for (a, b), symbols in graph.arrows.items()}
    assert groups == [
        *(
            (("transition", a, b), f"{a} → {b}: {symbols}", symbols if labelled else None)
            for labelled in (False, True)
            for (a, b), symbols in arrows.items()
        ),
        *((("node", name), f"{name}: {told}", name) for name, told in graph.nodes.items()),
    ]
