"""What batches record of their runs."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Change the tables from the revision before to this one."""
    record = sa.Column("record", sa.String, nullable=False, server_default="full")
    op.add_column("batches", record)
