"""The operations of lessons, which are everybody's."""

from typing import TYPE_CHECKING

from flask import Flask

from web.bridge import Bridge
from web.operations import Done, operation
from web.payloads import LessonWords
from web.resources import LessonLine, LessonList, lesson_line

if TYPE_CHECKING:
    from selfeng.engine import Engine


def add_lesson_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the routes. Access is checked before any of them, and the origin before those that change
    something.
    """

    @app.get("/api/v1/lessons")
    @operation()
    def lessons() -> LessonList:
        """List the lessons of earlier turns."""
        stored_lessons = bridge.call(engine.learning.lessons())
        return LessonList(lessons=tuple(map(lesson_line, stored_lessons)))

    @app.patch("/api/v1/lessons/<lesson_id>")
    @operation()
    def edit_lesson(lesson_id: str, body: LessonWords) -> LessonLine:
        """Put a lesson into other words."""
        edited = bridge.call(engine.learning.edit(lesson_id, body.trigger, body.advice))
        return lesson_line(edited)

    @app.delete("/api/v1/lessons/<lesson_id>")
    @operation()
    def remove_lesson(lesson_id: str) -> Done:
        """Remove a lesson."""
        bridge.call(engine.learning.remove(lesson_id))
        return Done()
