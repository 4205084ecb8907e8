"""Run by Alembic: what the scripts are run with.

The connection is that of the caller and is in a transaction, which everything here becomes a part
of. Changes that SQLite has no statement for are made in a copy of the table.
"""

from typing import Any, Literal

from alembic import context
from sqlalchemy import TypeDecorator

from cardan.service.simulations.revisions import recorded
from cardan.service.simulations.tables import metadata


def render_item(kind: str, item: Any, _drafting: object) -> str | Literal[False]:
    """Types of this code are named in drafts by what the database has: scripts outlive the code."""
    if kind == "type" and isinstance(item, TypeDecorator):
        return f"sa.{item.impl!r}"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=recorded.name,
    render_as_batch=True,
    render_item=render_item,
    transactional_ddl=True,
    compare_server_default=True,
)
with context.begin_transaction():
    context.run_migrations()
