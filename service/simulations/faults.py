"""Faults of the database that pass: whoever meets one tries again, and blames nothing else for it.

A lock that is held for long, a full disk, a server that is restarted; all connections in use; a
transaction that the server ended because this machine stood still in the middle of it.
"""

from sqlalchemy.exc import InternalError, OperationalError, SQLAlchemyError, TimeoutError

PASSING = (OperationalError, InternalError, TimeoutError)


def cause_of(error: SQLAlchemyError) -> object:
    """What the database said, without the statement."""
    return getattr(error, "orig", None) or error
