"""Studies, and whose key made what."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Change the tables from the revision before to this one."""
    op.add_column("batches", sa.Column("study_id", sa.String))
    op.add_column("batches", sa.Column("measure", sa.JSON))
    op.add_column("batches", sa.Column("created_by", sa.String))
    op.add_column("runs", sa.Column("created_by", sa.String))
    op.create_table(
        "studies",
        sa.Column("seq", WHOLE, primary_key=True),
        sa.Column("id", sa.String, nullable=False, unique=True),
        sa.Column("batch_id", sa.String, sa.ForeignKey("batches.id"), nullable=False),
        sa.Column("name", sa.String),
        sa.Column("asked", sa.JSON, nullable=False),
        sa.Column("method", sa.String, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("best", sa.JSON),
        sa.Column("reason", sa.String),
        sa.Column("error", sa.JSON),
        sa.Column("created_by", sa.String),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("finished_at", sa.Float),
        sqlite_autoincrement=True,
    )
