"""A real PostgreSQL server on loopback, in a temporary folder and with databases of its own."""

import glob
import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from itertools import count
from pathlib import Path

import pytest

# who may run the server when the tests run as root, which it refuses
UNPRIVILEGED = ("postgres", "nobody")
PROGRAMS = ("initdb", "pg_ctl", "createdb")


def free_port():
    """A port that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def missing():
    """Why there can be no server here; empty: there can."""
    if importlib.util.find_spec("psycopg") is None:
        return "PostgreSQL: SKIPPED, psycopg is not installed; make cluster-test brings it"
    if _folder() is None:
        return "PostgreSQL: SKIPPED, there is no initdb here; Debian has it in postgresql"
    if os.getuid() == 0 and _user() is None:
        return "PostgreSQL: SKIPPED, it does not run as root and there is no other user"
    return ""


def _folder():
    on_path = shutil.which("initdb")
    found = [Path(on_path).resolve().parent] if on_path else []
    found += [Path(one) for one in sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)]
    whole = (one for one in found if all((one / program).exists() for program in PROGRAMS))
    return next(whole, None)


def _user():
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    return next((known[name] for name in UNPRIVILEGED if name in known), None)


class PostgresServer:
    """Started when it is made; `database()` is a new empty one."""

    def __init__(self):
        said = missing()
        if said:
            pytest.skip(said)
        self._numbers = count()
        self._folder = Path(tempfile.mkdtemp(prefix="cardan-postgres-"))
        self._as = {}
        user = _user()
        if os.getuid() == 0 and user is not None:
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(self._folder, user.pw_uid, user.pw_gid)
        self.port = free_port()
        data = str(self._folder / "data")
        self._run("initdb", "-D", data, "-U", "cardan", "-A", "trust", "-E", "UTF8", "--no-sync")
        # what is tested is what is committed, not what survives a power cut
        options = (
            f"-p {self.port} -h 127.0.0.1 -k {self._folder} -c fsync=off -c max_connections=200"
        )
        log = str(self._folder / "log")
        self._run("pg_ctl", "-D", data, "-w", "-t", "60", "-l", log, "-o", options, "start")

    def database(self):
        """The address of a new, empty database."""
        name = f"cardan_{next(self._numbers)}"
        where = ("-h", "127.0.0.1", "-p", str(self.port), "-U", "cardan")
        self._run("createdb", *where, name)
        return f"postgresql://cardan@127.0.0.1:{self.port}/{name}"

    def stop(self):
        """End it at once and remove what it wrote."""
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-m", "immediate", "stop")
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program, *arguments):
        folder = _folder()
        assert folder is not None
        done = subprocess.run(
            [str(folder / program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self._folder,
            timeout=120,
            **self._as,
        )
        assert done.returncode == 0, f"{program}: {done.stderr}"
