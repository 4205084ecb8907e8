"""The client as coroutines."""

import asyncio
import json
import random
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import Any

import httpx

from cardan_client.complementarity import Solution, read_solution, without_infinities
from cardan_client.errors import Problem, RunFailed, problem_of
from cardan_client.live import AsyncSession
from cardan_client.mechanics import (
    Equilibrium,
    LinearModel,
    Posture,
    read_dynamics,
    read_equilibrium,
    read_linear_model,
    read_posture,
)
from cardan_client.results import Result, Trajectory, read_trajectory
from cardan_client.scenes import AsyncStoredScene
from cardan_client.view import View

Overrides = Mapping[str, Any]
Scene = Mapping[str, Any] | str
# between two tries: about so long, then twice as long each time
PAUSE_SECONDS = 0.2
MOST_PAUSE_SECONDS = 10.0
# for which a service is waited for that has answered before, as while it starts again
PATIENCE_SECONDS = 60.0
# and one that never has: its address may be wrong
FIRST_PATIENCE_SECONDS = 3.0
# longer than a service computes one answer (CARDAN_ANSWER_S)
TIMEOUT = httpx.Timeout(75.0, connect=10.0)
WAIT_SECONDS = 20
PAGE = 1000
# of a run as a web page: a notebook keeps all of it
VIEW_BYTES = 16_000_000
CREATING = ("/v1/scenes", "/v1/simulations", "/v1/batches", "/v1/studies", "/v1/sessions")
# what asks and changes nothing
ASKING = (
    "/v1/scenes:", "/v1/dynamics/", "/v1/complementarity", "/v1/statics", "/v1/linearization",
    "/v1/inverse-kinematics",
)  # fmt: skip
# the service may answer differently when it is asked again
AGAIN = frozenset({408, 429, 502, 503, 504})
# what may be gone soon; an address that is none stays so
PASSING = (httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError, httpx.ProxyError)


