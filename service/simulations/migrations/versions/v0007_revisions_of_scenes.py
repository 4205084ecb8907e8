"""Earlier texts of stored scenes."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Change the tables from the revision before to this one."""
    scene_id = sa.ForeignKey("stored_scenes.id", ondelete="CASCADE")
    op.create_table(
        "scene_revisions",
        sa.Column("scene_id", sa.String, scene_id, primary_key=True),
        sa.Column("revision", WHOLE, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("scene_hash", sa.String, nullable=False),
        sa.Column("bytes", WHOLE, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
