"""Files that another process or thread reads: they appear at once and whole."""

import secrets
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Write a file that is never seen half written, also by several writers. Raises OSError."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
