"""The operations of schedules: calls of tools at set times. Everybody sees only their own."""

from typing import TYPE_CHECKING

import flask
from flask import Flask

from selfeng.core.schedule import Schedule, SchedulePlan
from selfeng.core.status import Asked
from web.bridge import Bridge
from web.middleware import owner
from web.operations import Done, operation
from web.payloads import NewSchedule, ScheduleFilter
from web.resources import ScheduleList
from web.uploads import Uploads

if TYPE_CHECKING:
    from selfeng.engine import Engine


def add_schedule_routes(app: Flask, bridge: Bridge, engine: "Engine", uploads: Uploads) -> None:
    """Add the routes. A schedule is named by its id or its name."""

    @app.get("/api/v1/schedules")
    @operation()
    def schedules(query: ScheduleFilter) -> ScheduleList:
        """List your schedules by name: all, or those of a tool."""
        listed = bridge.call(engine.schedules.list(owner()))
        return ScheduleList(schedules=tuple(s for s in listed if query.tool in ("", s.tool)))

    @app.post("/api/v1/schedules")
    @operation(status=201)
    def add_schedule(body: NewSchedule) -> Schedule:
        """Have a version of a tool called at set times, without the model.

        The runs are turns of the conversation that it begins.
        """
        plan = SchedulePlan(**{name: getattr(body, name) for name in SchedulePlan.model_fields})
        files = uploads.take(owner(), body.files)
        return bridge.call(engine.schedule(owner(), plan, files))

    @app.get("/api/v1/schedules/<name>")
    @operation()
    def schedule(name: str) -> Schedule:
        """Show one schedule, with its last run."""
        return bridge.call(engine.schedules.get(owner(), name))

    @app.post("/api/v1/schedules/<name>/run")
    @operation(status=202)
    def run_schedule(name: str) -> Asked:
        """Begin a run now, also of a paused schedule."""
        return bridge.call(engine.schedules.start(owner(), name))

    @app.post("/api/v1/schedules/<name>/pause")
    @operation()
    def pause_schedule(name: str) -> Schedule:
        """Begin no more runs of a schedule."""
        return bridge.call(engine.schedules.pause(owner(), name))

    @app.post("/api/v1/schedules/<name>/resume")
    @operation()
    def resume_schedule(name: str) -> Schedule:
        """Begin the runs of a paused schedule again, from the next time on."""
        return bridge.call(engine.schedules.resume(owner(), name))

    @app.post("/hooks/<schedule_id>")
    @operation(status=202)
    def receive(schedule_id: str) -> Asked:
        """Begin a run as a signed request asks, see docs/turns.md."""
        headers, body = dict(flask.request.headers), flask.request.get_data()
        return bridge.call(engine.schedules.receive(schedule_id, headers, body))

    @app.delete("/api/v1/schedules/<name>")
    @operation()
    def remove_schedule(name: str) -> Done:
        """Remove a schedule. Its conversation stays, with the results."""
        bridge.call(engine.schedules.remove(owner(), name))
        return Done()
