"""The queue: scenes, batches, runs, their attempts and events, and keys of requests."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the tables in an empty database."""
    make_what_comes_in()
    make_runs()
    make_what_happened()


def make_what_comes_in() -> None:
    """Scenes, batches and keys of requests."""
    op.create_table(
        "scenes",
        sa.Column("hash", sa.String, primary_key=True),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_table(
        "idempotency",
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("fingerprint", sa.String, nullable=False),
        sa.Column("resource", sa.String),
        sa.Column("created_at", sa.Float, nullable=False),
    )
    op.create_table(
        "batches",
        sa.Column("seq", WHOLE, primary_key=True),
        sa.Column("id", sa.String, nullable=False, unique=True),
        sa.Column("name", sa.String),
        sa.Column("scene_hash", sa.String, sa.ForeignKey("scenes.hash"), nullable=False),
        sa.Column("parameters", sa.JSON, nullable=False),
        sa.Column("metrics", sa.JSON, nullable=False),
        sa.Column("max_parallel", WHOLE),
        sa.Column("on_failure", sa.String, nullable=False),
        sa.Column("stop_reason", sa.String),
        sa.Column("created_at", sa.Float, nullable=False),
    )


def make_runs() -> None:
    """Runs, of batches or single."""
    op.create_table(
        "runs",
        sa.Column("seq", WHOLE, primary_key=True),
        sa.Column("id", sa.String, nullable=False, unique=True),
        sa.Column("batch_id", sa.String, sa.ForeignKey("batches.id")),
        sa.Column("number", WHOLE, nullable=False),
        sa.Column("name", sa.String),
        sa.Column("scene_hash", sa.String, sa.ForeignKey("scenes.hash"), nullable=False),
        sa.Column("overrides", sa.JSON, nullable=False),
        sa.Column("timeout_s", sa.Float),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("priority", WHOLE, nullable=False),
        sa.Column("attempt", WHOLE, nullable=False),
        sa.Column("losses", WHOLE, nullable=False),
        sa.Column("owner", sa.String),
        sa.Column("lease_until", sa.Float),
        sa.Column("step", WHOLE, nullable=False),
        sa.Column("total_steps", WHOLE, nullable=False),
        sa.Column("real_time_factor", sa.Float),
        sa.Column("error", sa.JSON),
        sa.Column("summary", sa.JSON),
        sa.Column("result", sa.String),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("started_at", sa.Float),
        sa.Column("finished_at", sa.Float),
        sqlite_autoincrement=True,
    )
    op.create_index("runs_by_state", "runs", ["state", "priority", "seq"])
    op.create_index("runs_by_batch", "runs", ["batch_id", "state"])
    op.create_index("runs_by_number", "runs", ["batch_id", "number"])


def make_what_happened() -> None:
    """Attempts and events of runs."""
    run_id = sa.ForeignKey("runs.id", ondelete="CASCADE")
    op.create_table(
        "attempts",
        sa.Column("run_id", sa.String, run_id, primary_key=True),
        sa.Column("attempt", WHOLE, primary_key=True),
        sa.Column("owner", sa.String, nullable=False),
        sa.Column("started_at", sa.Float, nullable=False),
        sa.Column("ended_at", sa.Float),
        sa.Column("outcome", sa.String),
    )
    run_id = sa.ForeignKey("runs.id", ondelete="CASCADE")
    op.create_table(
        "events",
        sa.Column("seq", WHOLE, primary_key=True),
        sa.Column("run_id", sa.String, run_id, nullable=False),
        sa.Column("type", sa.String, nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_events_run_id", "events", ["run_id"])
