"""JobClock: how much processor time a job has used, and how long it takes.

Processor time is what code is blamed for: a busy machine lets a job wait, not work. Process 1 reads
it from the kernel (proc(5), `/proc/PID/stat`), so no process of a job can set it back; at worst one
hides time in children that it leaves to the kernel, and the limit on waiting ends the job. A job
waits while all of its processes sleep; one that is ready to run, or waits for the disk, is held up
by the machine.
"""

import contextlib
import os
import time

_PROCESSORS = os.cpu_count() or 1
_PAUSES = 0.05, 1.0
"""The least and the most seconds between two looks."""
_IDLE = 0.05
"""Share of a processor below which a job whose processes sleep waits."""
LONGEST = 2
"""How many times the limit on waiting a job may take in all."""
LONGEST_WAIT = 120.0
"""Seconds that a job may wait for the host beyond these limits, in all."""


class JobClock:
    def __init__(self, processor: float, wall: float) -> None:
        """Start it. `processor` is in seconds of processor time; `wall` are the seconds for which
        the job may wait.
        """
        self._processor, self._wall = processor, wall
        self.started = self._looked = time.monotonic()
        self._before, self._used, self._waited = _total()[0], 0.0, 0.0
        self._excused = self._hosts = 0.0
        self._next = self.started + self._pause()

    def wait_for_host(self, waits: bool) -> None:
        """The job waits for the host from now on, or no longer; that prolongs its limits, up to
        `LONGEST_WAIT`.
        """
        self._excused, self._hosts = self._allowance, time.monotonic() if waits else 0.0

    @property
    def _allowance(self) -> float:
        """Seconds for which the job has waited for the host, up to `LONGEST_WAIT`."""
        now = time.monotonic()
        return min(LONGEST_WAIT, self._excused + now - (self._hosts or now))

    def seconds_left(self) -> float:
        """Seconds until the next look at the limits; 0 once one of them is reached."""
        now = time.monotonic()
        if now >= self._next:
            total, held_up = _total()
            used = max(self._used, total - self._before)
            if not held_up and used - self._used < _IDLE * (now - self._looked):
                self._waited += now - self._looked
            self._used, self._looked = used, now
            self._next = now + self._pause()
        latest = self.started + LONGEST * self._wall + self._allowance
        return 0.0 if not self.starved or now >= latest else self._next - now

    def _pause(self) -> float:
        """Seconds in which no limit can be reached, within bounds."""
        least, most = _PAUSES
        wall = self._wall + self._allowance
        soonest = min((self._processor - self._used) / _PROCESSORS, wall - self._waited)
        return max(least, min(most, soonest))

    @property
    def spent(self) -> bool:
        """Whether the job has used its processor time; else the machine was busy, or it waited."""
        return self._used >= self._processor

    @property
    def starved(self) -> bool:
        """Whether the machine was too busy for the job: it neither worked nor waited enough."""
        return not self.spent and self._waited < self._wall + self._allowance

    def reason(self, where: str) -> str:
        """A sentence on the limit that was reached."""
        if self.spent:
            return f"It used {self._processor:g} s of processor time{where}."
        took = round(self._looked - self.started)
        used = f"it used {self._used:.1f} s of processor time"
        return f"It did not end within {took} s{where}; {used}."


def _total() -> tuple[float, bool]:
    """Seconds of processor time of all processes here, with those whose end they have seen, and
    whether one but this can't run although it would.
    """
    ticks, held_up = 0, False
    for number in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{number}/stat", "rb") as file:
            state, *fields = file.read().rpartition(b")")[2].split()
            ticks += sum(map(int, fields[10:14]))
            held_up = held_up or (state in (b"R", b"D") and int(number) != os.getpid())
    return ticks / os.sysconf("SC_CLK_TCK"), held_up
