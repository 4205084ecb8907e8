"""Drafts a revision of the tables: what makes those of the code from those of the last script.

    python .ci/revision.py "colour of runs"

The draft is a file in service/simulations/migrations/versions. Read it: what a rename was looks
like a column that goes and another that comes, and values of new columns are yours to fill.
"""

import sys

from alembic import command
from sqlalchemy import create_engine

from cardan.service.simulations.revisions import HEAD, KNOWN, configuration, upgrade


def main() -> int:
    """Write the script of the next revision."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        upgrade(connection, HEAD)
        command.revision(
            configuration(connection),
            message=sys.argv[1],
            autogenerate=True,
            rev_id=f"{int(KNOWN[-1]) + 1:04}",
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
