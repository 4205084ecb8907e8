"""What Alembic runs: a script for each revision of the tables of the queue."""
