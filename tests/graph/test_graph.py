"""The state graph by itself: building it, moving in it, what it refuses, and its Mermaid text."""

import pytest

from selfeng.core.errors import GraphError, NodeUnknown, SymbolUnknown
from selfeng_agents.graph import Graph, Transition

NO_BLUE = NodeUnknown, "the graph has no node 'blue'", "the nodes here are 'red', 'green', 'off'"


def light() -> Graph[str]:
    graph: Graph[str] = Graph()
    for name, told in (("red", "wait"), ("green", "go"), ("off", "give way")):
        graph.add_node(name, told)
    graph.add_transition("red", "timer", "green")
    graph.add_transition("green", "timer", "red")
    graph.add_transition("green", "fault", "off")
    graph.set_start_node("red")
    return graph


def test_an_input_leads_to_the_next_node_and_its_context():
    graph = light()
    assert (graph.current_node, graph.current_context) == ("red", "wait")
    assert graph.process_input("timer") == "go"
    assert (graph.current_node, graph.is_terminal) == ("green", False)
    graph.process_input("fault")
    assert (graph.current_node, graph.is_terminal) == ("off", True)


def test_a_node_added_again_gets_the_new_context_and_keeps_its_transitions():
    graph = light()
    before = graph.transitions
    graph.add_node("green", "run")
    assert graph.transitions == before
    assert graph.process_input("timer") == "run"


def test_a_node_without_a_context_has_none_until_it_gets_one():
    graph: Graph[str] = Graph()
    graph.add_node("red")
    graph.add_node("green", "go")
    graph.add_node("green")
    assert dict(graph.nodes) == {"red": None, "green": "go"}
    graph.update_context("red", "wait")
    graph.set_start_node("red")
    assert graph.current_context == "wait"


def test_a_context_can_be_updated_where_the_graph_is():
    graph = light()
    graph.update_context("red", "stop")
    assert graph.current_context == "stop"


def test_of_two_transitions_by_one_symbol_the_later_counts():
    graph = light()
    graph.add_transition("red", "timer", "off")
    assert graph.process_input("timer") == "give way"


@pytest.mark.parametrize(
    ("refused", "error", "message", "remedy"),
    [
        (
            lambda g: g.process_input("horn"),
            SymbolUnknown,
            "'horn' leads nowhere from the node 'red'",
            "the symbols here are 'timer'",
        ),
        (lambda g: g.set_start_node("blue"), *NO_BLUE),
        (lambda g: g.add_transition("red", "x", "blue"), *NO_BLUE),
        (lambda g: g.add_transition("blue", "x", "red"), *NO_BLUE),
        (lambda g: g.update_context("blue", ""), *NO_BLUE),
        (lambda g: g.fresh("blue"), *NO_BLUE),
        (
            lambda g: g.add_node(" ", ""),
            GraphError,
            "' ' can't be the name of a node",
            "give it a name that isn't blank",
        ),
    ],
)
def test_what_is_refused_says_why_and_changes_nothing(refused, error, message, remedy):
    graph = light()
    with pytest.raises(error) as raised:
        refused(graph)
    assert (raised.value.message, raised.value.remedy) == (message, remedy)
    assert (graph.current_node, graph.nodes, graph.transitions) == (
        "red",
        light().nodes,
        light().transitions,
    )


def test_nothing_leads_on_from_a_terminal_node():
    graph = light().fresh("off")
    with pytest.raises(SymbolUnknown) as raised:
        graph.process_input("timer")
    assert raised.value.remedy == "there are no symbols here"


def test_a_graph_without_a_start_is_nowhere():
    graph: Graph[int] = Graph()
    graph.add_node("a", 1)
    for at in (
        lambda: graph.current_node,
        lambda: graph.current_context,
        lambda: graph.is_terminal,
        lambda: graph.process_input("x"),
    ):
        with pytest.raises(GraphError) as raised:
            at()
        assert raised.value.message == "the graph has no start node"
        assert raised.value.remedy == "name one by set_start_node; the nodes here are 'a'"


def test_a_fresh_graph_is_apart_from_its_model():
    graph = light()
    graph.process_input("timer")
    other = graph.fresh()
    assert (other.current_node, other.transitions) == ("red", graph.transitions)
    other.add_transition("red", "fault", "off")
    other.update_context("green", "run")
    assert (graph.current_node, graph.current_context) == ("green", "go")
    assert Transition(source="red", symbol="fault", target="off") not in graph.transitions


def test_mermaid_joins_symbols_and_escapes_names():
    graph = light()
    graph.add_node("end", "")
    graph.add_node('a "b"', "")
    graph.add_transition("red", "fault", "off")
    graph.add_transition("red", "both", "green")
    graph.add_transition("red", "a;b", "off")
    graph.add_transition("off", "timer", 'a "b"')
    assert graph.mermaid() == (
        "stateDiagram-v2\n"
        '    state "end" as node_3\n'
        '    state "a #34;b#34;" as node_4\n'
        "    [*] --> red\n"
        "    red --> green: timer | both\n"
        "    red --> off: fault | a#59;b\n"
        "    green --> red: timer\n"
        "    green --> off: fault\n"
        "    off --> node_4: timer\n"
        "    node_3 --> [*]\n"
        "    node_4 --> [*]\n"
    )


def test_an_empty_graph_is_an_empty_diagram():
    graph: Graph[None] = Graph()
    assert graph.mermaid() == "stateDiagram-v2\n"
