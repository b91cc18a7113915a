"""The metrics of a process for Prometheus."""

import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.web.server_process import ServerProcess


def test_turns_calls_and_syntheses_are_counted_by_their_outcomes(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, "eventlet")
    api = f"{server.url}/api/v1"
    with server.program() as program:
        for text in ("say one", "question", "fail", "born shout", "return 3"):
            stream = {"Accept": "text/event-stream"}
            assert program.post(f"{api}/turns", json={"text": text}, headers=stream).ok
        for a in (1, -1):
            program.post(f"{api}/tools/add/call", json={"arguments": {"a": a}})
        response = program.get(f"{server.url}/metrics")
    assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = list(text_string_to_metric_families(response.text))
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }
    assert {key: value for key, value in samples.items() if value} == {
        ("selfeng_turns_total", "answered"): 3,
        ("selfeng_turns_total", "asked"): 1,
        ("selfeng_turns_total", "failed"): 1,
        ("selfeng_tool_calls_total", "returned"): 2,
        ("selfeng_tool_calls_total", "raised"): 1,
        ("selfeng_syntheses_total", "registered"): 1,
        ("selfeng_turn_duration_seconds_count",): 5,
        **{key: 5 for key in samples if key[0] == "selfeng_turn_duration_seconds_bucket"},
        ("selfeng_containers_ready",): 2,
    }
    assert samples["selfeng_turns_total", "stopped"] == 0
    assert {family.name for family in families} == {
        "selfeng_turns",
        "selfeng_tool_calls",
        "selfeng_syntheses",
        "selfeng_model_calls",
        "selfeng_model_tokens",
        "selfeng_model_cost_dollars",
        "selfeng_turn_duration_seconds",
        "selfeng_turns_running",
        "selfeng_turns_queued",
        "selfeng_containers_ready",
    }
    assert all(re.fullmatch(r"[A-Z].*\.", family.documentation) for family in families)
    assert server.end() == (0, "")
