"""The client for programs without an event loop: one runs in a thread of its own."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, TypeVar

from cardan_client.aio import AsyncBatch, AsyncClient, AsyncStudy, Overrides, Scene
from cardan_client.complementarity import Solution
from cardan_client.live import AsyncSession
from cardan_client.mechanics import Equilibrium, LinearModel, Posture
from cardan_client.results import Result, State, Trajectory
from cardan_client.scenes import AsyncStoredScene
from cardan_client.view import View

T = TypeVar("T")
# results of a batch that are fetched at the same time
AT_ONCE = 16


class Client:
    """Talks to one service. `with` closes its connections."""

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
        self._aio = AsyncClient(url, key, patience_s=patience_s, **options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def __enter__(self) -> "Client":
        """Use the client."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close its connections."""
        self.close()

    def close(self) -> None:
        """Close the connections and end the thread; futures that wait are cancelled."""
        if self._loop.is_closed():
            return
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def examples(self) -> list[str]:
        """Return the names of the example scenes."""
        return self._do(self._aio.examples())

    def validate(self, scene: Mapping[str, Any]) -> dict[str, Any]:
        """Return every fault and warning of a scene, its size and its cost."""
        return self._do(self._aio.validate(scene))

    def store(self, scene: Mapping[str, Any]) -> "StoredScene":
        """Store a scene, if it is valid. Raises Problem."""
        return StoredScene(self, self._do(self._aio.store(scene)))

    def stored(self) -> "list[StoredScene]":
        """Return the stored scenes, newest first."""
        return [StoredScene(self, scene) for scene in self._do(self._aio.stored())]

    def submit(
        self, scene: Scene, overrides: Overrides | None = None, **options: Any
    ) -> "Future[Result]":
        """Queue a run; return a future of its result. Raises Problem."""
        run_id = self._do(self._aio.submit(scene, overrides, **options))
        return self._start(self._aio.result(run_id))

    def run(self, scene: Scene, overrides: Overrides | None = None, **options: Any) -> Result:
        """Simulate a scene to its end. Raises Problem or RunFailed."""
        return self._do(self._aio.run(scene, overrides, **options))

    def trajectory(self, run: Result | str, **part: Any) -> Trajectory:
        """Fetch the recording of a run. `part`: from_, to [s], stride, bodies, channels (lists)."""
        return self._do(self._aio.trajectory(run if isinstance(run, str) else run.id, **part))

    def display(self, run: Result | str, **options: Any) -> View:
        """Fetch a run as a web page that plays, as the last value of a cell of a notebook.

        `options`: height [px], most_bytes, and the part as in `trajectory`. Raises ValueError for a
        page that is larger.
        """
        return self._do(self._aio.display(run if isinstance(run, str) else run.id, **options))

    def map(
        self, scene: Scene, variations: Mapping[str, Any] | Sequence[Overrides], **options: Any
    ) -> "Batch":
        """Queue variants of a scene as one batch: a sequence of futures of their results.

        Arguments are those of `AsyncClient.map`. Raises Problem.
        """
        batch = self._do(self._aio.map(scene, variations, **options))
        turns = asyncio.Semaphore(AT_ONCE)

        async def result(number: int) -> Result:
            async with turns:
                return await batch.result(number)

        return Batch(self, batch, [self._start(result(n)) for n in range(len(batch))])

    def study(
        self,
        scene: Scene,
        variables: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        objective: Mapping[str, Any],
        **options: Any,
    ) -> "Study":
        """Minimise an objective, or fit the scene to measurements.

        Arguments are those of `AsyncClient.study`. Raises Problem.
        """
        return Study(self, self._do(self._aio.study(scene, variables, objective, **options)))

    def statics(
        self, scene: Scene, overrides: Overrides | None = None, **options: Any
    ) -> Equilibrium:
        """Find an equilibrium of a scene with its reactions, and what load it carries.

        `options` are those of `AsyncClient.statics`. Raises Problem.
        """
        return self._do(self._aio.statics(scene, overrides, **options))

    def linearize(
        self, scene: Scene, overrides: Overrides | None = None, **options: Any
    ) -> LinearModel:
        """Compute the linear model of a scene about a state, with its modes.

        `options` are those of `AsyncClient.linearize`. Raises Problem.
        """
        return self._do(self._aio.linearize(scene, overrides, **options))

    def inverse_kinematics(
        self,
        scene: Scene,
        targets: Sequence[Mapping[str, Any]],
        overrides: Overrides | None = None,
        **options: Any,
    ) -> Posture:
        """Find joint coordinates that bring bodies to targets, within limits.

        Arguments are those of `AsyncClient.inverse_kinematics`. Raises Problem.
        """
        return self._do(self._aio.inverse_kinematics(scene, targets, overrides, **options))

    def dynamics(self, operation: str, scene: Scene, **asked: Any) -> dict[str, Any]:
        """Compute in joint coordinates, for many states at once; answers are arrays by name.

        Arguments are those of `AsyncClient.dynamics`. Raises Problem.
        """
        return self._do(self._aio.dynamics(operation, scene, **asked))

    def complementarity(self, problem: Mapping[str, Any], **solver: Any) -> Solution:
        """Solve a problem without a scene; infinite bounds are none.

        Arguments are those of `AsyncClient.complementarity`. Raises Problem.
        """
        return self._do(self._aio.complementarity(problem, **solver))

    def session(
        self, scene: Scene, overrides: Overrides | None = None, **options: Any
    ) -> "Session":
        """Start a live run. `options`: name, paused, speed. Raises Problem."""
        return Session(self, self._do(self._aio.session(scene, overrides, **options)))

    def get(self, path: str, *, wait: int = 0, **params: Any) -> Any:
        """GET a document of any address of the API. Raises Problem."""
        return self._do(self._aio.get(path, wait=wait, **params))

    def post(self, path: str, body: Any = None) -> Any:
        """POST a document to any address of the API. Raises Problem."""
        return self._do(self._aio.post(path, body))

    def delete(self, path: str) -> None:
        """DELETE a resource. Raises Problem."""
        self._do(self._aio.delete(path))

    def _start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("the client is closed")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._start(work).result()

    async def _end(self) -> None:
        others = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._aio.close()


