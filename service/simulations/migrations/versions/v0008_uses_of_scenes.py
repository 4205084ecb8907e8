"""Runs and batches are found by their scene: deleting one asks whether another has the same."""

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Change the tables from the revision before to this one."""
    for table in ("batches", "runs"):
        # there already in a file of this revision that lost its number
        op.create_index(f"ix_{table}_scene_hash", table, ["scene_hash"], if_not_exists=True)
