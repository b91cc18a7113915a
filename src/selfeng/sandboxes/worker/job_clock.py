"""JobClock: how much processor time a job has used, and how long it takes.

Processor time is what code is blamed for: a busy machine lets a job wait, not work. Process 1 reads
it from the kernel (proc(5), `/proc/PID/stat`), so no process of a job can set it back; at worst one
hides time in children that it leaves to the kernel, and the second limit ends the job.
"""

import contextlib
import os
import time

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_PROCESSORS = os.cpu_count() or 1
_LEAST = 0.05
"""Seconds between two looks."""


class JobClock:
    def __init__(self, processor: float, wall: float) -> None:
        """Start it. `processor` is in seconds of processor time, `wall` in seconds."""
        self._processor, self._wall = processor, wall
        self.started = time.monotonic()
        self._before, self._used = _total(), 0.0
        self._next = self.started + min(wall, processor / _PROCESSORS)

    def left(self) -> float:
        """Seconds until the next look at the limits; 0 once one of them is reached."""
        now = time.monotonic()
        end = self.started + self._wall
        if now >= self._next:
            self._used = max(self._used, _total() - self._before)
            pause = max(_LEAST, (self._processor - self._used) / _PROCESSORS)
            self._next = min(end, now + pause)
        return 0.0 if self.spent or now >= end else self._next - now

    @property
    def spent(self) -> bool:
        """Whether the job has used its processor time; else the machine was busy, or it waited."""
        return self._used >= self._processor

    def reason(self, where: str) -> str:
        """A sentence on the limit that was reached."""
        if self.spent:
            return f"It used {self._processor:g} s of processor time{where}."
        used = f"it used {self._used:.1f} s of processor time"
        return f"It did not end within {self._wall:g} s{where}; {used}."


def _total() -> float:
    """Seconds of processor time of all processes here, with those whose end they have seen."""
    ticks = 0
    for number in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{number}/stat", "rb") as file:
            ticks += sum(map(int, file.read().rpartition(b")")[2].split()[11:15]))
    return ticks * _TICK
