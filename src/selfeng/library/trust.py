"""Trust: how the uses of a tool, and a person's decision, change its standing.

A version begins provisional. It is trusted once it has served `trust_after` different calls,
suspect while a service that it asks answers otherwise than recorded, and retired once it has failed
`retire_after` times with no success in between. Only uses of the current
version count; every new version begins provisional, because it has not served yet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from selfeng.core.events import ToolStandingChanged
from selfeng.core.tool import Standing
from selfeng.core.words import count
from selfeng.library import records, revisions
from selfeng.library.library_errors import not_found
from selfeng.store.database import writing
from selfeng.store.effects import known_effect, note_effect
from selfeng.store.schema import tool_uses, tools
from selfeng.store.spending import note_reuses


@dataclass(frozen=True)
class TrustRule:
    trust_after: int = 3
    """Different calls that a version has to serve."""
    retire_after: int = 3
    """Failures in a row that retire it."""


class Trust:
    """Blocking. Each change is one transaction."""

    def __init__(self, engine: sa.Engine, rule: TrustRule) -> None:
        self._engine, self._rule = engine, rule

    def record_uses(
        self,
        name: str,
        version: int,
        calls: Sequence[str],
        key: str = "",
        *,
        without_turn: bool = False,
    ) -> ToolStandingChanged | None:
        """Count successes, one for each of the calls, which are the digests of arguments and files.
        Those with a `key` count once, those `without_turn` as reuses. Raises: ToolNotFound.
        """

        def count_it(connection: sa.Connection) -> ToolStandingChanged | None:
            if without_turn:
                note_reuses(connection, (name,), times=len(calls))
            its = (tools.c.version == version) & (tools.c.standing != "retired")
            failures = sa.case((its, 0), else_=tools.c.failures)
            counted = {"uses": tools.c.uses + len(calls), "used_at": datetime.now(UTC)}
            tool = _updated(connection, name, failures=failures, **counted)
            if tool.version == version and tool.standing == "suspect":
                return _change(connection, tool, "provisional", "Its service answers as recorded.")
            if (
                tool.version != version
                or tool.standing in ("retired", "trusted")
                or _served(connection, name, version, calls) < self._rule.trust_after
            ):
                return None
            reason = f"It has served {count(self._rule.trust_after, 'different call')}."
            return _change(connection, tool, "trusted", reason)

        return self._once(key, count_it)

    def record_failure(
        self, name: str, version: int, problem: str, key: str = ""
    ) -> ToolStandingChanged | None:
        """Count a failure caused by the tool itself; `problem` describes it in a few words. What
        has a `key` counts once. Raises: ToolNotFound.
        """

        def count_it(connection: sa.Connection) -> ToolStandingChanged | None:
            tool = _updated(
                connection,
                name,
                failures=sa.case(
                    (tools.c.version == version, tools.c.failures + 1), else_=tools.c.failures
                ),
            )
            if (
                tool.version != version
                or tool.standing == "retired"
                or tool.failures < self._rule.retire_after
            ):
                return None
            return _change(
                connection,
                tool,
                "retired",
                f"It failed {count(tool.failures, 'time')} in a row, last with {problem}.",
            )

        return self._once(key, count_it)

    def record_change(
        self, name: str, version: int, problem: str, key: str = ""
    ) -> ToolStandingChanged | None:
        """Suspect a version, as a service that it asks answers otherwise than recorded; `problem`
        says how. What has a `key` counts once. Raises: ToolNotFound.
        """

        def suspect(connection: sa.Connection) -> ToolStandingChanged | None:
            tool = _updated(connection, name)
            if tool.version != version or tool.standing in ("retired", "suspect"):
                return None
            return _change(connection, tool, "suspect", f"{problem}.")

        return self._once(key, suspect)

    def _once(
        self, key: str, change: Callable[[sa.Connection], ToolStandingChanged | None]
    ) -> ToolStandingChanged | None:
        """Make a change of this key, unless it was made before: then what it came to."""
        with writing(self._engine) as connection:
            if (effect := known_effect(connection, key)) is None:
                changed = change(connection)
                note_effect(connection, key, changed.model_dump_json() if changed else "")
                return changed
        return ToolStandingChanged.model_validate_json(effect) if effect else None

    def retire(self, name: str, merged_into: str = "") -> None:
        """Stop offering the tool to searches, which find the one that it was merged into. Raises:
        ToolNotFound.
        """
        with writing(self._engine) as connection:
            _updated(connection, name, standing="retired", merged_into=merged_into)

    def restore(self, name: str) -> None:
        """Offer a retired tool again, as provisional; any other stays unchanged. Raises:
        ToolNotFound.
        """
        with writing(self._engine) as connection:
            if _updated(connection, name).standing == "retired":
                _updated(connection, name, standing="provisional", failures=0, merged_into="")
                connection.execute(tool_uses.delete().where(tool_uses.c.name == name))


def _updated(connection: sa.Connection, name: str, **values: Any) -> sa.Row[Any]:
    """Set these values; returns name, version, standing and failures of the tool, whose row stays
    locked until the transaction ends.
    """
    ours = tools.c.name == name, tools.c.state.in_(records.REGISTERED)
    row = connection.execute(
        tools.update()
        .where(*ours)
        .values(**{"name": name, **values})
        .returning(tools.c.name, tools.c.version, tools.c.standing, tools.c.failures)
    ).first()
    if row is None:
        raise not_found(name)
    if "standing" in values:
        revisions.note(connection, name)
    return row


def _served(connection: sa.Connection, name: str, version: int, calls: Sequence[str]) -> int:
    """How many different calls the version has served, these included."""
    ours = tool_uses.c.name == name, tool_uses.c.version == version
    served_calls = set(connection.execute(sa.select(tool_uses.c.call).where(*ours)).scalars())
    if new := set(calls) - served_calls:
        rows = [{"name": name, "version": version, "call": call} for call in sorted(new)]
        connection.execute(tool_uses.insert(), rows)
    return len(served_calls | new)


def _change(
    connection: sa.Connection, tool: sa.Row[Any], after: Standing, reason: str
) -> ToolStandingChanged:
    _updated(connection, tool.name, standing=after)
    return ToolStandingChanged(tool=tool.name, before=tool.standing, after=after, reason=reason)