class AsyncClient:
    """Talks to one service. `async with` closes its connections."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        key: str | None = None,
        *,
        patience_s: float | None = None,
        **options: Any,
    ) -> None:
        """Address and API key; `options` are those of `httpx.AsyncClient`, as `timeout` [s].

        patience_s: how long a request is sent again while the service is away or has no room [s];
        none: 60, but 3 while it has never answered.

        Raises httpx.UnsupportedProtocol for a `url` that is no address.
        """
        _check_address(url)
        # tells this client from others that steer the same session
        headers = {"Client-Id": uuid.uuid4().hex}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        options.setdefault("timeout", TIMEOUT)
        self._given_patience_s = patience_s
        self._has_answered = False
        self._http = httpx.AsyncClient(base_url=url, headers=headers, **options)
        scheme, _, rest = url.rstrip("/").partition("://")
        self.socket_url = f"{'wss' if scheme == 'https' else 'ws'}://{rest}"

    async def __aenter__(self) -> "AsyncClient":
        """Use the client."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close its connections."""
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def examples(self) -> list[str]:
        """Return the names of the example scenes."""
        return [item["name"] for item in (await self.get("/v1/examples"))["items"]]

    async def validate(self, scene: Mapping[str, Any]) -> dict[str, Any]:
        """Return every fault and warning of a scene, its size and its cost."""
        report: dict[str, Any] = await self.post("/v1/scenes:validate", scene)
        return report

    async def store(self, scene: Mapping[str, Any]) -> AsyncStoredScene:
        """Store a scene, if it is valid. Raises Problem."""
        return AsyncStoredScene(self, await self.post("/v1/scenes", scene))

    async def stored(self) -> list[AsyncStoredScene]:
        """Return the stored scenes, newest first."""
        return [AsyncStoredScene(self, info) async for info in self._items("/v1/scenes")]

    async def submit(self, scene: Scene, overrides: Overrides | None = None, **options: Any) -> str:
        """Queue a run; return its id. `options`: name, timeout_s. Raises Problem."""
        return str((await self.post("/v1/simulations", _about(scene, overrides, options)))["id"])

    async def run(self, scene: Scene, overrides: Overrides | None = None, **options: Any) -> Result:
        """Simulate a scene to its end. Raises Problem or RunFailed."""
        return await self.result(await self.submit(scene, overrides, **options))

    async def result(self, run_id: str) -> Result:
        """Wait for the end of a run. Raises Problem or RunFailed."""
        while True:
            info = await self.get(f"/v1/simulations/{run_id}", wait=WAIT_SECONDS)
            if info["finished_at"] is not None:
                return await self._result(info)

    async def trajectory(self, run_id: str, **part: Any) -> Trajectory:
        """Fetch the recording of a run. `part`: from_, to [s], stride, bodies, channels (lists)."""
        answer = await self.ask(
            "GET", f"/v1/simulations/{run_id}/trajectory", params={"format": "npz", **_query(part)}
        )
        return read_trajectory(answer.content)

    async def display(
        self, run_id: str, *, height: int = 480, most_bytes: int = VIEW_BYTES, **part: Any
    ) -> View:
        """Fetch a run as a web page that plays; a notebook shows it. `part` as in `trajectory`.

        Raises ValueError for a page of more than `most_bytes`: a notebook keeps all of it.
        """
        answer = await self.ask(
            "GET", f"/v1/simulations/{run_id}/trajectory", params={"format": "html", **_query(part)}
        )
        if len(answer.content) > most_bytes:
            raise ValueError(
                f"the page has {len(answer.content)} bytes, of which {most_bytes} are allowed; "
                "show less of the run (stride, from_, to, bodies), or allow more (most_bytes)"
            )
        return View(answer.text, height)

    async def map(
        self,
        scene: Scene,
        variations: Mapping[str, Any] | Sequence[Overrides],
        **options: Any,
    ) -> "AsyncBatch":
        """Queue variants of a scene as one batch.

        variations: values or a distribution by JSON Pointer (`mode` is grid, zip, random,
        latin_hypercube or sobol), or a list of overrides, one mapping per run. `options`: mode,
        samples, seed, overrides, metrics, record, max_parallel, on_failure, name, timeout_s.
        Raises Problem.
        """
        body: dict[str, Any] = {"scene": scene, **options}
        if isinstance(variations, Mapping):
            body["variations"] = dict(variations)
        else:
            body |= {"mode": "list", "runs": [dict(run) for run in variations]}
        info = await self.post("/v1/batches", body)
        runs = [run async for run in self._items(f"/v1/batches/{info['id']}/runs")]
        return AsyncBatch(self, info, runs)

    async def study(
        self,
        scene: Scene,
        variables: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        objective: Mapping[str, Any],
        **options: Any,
    ) -> "AsyncStudy":
        """Minimise an objective, or fit the scene to measurements.

        variables: (lower, upper) by JSON Pointer, or what the API takes. `options`: constraints,
        method, max_evaluations, tolerance, seed, overrides, max_parallel, name, timeout_s.
        Raises Problem.
        """
        if isinstance(variables, Mapping):
            variables = [
                {"pointers": [pointer], "lower": lower, "upper": upper}
                for pointer, (lower, upper) in variables.items()
            ]
        body = {"scene": scene, "variables": list(variables), "objective": objective, **options}
        return AsyncStudy(self, await self.post("/v1/studies", body))

    async def session(
        self, scene: Scene, overrides: Overrides | None = None, **options: Any
    ) -> AsyncSession:
        """Start a live run. `options`: name, paused, speed. Raises Problem."""
        return AsyncSession(
            self, await self.post("/v1/sessions", _about(scene, overrides, options))
        )

    async def statics(
        self, scene: Scene, overrides: Overrides | None = None, **options: Any
    ) -> Equilibrium:
        """Find an equilibrium of a scene with its reactions, and what load it carries.

        `options`: search (whether to look for one where the start is none), load: {"acceleration":
        [x, y, z]} or {"forces": [...]}. Raises Problem.
        """
        return read_equilibrium(await self._ask_about("/v1/statics", scene, overrides, options))

    async def linearize(
        self, scene: Scene, overrides: Overrides | None = None, **options: Any
    ) -> LinearModel:
        """Compute the linear model of a scene about a state, with its modes.

        `options`: q, qd (by names of joints), inputs, outputs, shapes. Raises Problem.
        """
        found = await self._ask_about("/v1/linearization", scene, overrides, options)
        return read_linear_model(found)

    async def inverse_kinematics(
        self,
        scene: Scene,
        targets: Sequence[Mapping[str, Any]],
        overrides: Overrides | None = None,
        **options: Any,
    ) -> Posture:
        """Find joint coordinates that bring bodies to targets, within limits.

        targets: `body` and `position`, `orientation` or both, and a `point` of the body. `options`:
        q (where to begin), tolerance, starts. Raises Problem.
        """
        asked = {"targets": list(targets), **options}
        found = await self._ask_about("/v1/inverse-kinematics", scene, overrides, asked)
        return read_posture(found)

    async def dynamics(self, operation: str, scene: Scene, **asked: Any) -> dict[str, Any]:
        """Compute in joint coordinates, for many states at once; answers are arrays by name.

        operation: `inverse`, `forward`, `mass-matrix`, `bias`, `jacobian`, `kinematics`, `energy`,
        `momentum`; `model`: the layout of the coordinates. `asked`: q, qd, qdd, tau, (states, n)
        each; body and point. Raises Problem.
        """
        return read_dynamics(
            await self.post(f"/v1/dynamics/{operation}", {"scene": scene, **asked})
        )

    async def complementarity(self, problem: Mapping[str, Any], **solver: Any) -> Solution:
        """Solve a problem without a scene; infinite bounds are none.

        problem: `type` (linear, lcp, mixed_lcp, box_lcp, coulomb, ccp, cone, lp, qp) with its
        matrices and vectors. `solver`: method, tolerance, max_iterations, relaxation, guess,
        history. Raises Problem.
        """
        body = {"problem": without_infinities(problem), "solver": solver}
        return read_solution(await self.post("/v1/complementarity", body))

    async def get(self, path: str, *, wait: int = 0, **params: Any) -> Any:
        """GET a document."""
        headers = {"Prefer": f"wait={wait}"} if wait else {}
        return (await self.ask("GET", path, params=params, headers=headers)).json()

    async def post(self, path: str, body: Any = None) -> Any:
        """POST a document; sent again with the same key when the answer is lost."""
        content = b"" if body is None else json.dumps(body, default=_listed).encode()
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        if content:
            headers["Content-Type"] = "application/json"
        return (await self.ask("POST", path, content=content, headers=headers)).json()

    async def change(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any],
        etag: str,
        media_type: str = "application/json",
    ) -> dict[str, Any]:
        """Change what still has an ETag; sent once: the same again would be refused."""
        headers = {"Content-Type": media_type, "If-Match": etag}
        content = json.dumps(body, default=_listed).encode()
        answer = await self.ask(method, path, content=content, headers=headers)
        found: dict[str, Any] = answer.json()
        return found

    async def delete(self, path: str) -> None:
        """DELETE a resource."""
        await self.ask("DELETE", path)

    async def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Send a request until it is answered or patience ends. Raises Problem, httpx errors."""
        began, pause, n = time.monotonic(), PAUSE_SECONDS, 0
        while True:
            n += 1
            try:
                return await self._ask_once(method, path, request)
            except (Problem, *PASSING) as error:
                # clients that lost the service together do not come back together
                wait = random.uniform(0.5, 1.0) * pause
                if isinstance(error, Problem):
                    wait = max(wait, error.retry_after_s or 0.0)
                passed = time.monotonic() - began
                if not may_help(error, method, path) or passed + wait > self._patience_s:
                    tries = f"{n} times" if n > 1 else "once"
                    if n > 1 or not isinstance(error, Problem):
                        error.add_note(f"asked {tries} of {self._http.base_url} in {passed:.1f} s")
                    raise
            await asyncio.sleep(wait)
            pause = min(2.0 * pause, MOST_PAUSE_SECONDS)

    @property
    def _patience_s(self) -> float:
        if self._given_patience_s is not None:
            return self._given_patience_s
        return PATIENCE_SECONDS if self._has_answered else FIRST_PATIENCE_SECONDS

    async def _ask_once(self, method: str, path: str, request: Mapping[str, Any]) -> httpx.Response:
        answer = await self._http.request(method, path, **request)
        self._has_answered = True
        if not answer.is_success:
            raise problem_of(answer)
        return answer

    async def _ask_about(
        self, path: str, scene: Scene, overrides: Overrides | None, options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Ask about a scene; nothing is stored."""
        found: dict[str, Any] = await self.post(path, _about(scene, overrides, options))
        return found

    async def _items(self, path: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the items of a list, from all its pages."""
        token = ""
        while True:
            page = await self.get(path, page_size=PAGE, page_token=token)
            for item in page["items"]:
                yield item
            token = page["next_page_token"]
            if not token:
                return

    async def _result(self, info: dict[str, Any]) -> Result:
        if info["status"] != "succeeded":
            raise RunFailed(info)
        return Result(info, await self.get(f"{info['links']['self']}/summary"))


class AsyncBatch:
    """Runs of one batch: `await batch[3]`, `async for result in batch`, or all of them."""

    def __init__(
        self, client: AsyncClient, info: dict[str, Any], runs: Sequence[dict[str, Any]]
    ) -> None:
        """Belong to a client."""
        self._client = client
        self.info = info
        self.id = str(info["id"])
        self.runs = list(runs)

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.runs)

    async def result(self, number: int) -> Result:
        """Wait for the end of a run. Raises RunFailed."""
        run = self.runs[number]
        found = await self._client.result(run["id"])
        return Result({**found.info, "overrides": run["overrides"]}, found.summary)

    async def __aiter__(self) -> AsyncIterator[Result]:
        """Yield results in the order of the runs. Raises RunFailed."""
        for number in range(len(self)):
            yield await self.result(number)

    async def wait(self) -> dict[str, Any]:
        """Wait for the end of the batch; return its last state."""
        while self.info["finished_at"] is None:
            self.info = await self._client.get(f"/v1/batches/{self.id}", wait=WAIT_SECONDS)
        return self.info

    async def table(self) -> list[dict[str, Any]]:
        """Wait for the end; return one row per run: parameters, status, metrics, error."""
        await self.wait()
        return await _rows(self._client, self.info)

    async def cancel(self) -> None:
        """Start no further run, and stop the running ones."""
        await self._client.post(f"/v1/batches/{self.id}:cancel")


class AsyncStudy:
    """One search: `await study.wait()`, then `study.info["best"]` and `await study.scene()`."""

    def __init__(self, client: AsyncClient, info: dict[str, Any]) -> None:
        """Belong to a client."""
        self._client = client
        self.info = info
        self.id = str(info["id"])

    async def wait(self) -> dict[str, Any]:
        """Wait for the end; return the last state, with the best evaluation. Raises RunFailed."""
        while self.info["finished_at"] is None:
            self.info = await self._client.get(f"/v1/studies/{self.id}", wait=WAIT_SECONDS)
        if self.info["status"] != "succeeded":
            raise RunFailed(self.info)
        return self.info

    async def scene(self) -> dict[str, Any]:
        """Return the scene with the best values so far. Raises Problem."""
        found: dict[str, Any] = await self._client.get(f"/v1/studies/{self.id}/scene")
        return found

    async def table(self) -> list[dict[str, Any]]:
        """Return one row per run so far: values of the variables, objective, status, error."""
        return await _rows(self._client, self.info)

    async def cancel(self) -> None:
        """End the search, and stop its runs."""
        await self._client.post(f"/v1/studies/{self.id}:cancel")


async def _rows(client: AsyncClient, info: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The table of a batch, or of the batch of a study."""
    found = await client.get(info["links"]["results"], format="json")
    rows: list[dict[str, Any]] = found["rows"]
    return rows


def may_help(error: Exception, method: str, path: str) -> bool:
    """Return whether the same request, sent again, does no harm and may be answered."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        # nobody has heard it
        return True
    if isinstance(error, Problem):
        is_passing = error.status in AGAIN or error.retry_after_s is not None
        return error.retryable and is_passing and may_repeat(method, path)
    return may_repeat(method, path)


def may_repeat(method: str, path: str) -> bool:
    """Return whether a request does the same when it is sent twice.

    What creates something is known by its key; a command is not.
    """
    creates = path in CREATING or path.endswith(":fork")
    asks = path.startswith(ASKING)
    return method == "GET" or (method == "POST" and (creates or asks))


def _check_address(url: str) -> None:
    """Raise httpx.UnsupportedProtocol for what is no address of a service."""
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in ("http", "https") or not address.host:
        raise httpx.UnsupportedProtocol(
            f"url must be the address of a service, such as http://127.0.0.1:8000; found {url!r}"
        )


def _about(scene: Scene, overrides: Overrides | None, options: Mapping[str, Any]) -> dict[str, Any]:
    return {"scene": scene, "overrides": dict(overrides or {}), **options}


def _query(part: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a part: `from_` stands for `from`, a list for names between commas."""
    return {
        name.rstrip("_"): value
        if isinstance(value, str | int | float)
        else ",".join(map(_quoted, value))
        for name, value in part.items()
        if value is not None
    }


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if set(name) & set('," ') else name


def _listed(values: Any) -> Any:
    """Arrays and numbers of NumPy as JSON has them. Raises TypeError."""
    if hasattr(values, "tolist"):
        return values.tolist()
    raise TypeError(f"{type(values).__name__} cannot be sent")
