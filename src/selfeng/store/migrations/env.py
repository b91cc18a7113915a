"""Runs the migrations on the connection that `open_database` hands over.

A new one is a module in `versions`, written by hand; `tests/store/test_database.py` prints what it
has to contain when `schema.py` and the migrations differ.
"""

from alembic import context

from selfeng.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
context.run_migrations()
