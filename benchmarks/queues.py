"""Why dbos's queue does not order turns: `python -m benchmarks.queues [STARTS]`; the last line is
JSON.

The queue of dbos is polled, and its partitions share what is free in no order of their own. For two
intervals of polling this prints the median time between the request and the start of a workflow
that does nothing, and how many statements a second a process sends while nothing is queued.
`turn_queue` takes a turn where it is asked for: the first step of a turn is on the page 7 to 9 ms
after the request (`make bench-turn`). Fails where dbos's queue has become as fast at its default
interval, as the reason would be gone.
"""

import logging
import statistics
import sys
import tempfile
import time
from pathlib import Path

from dbos import DBOS
from sqlalchemy import Engine, event

from benchmarks.goals import report

INTERVALS = (1.0, 0.05)
"""Seconds: dbos's default, and one that makes a wait hardly noticeable."""
GOALS = {"wait_ms_1.0": 100.0}
"""The minimum of each figure."""
IDLE = 5.0


@DBOS.workflow()
def note_start(asked: float) -> float:
    """Seconds since it was asked for."""
    return time.time() - asked


def main(starts: int) -> int:
    """Measure; returns the exit code."""
    result: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        DBOS(
            config={
                "name": "queues",
                "system_database_url": f"sqlite:///{Path(folder, 'steps.db')}",
                "run_admin_server": False,
            }
        )
        DBOS.launch()
        statements: list[str] = []
        event.listen(Engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
        for interval in INTERVALS:
            name = f"every {interval}"
            DBOS.register_queue(name, polling_interval_sec=interval)
            time.sleep(2)
            before = len(statements)
            time.sleep(IDLE)
            result[f"idle_statements_{interval}"] = round((len(statements) - before) / IDLE, 1)
            waits = []
            for number in range(starts):
                time.sleep(0.37 * interval * (number % 3))
                waits.append(DBOS.enqueue_workflow(name, note_start, time.time()).get_result())
            result[f"wait_ms_{interval}"] = round(1000 * statistics.median(waits), 1)
        DBOS.destroy()
    return report(result, {}, GOALS)


if __name__ == "__main__":
    logging.disable(logging.INFO)
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
