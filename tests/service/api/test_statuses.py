"""Rooms of the service raise codes; one table gives each its HTTP status."""

import ast
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as AllInUseError

from cardan import service
from cardan.service.api.problems import from_crash, from_service
from cardan.service.api.statuses import STATUSES
from cardan.service.errors import ErrorCode, ServiceError

ROOMS = ("simulations", "sessions", "compute", "processes", "recordings", "streams", "importing")


def sources():
    folder = Path(service.__file__).parent
    files = [path for room in ROOMS for path in (folder / room).rglob("*.py")]
    return {path: path.read_text() for path in [*files, folder / "intake.py", folder / "shares.py"]}


def test_every_code_has_a_status_and_every_status_a_code():
    assert set(STATUSES) == set(ErrorCode)
    assert all(400 <= status < 600 for status in STATUSES.values())


def test_every_code_is_raised_by_a_room():
    text = "".join(sources().values())
    # names of a body and of a joint are checked by one function
    found = {code for code in ErrorCode if f"ErrorCode.{code.name}" in text}
    if "QuotaError(" in text:
        found.add(ErrorCode.QUOTA_EXCEEDED)
    assert found | {ErrorCode.UNKNOWN_BODY, ErrorCode.UNKNOWN_JOINT} == set(ErrorCode)


@pytest.mark.parametrize("word", ["status", "headers"])
def test_no_room_speaks_of_statuses_or_headers(word):
    for path, text in sources().items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ServiceError":
                assert word not in {one.arg for one in node.keywords}, path
                first = ast.unparse(node.args[0])
                assert "ErrorCode" in first or first in ("code", "*refused"), path


def test_an_error_that_says_when_is_retryable():
    problem = from_service(ServiceError(ErrorCode.NO_CAPACITY, "full", retry_after_s=10, most=3))
    assert (problem.status, problem.code, problem.retryable) == (503, "no_capacity", True)
    assert (problem.headers, problem.extra) == ({"Retry-After": "10"}, {"most": 3})
    assert not from_service(ServiceError(ErrorCode.SESSION_FAILED, "it failed")).retryable


def test_a_database_that_others_keep_busy_may_be_asked_again(tmp_path):
    file = tmp_path / "database"
    with sqlite3.connect(file) as others, sqlite3.connect(file, timeout=0.0) as ours:
        others.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked") as busy:
            ours.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="no such column") as broken:
            ours.execute("SELECT x")
    others.close()
    ours.close()
    locked = OperationalError("BEGIN IMMEDIATE", {}, busy.value)
    for error in (locked, AllInUseError("QueuePool limit of size 5 overflow 10 reached")):
        problem = from_crash(error, {})
        assert (problem.status, problem.code) == (503, "storage_unreachable")
        assert problem.retryable
    assert from_crash(OperationalError("SELECT x", {}, broken.value), {}).status == 500
