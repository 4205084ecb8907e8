"""The same work on a server: post, follow, download."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from cardan.service.cli.console import Tell, print_warnings
from cardan.service.recordings.folder import write_folder
from cardan.service.recordings.formats import format_of, table_from_parquet
from cardan.service.recordings.tables import TABLES, Tables

# a request waits so long for the end; in between progress is shown
WAIT_SECONDS = 1
WAITING = {"Prefer": f"wait={WAIT_SECONDS}"}
# requests are not closer, though a server that is about to stop answers at once
POLL_SECONDS = 0.2
# for which a server is waited for that has accepted something: it may start again
PATIENCE_SECONDS = 60.0
PAUSE_SECONDS = 1.0


class ServerError(Exception):
    """The server refused: its problem, with the faults of the input if there are any."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        """Keep the problem."""
        super().__init__(str(problem.get("detail") or problem.get("title") or problem))
        self.faults = list(problem.get("errors") or [])
        self.invalid = problem.get("status") == 422
        self.is_passing = bool(problem.get("retryable"))


class Server:
    """A Cardan server. Raises ServerError; network failures become one, too."""

    def __init__(self, url: str) -> None:
        """Talk to the server at `url`, with the first key of CARDAN_API_KEY if it is set.

        Raises ServerError for what is no address.
        """
        _check_address(url)
        keys = os.environ.get("CARDAN_API_KEY", "").replace(",", " ").split()
        headers = {"Authorization": f"Bearer {keys[0]}"} if keys else {}
        # a recording may lie in a store; the key goes to the server alone
        self._client = httpx.Client(
            base_url=url, headers=headers, timeout=60.0, follow_redirects=True
        )

    def __enter__(self) -> "Server":
        """Hold the connection."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._client.close()

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """One request; what only reads is asked again while the server is away for a while."""
        until = time.monotonic() + (PATIENCE_SECONDS if method == "GET" else 0.0)
        while True:
            try:
                return self._ask_once(method, path, **more)
            except ServerError as error:
                if not error.is_passing or time.monotonic() + PAUSE_SECONDS >= until:
                    raise
            time.sleep(PAUSE_SECONDS)

    def _ask_once(self, method: str, path: str, **more: Any) -> httpx.Response:
        try:
            answer = self._client.request(method, path, **more)
        except httpx.HTTPError as error:
            address = self._client.base_url.join(path)
            detail = f"{address} cannot be reached: {error}"
            passing = isinstance(error, httpx.TransportError)
            raise ServerError({"detail": detail, "retryable": passing}) from error
        if answer.is_success or answer.status_code == 304:
            return answer
        try:
            problem = answer.json()
        except ValueError:
            problem = {"detail": f"{answer.status_code} {answer.reason_phrase}"}
        raise ServerError(problem)

    def run(self, document: Any, tell: Tell) -> dict[str, Any]:
        """Simulate a scene and follow it to its end; the simulation."""
        answer = self.ask("POST", "/v1/simulations", json={"scene": document}, headers=WAITING)
        info: dict[str, Any] = answer.json()
        return self.follow(info, tell)

    def follow(self, info: dict[str, Any], tell: Tell) -> dict[str, Any]:
        """Wait for the end of a simulation or batch; say where it goes on if interrupted."""
        url = info["links"]["self"]
        try:
            while info["finished_at"] is None:
                tell(info["progress"], info["status"])
                asked = time.monotonic()
                info = self.ask("GET", url, headers=WAITING).json()
                if info["finished_at"] is None:
                    time.sleep(max(0.0, asked + POLL_SECONDS - time.monotonic()))
        except KeyboardInterrupt:
            address = self._client.base_url.join(url)
            print_warnings([f"It goes on at {address}; POST {address}:cancel ends it."])
            raise
        return info

    def download(self, info: Mapping[str, Any], path: Path) -> None:
        """Save the trajectory by the ending of the path, or everything into a folder."""
        url = info["links"]["trajectory"]
        if path.suffix and not path.is_dir():
            data = self.ask("GET", url, params={"format": format_of(path).name}).content
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        tables: dict[str, Any] = {}
        metadata: dict[str, Any] = {}
        for name in TABLES:
            try:
                data = self.ask("GET", url, params={"table": name}).content
            except ServerError as error:
                if error.invalid:
                    continue
                raise
            tables[name], metadata = _table(data)
        scene = self.ask("GET", info["links"]["scene"]).json()
        summary = self.ask("GET", info["links"]["summary"]).json()
        write_folder(Tables(tables, metadata, scene, summary), path)


def _check_address(url: str) -> None:
    """Refuse what is no address of a server. Raises ServerError."""
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme in ("http", "https") and address.host:
        return
    message = f"--url needs the address of a server; found '{url}'."
    hint = "For example --url http://127.0.0.1:8000"
    fault = {"pointer": "", "code": "not_allowed", "message": message, "got": url, "hint": hint}
    raise ServerError({"detail": message, "status": 422, "errors": [fault]})


def _table(data: bytes) -> tuple[Any, dict[str, Any]]:
    import pyarrow as pa

    return table_from_parquet(pa.BufferReader(data))
