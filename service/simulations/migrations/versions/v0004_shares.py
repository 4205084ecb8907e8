"""Links that show something to whoever has them."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Change the tables from the revision before to this one."""
    op.create_table(
        "shares",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("digest", sa.String, nullable=False, unique=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("resource", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("created_by", sa.String),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("expires_at", sa.Float, nullable=False),
    )
    op.create_index("shares_by_resource", "shares", ["kind", "resource"])
