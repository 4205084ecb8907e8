"""Build the manual: `python -m docs.manual [FOLDER]` (build/manual unless given)."""

import logging
import sys
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import MkDocsException

CONFIGURATION = Path(__file__).with_name("mkdocs.yml")


def main() -> None:
    """Build everything; a link that leads nowhere is an error."""
    logging.basicConfig(level=logging.WARNING, format="manual: %(message)s")
    place = {"site_dir": str(Path(sys.argv[1]).resolve())} if len(sys.argv) > 1 else {}
    try:
        build(load_config(str(CONFIGURATION), strict=True, **place))
    except MkDocsException as error:
        sys.exit(f"manual: {error}")


if __name__ == "__main__":
    main()
