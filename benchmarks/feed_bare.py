"""The baseline of the feed's benchmark: a Flask-SocketIO app that only emits.

It sends the same tokens in the same windows to the same rooms, and nothing stands before that: no
model, no engine, no journal, no access. `python -m benchmarks.feed_bare TOKENS` prints its address.
"""

import sys
import time
import warnings

from flask import Flask
from flask_socketio import SocketIO, join_room  # type: ignore[import-untyped]

from benchmarks.feed_model import PACE, TURNS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import eventlet  # type: ignore[import-untyped]
    import eventlet.wsgi  # type: ignore[import-untyped]

WINDOW = 0.025
"""Seconds, as in `selfeng.store.recorder`."""


def main(tokens: int) -> None:
    app = Flask(__name__)
    socketio = SocketIO(app, async_mode="eventlet", cors_allowed_origins="*")

    @socketio.on("subscribe")  # type: ignore[untyped-decorator]
    def subscribe(request: dict[str, str]) -> dict[str, object]:
        join_room(request["conversation_id"])
        return {"ok": True, "records": []}

    @socketio.on("say")  # type: ignore[untyped-decorator]
    def say(request: dict[str, str]) -> dict[str, object]:
        return {"ok": True, "heard": False}

    @app.post("/go")
    def go() -> str:
        socketio.start_background_task(_emit, socketio, tokens)
        return ""

    listener = eventlet.listen(("127.0.0.1", 0))
    sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    eventlet.wsgi.server(listener, app, log_output=False)


def _emit(socketio: SocketIO, tokens: int) -> None:
    sent, start = [0] * TURNS, time.monotonic()
    while min(sent) < tokens:
        socketio.sleep(WINDOW)
        now = time.monotonic()
        for turn in range(TURNS):
            begun = start + turn / TURNS / PACE
            due = min(tokens, 1 + int((now - begun) * PACE))
            if due > sent[turn]:
                times = ((n, begun + n / PACE) for n in range(sent[turn], due))
                text = "".join(f"{n}@{sent_at:.6f} " for n, sent_at in times)
                _records(socketio, turn, due, {"type": "answer_token", "text": text})
                sent[turn] = due
    for turn in range(TURNS):
        _records(socketio, turn, tokens + 1, {"type": "turn_finished"})


def _records(socketio: SocketIO, turn: int, seq: int, event: dict[str, str]) -> None:
    conversation_id = f"{turn:032}"
    record = {
        "conversation_id": conversation_id,
        "seq": seq,
        "turn_id": conversation_id,
        "at": "2026-01-02T03:04:05.678901Z",
        "event": event,
    }
    body = {"conversation_id": conversation_id, "records": [record]}
    socketio.emit("records", body, to=conversation_id)


if __name__ == "__main__":
    main(int(sys.argv[1]))
