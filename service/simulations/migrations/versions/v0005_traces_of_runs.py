"""The trace of the request that queued a run."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Change the tables from the revision before to this one."""
    op.add_column("runs", sa.Column("trace", sa.String))
