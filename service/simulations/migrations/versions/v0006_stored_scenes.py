"""Scenes that users keep, and what was made from them."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Change the tables from the revision before to this one."""
    op.add_column("batches", sa.Column("stored_scene", sa.JSON))
    op.add_column("runs", sa.Column("stored_scene", sa.JSON))
    op.create_table(
        "stored_scenes",
        sa.Column("seq", WHOLE, primary_key=True),
        sa.Column("id", sa.String, nullable=False, unique=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("scene_hash", sa.String, nullable=False),
        sa.Column("bytes", WHOLE, nullable=False),
        sa.Column("revision", WHOLE, nullable=False),
        sa.Column("created_by", sa.String),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
        sa.Column("used_at", sa.Float, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_stored_scenes_created_by", "stored_scenes", ["created_by"])