class Batch(Sequence["Future[Result]"]):
    """Futures of the results of a batch, in the order of its runs."""

    def __init__(self, client: Client, batch: AsyncBatch, futures: list["Future[Result]"]) -> None:
        """Belong to a client."""
        self._client = client
        self._batch = batch
        self._futures = futures
        self.id = batch.id

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self._futures)

    def __getitem__(self, number: Any) -> Any:
        """Return the future of a run, or those of a slice."""
        return self._futures[number]

    def __iter__(self) -> Iterator["Future[Result]"]:
        """Yield the futures in the order of the runs."""
        return iter(self._futures)

    @property
    def overrides(self) -> list[Mapping[str, Any]]:
        """Values by JSON Pointer of each run."""
        return [run["overrides"] for run in self._batch.runs]

    def wait(self) -> dict[str, Any]:
        """Wait for the end of the batch; return its last state."""
        return self._client._do(self._batch.wait())

    def table(self) -> list[dict[str, Any]]:
        """Wait for the end; return one row per run: parameters, status, metrics, error."""
        return self._client._do(self._batch.table())

    def cancel(self) -> None:
        """Start no further run, and stop the running ones."""
        self._client._do(self._batch.cancel())


class Study:
    """One search."""

    def __init__(self, client: Client, study: AsyncStudy) -> None:
        """Belong to a client."""
        self._do = client._do
        self._aio = study
        self.id = study.id

    def wait(self) -> dict[str, Any]:
        """Wait for the end; return the last state, with the best evaluation. Raises RunFailed."""
        return self._do(self._aio.wait())

    def scene(self) -> dict[str, Any]:
        """Return the scene with the best values so far. Raises Problem."""
        return self._do(self._aio.scene())

    def table(self) -> list[dict[str, Any]]:
        """Return one row per run so far: values of the variables, objective, status, error."""
        return self._do(self._aio.table())

    def cancel(self) -> None:
        """End the search, and stop its runs."""
        self._do(self._aio.cancel())


