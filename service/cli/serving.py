"""`cardan serve`: serve until a signal, also while the kernels are still being compiled."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from cardan.service import logs, tracing
from cardan.service.cli import console
from cardan.service.cli.connections import SocketProtocol, timed_protocol
from cardan.service.cli.kernel_loading import loaded_meanwhile
from cardan.service.processes.kernels import Kernels
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.uncollected import uncollected
from cardan.service.settings import Settings, SettingsError, forget_secrets, misspelt

GRACEFUL_SECONDS = 5
# of a client to the stream of a session
MAX_MESSAGE_BYTES = 64 * 1024


def serve(
    host: str | None, port: int | None, data: Path | None, *, verbose: bool, compiled: bool
) -> None:
    """Serve until SIGINT or SIGTERM; ends with 2 when it cannot be configured so.

    `compiled` says whether the kernels are there.
    """
    try:
        settings = Settings.from_environment(os.environ, host=host, port=port, data=data)
        settings.check_exposure()
        settings.check_executor()
        console.print_warnings(misspelt(os.environ))
        tracing.set_up(os.environ)
        forget_secrets(os.environ)
        _check_free(settings)
    except SettingsError as error:
        console.stop(str(error))
    level = "info" if verbose else settings.log_level
    logs.set_up(level, settings.log_format)
    kernels = Kernels(ready=compiled)
    launcher = WorkerLauncher(kernels=kernels)
    try:
        with loaded_meanwhile(kernels, launcher.prepare):
            server = _run(settings, kernels)
    finally:
        tracing.stop()
    if server.without_kernels:
        console.stop(
            "The kernels could not be compiled; the messages above say why.", console.FAILED
        )
    if not server.started:
        console.stop("The service could not start; the messages above say why.", console.FAILED)


def _run(settings: Settings, kernels: Kernels) -> "AnnouncingServer":
    """Serve until the end; the server, which knows how that came."""
    with uncollected():
        from cardan.service.app import create_app

        app = create_app(settings, kernels)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        ws_per_message_deflate=False,
        # each connection may make the service keep as much of an unfinished message
        ws_max_size=MAX_MESSAGE_BYTES,
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
        ws=SocketProtocol,
        http=timed_protocol(settings.request_s, settings.unread_s),
        log_config=None,
        access_log=False,
        server_header=False,
    )
    _check_database(settings)
    _check_cluster(settings)
    server = AnnouncingServer(config)
    server.run()
    return server


class AnnouncingServer(uvicorn.Server):
    """Prints its address once simulations and sessions can start; ends without kernels."""

    without_kernels = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the port, and announce when everything is ready."""
        await super().startup(sockets)
        if self.started:
            self._announcing = asyncio.create_task(self._announce())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let go who only waits for a run: others would be cut off after some seconds, too."""
        app: Any = self.config.app
        app.state.services.changes.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGINT and SIGTERM end the service in good order, with status 0."""
        before = {
            number: signal.signal(number, self.handle_exit)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def _announce(self) -> None:
        app: Any = self.config.app
        state = app.state
        host, port = self._address()
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        if not state.kernels.ready:
            console.out().print(f"The page opens at {address} and shows how far the kernels are.")
        while not (state.services.dispatcher.ready and state.sessions.ready):
            # a service that ends gives up its kernels as well
            if self.should_exit:
                return
            if state.kernels.failed:
                self.without_kernels = self.should_exit = True
                return
            await asyncio.sleep(0.05)
        console.out().print(f"Cardan serves at {address}  (Ctrl+C stops it)")

    def _address(self) -> tuple[str, int]:
        for server in self.servers:
            for opened in server.sockets:
                host, port = opened.getsockname()[:2]
                return str(host), int(port)
        return self.config.host, self.config.port


def _check_database(settings: Settings) -> None:
    """Refuse a database that this version cannot use with a sentence, before anything starts."""
    from cardan.service.parts import open_database_of

    try:
        open_database_of(settings).dispose()
    except SettingsError as error:
        console.stop(str(error))


def _check_cluster(settings: Settings) -> None:
    """Refuse a cluster that cannot be joined with a sentence, before anything starts."""
    if settings.executor != "ray":
        return
    from cardan.service.cluster.placement import Placement

    try:
        Placement(settings).check()
    except SettingsError as error:
        console.stop(str(error))


def _check_free(settings: Settings) -> None:
    """Refuse a taken port or data folder with a sentence. Raises SettingsError."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise SettingsError(
                f"Cannot listen on {settings.host} port {settings.port}: {error.strerror}; "
                "choose another one with --port or --host."
            ) from error
    settings.lock_data().close()