class StoredScene:
    """One stored scene; runs, batches, studies and sessions take its `id` as their scene."""

    def __init__(self, client: Client, scene: AsyncStoredScene) -> None:
        """Belong to a client."""
        self._do = client._do
        self._aio = scene
        self.id = scene.id

    @property
    def info(self) -> dict[str, Any]:
        """What the service said of it last: name, revision, etag, bytes, times."""
        return self._aio.info

    def read(self) -> dict[str, Any]:
        """Return the scene as it was written; the next change is of this one. Raises Problem."""
        return self._do(self._aio.read())

    def replace(self, scene: Mapping[str, Any]) -> None:
        """Replace the scene. Raises Problem, with status 412 if it was changed meanwhile."""
        self._do(self._aio.replace(scene))

    def patch(self, patch: Mapping[str, Any]) -> None:
        """Change it by a JSON Merge Patch (RFC 7396): None removes. Raises Problem like replace."""
        self._do(self._aio.patch(patch))

    def delete(self) -> None:
        """Delete it; what was made from it has its own copy. Raises Problem."""
        self._do(self._aio.delete())

    def revisions(self) -> list[dict[str, Any]]:
        """Return the revisions that are kept, newest first, without their texts. Raises Problem."""
        return self._do(self._aio.revisions())

    def read_revision(self, revision: int) -> dict[str, Any]:
        """Return the scene as it was written in a revision. Raises Problem."""
        return self._do(self._aio.read_revision(revision))

    def restore(self, revision: int) -> None:
        """Write the text of a revision again, as a new one. Raises Problem like replace."""
        self._do(self._aio.restore(revision))

    def share(self, name: str = "", expires_in_s: float | None = None) -> dict[str, Any]:
        """Make a link that lets people without a key read it: its `url` and `token`.

        `name`: whom it is for; it expires after some time [s], by default a week. Raises Problem.
        """
        return self._do(self._aio.share(name, expires_in_s))

    def shares(self) -> list[dict[str, Any]]:
        """Return the links to it that have not expired, oldest first. Raises Problem."""
        return self._do(self._aio.shares())

    def revoke(self, share_id: str) -> None:
        """End a link by its id. Raises Problem."""
        self._do(self._aio.revoke(share_id))


class Session:
    """Steers one live run; `with` ends it."""

    def __init__(self, client: Client, session: AsyncSession) -> None:
        """Belong to a client."""
        self._client = client
        self._do = client._do
        self._aio = session
        self.id = session.id

    def __enter__(self) -> "Session":
        """Use the session."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the session."""
        self.close()

    def command(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Do any command (set_motor, apply_force, gravity, ...); return its result."""
        return self._do(self._aio.command(op, **arguments))

    def take_control(self) -> None:
        """Steer alone, until it is released or 90 s pass without a command. Raises Problem."""
        self._do(self._aio.take_control())

    def release_control(self) -> None:
        """Let others steer again."""
        self._do(self._aio.release_control())

    def pause(self) -> None:
        """Stop stepping."""
        self._do(self._aio.pause())

    def resume(self) -> None:
        """Go on stepping."""
        self._do(self._aio.resume())

    def reset(
        self, q: Mapping[str, Any] | None = None, qd: Mapping[str, Any] | None = None
    ) -> None:
        """Go back to the start of the scene, then to q and qd by names of joints."""
        self._do(self._aio.reset(q, qd))

    def step(self, n: int = 1, sample_every: int | None = None) -> dict[str, Any]:
        """Do n steps and pause; with `sample_every` the result has the series."""
        return self._do(self._aio.step(n, sample_every))

    def set_motor(self, joint: str, target: float, axis: int = 0) -> None:
        """Change the target of a motor, in the unit of the motor."""
        self._do(self._aio.set_motor(joint, target, axis))

    def apply_force(self, body: str, force: Sequence[float], duration: float = 0.0) -> None:
        """Apply a force [N, in W] at the centre of mass for some time [s]; 0: one step."""
        self._do(self._aio.apply_force(body, force, duration))

    def state(self) -> State:
        """Return the complete current state."""
        return self._do(self._aio.state())

    def snapshot(self) -> str:
        """Store the current state; return its id."""
        return self._do(self._aio.snapshot())

    def restore(self, snapshot: str) -> None:
        """Go back to a stored state, bit for bit."""
        self._do(self._aio.restore(snapshot))

    def fork(
        self, *, step: int | None = None, time: float | None = None, **options: Any
    ) -> "Session":
        """Start another session in exactly the state of a past moment; this one is not changed.

        step, or time [s], whose nearest step is taken; neither: now. `options`: name, paused
        (True), speed. It ends by itself, not with this one. Raises Problem.
        """
        made = self._do(self._aio.fork(step=step, time=time, **options))
        return Session(self._client, made)

    def close(self) -> None:
        """End the session and its process, if it has not ended already."""
        self._do(self._aio.close())
