"""Configuration: `CARDAN_*` variables of the environment to one frozen object.

CARDAN_HOST, CARDAN_PORT, CARDAN_DATA      where to listen, where to keep data
CARDAN_API_KEY, CARDAN_API_KEY_FILE        keys, separated by spaces, commas or lines
CARDAN_WORKERS, CARDAN_MAX_QUEUED, ...     one variable per field below
CARDAN_LIMIT_MAX_BODIES, ...               one variable per field of `schemas.Limits`
"""

import difflib
import ipaddress
import os
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import IO, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from cardan.schemas import Limits
from cardan.service.cores import usable_cores
from cardan.service.keys import SECRETS, Key, KeyTextError, parse_key

PREFIX = "CARDAN_"
BUCKET_VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_VIRTUAL_HOSTED_STYLE_REQUEST",
)
"""What the store of the recordings is opened with, if there is one."""
NOT_BY_NAME = ("limits", "api_keys", "bucket_options")
"""Fields that are made of several variables."""
ALIKE = 0.8
"""How much of a name is that of a setting, from which on it is taken for it misspelt."""
GIB = 1024**3


class SettingsError(Exception):
    """The configuration cannot be used; the text says which variable and why."""


def _default_data() -> Path:
    """The user's data folder on this platform."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "cardan"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "cardan"
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "cardan"


class Settings(BaseModel):
    """How this service runs. Sizes in bytes, times in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    host: str = "127.0.0.1"
    """Address to listen on; beyond loopback a key is needed."""
    port: int = Field(8000, ge=0, le=65535)
    """Port; 0: a free one."""
    data: Path = Field(default_factory=_default_data)
    """Folder of the database and the recordings."""
    database_url: SecretStr | None = None
    """PostgreSQL instead of a file in the data folder: `postgresql://USER:PASSWORD@HOST/NAME`."""
    results_url: str | None = None
    """Recordings in an S3-compatible store: `s3://BUCKET/FOLDER`; by default in the data folder."""
    executor: Literal["embedded", "ray"] = "embedded"
    """What computes runs: workers of this service, or actors on the nodes of a Ray cluster."""
    ray_address: str | None = None
    """The Ray cluster: `HOST:PORT` where this machine is a node of it, else `ray://HOST:10001`."""
    ray_workers: int | None = Field(None, ge=1, le=4096)
    """Most workers at once on all nodes, each with a core; by default one for each of their cores.
    """
    ray_cores: int = Field(1, ge=1, le=256)
    """Cores, and workers, of one actor: larger ones share their kernels and connections."""
    ray_token: SecretStr | None = None
    """The token of the cluster, for `RAY_AUTH_MODE=token`."""
    results_link_s: float = Field(900.0, ge=0.0)
    """Downloads of whole tables lead to the store with a link good for so long; 0: they do not."""
    bucket_options: Mapping[str, str] = Field({}, repr=False)
    """The usual `AWS_*` variables, by their names in small letters."""
    api_keys: frozenset[Key] = frozenset()
    """Keys, separated by spaces, commas or lines; further ones in the file CARDAN_API_KEY_FILE."""
    allowed_hosts: frozenset[str] = frozenset()
    """Further values of the Host header (without port) that are answered on loopback."""
    requests_per_minute: int = Field(6000, ge=0)
    """Requests of one key; 0: no quota."""
    runs_per_hour: int = Field(0, ge=0)
    """Runs that one key may queue; 0: no quota."""
    simulated_s_per_hour: float = Field(0.0, ge=0.0)
    """Simulated time of the runs that one key may queue in an hour; 0: no quota."""
    unfinished_runs_per_key: int = Field(0, ge=0)
    """Runs of one key that wait or run at once; 0: no quota."""
    stored_bytes_per_key: int = Field(0, ge=0)
    """Recordings, scenes and sessions that one key may store; 0: no quota."""
    request_s: float = Field(10.0, gt=0.0)
    """A connection is closed when the head of a request takes longer."""
    body_s: float = Field(20.0, gt=0.0)
    """A request is refused when its body pauses longer."""
    unread_s: float = Field(60.0, ge=1.0, le=86_400.0)
    """A connection is closed when its client takes nothing of an answer for so long (Linux)."""
    workers: int = Field(default_factory=lambda: min(usable_cores(), 256), ge=1, le=256)
    """Processes that run simulations."""
    max_sessions: int = Field(16, ge=0)
    """Live sessions at once."""
    sessions_per_key: int = Field(0, ge=0)
    """Live sessions at once of one key; 0: no quota."""
    session_idle_s: float = Field(1800.0, gt=0.0)
    """A session without viewers and requests ends after this time."""
    session_history_bytes: int = Field(256 * 1024**2, ge=1024**2)
    """Key frames of one session; beyond it they are thinned."""
    max_queued: int = Field(100_000, ge=1)
    """Runs that may wait."""
    max_batch_runs: int = Field(10_000, ge=1)
    """Runs of one batch."""
    max_study_evaluations: int = Field(2000, ge=1)
    """Runs of one study."""
    max_body_bytes: int = Field(64 * 1024**2, ge=1024)
    """Size of one request."""
    worker_memory_bytes: int = Field(4 * GIB, ge=GIB // 2)
    """Address space of one worker process."""
    threads: int = Field(1, ge=1, le=16)
    """Threads of one run or session at most, whatever its scene asks for."""
    result_file_bytes: int = Field(4 * GIB, ge=0)
    """Size of one file of a recording; 0: unlimited."""
    min_free_bytes: int = Field(64 * 1024**2, ge=0)
    """With less free space no run is queued."""
    small_scene_workers: int = Field(2, ge=1, le=64)
    """Processes that validate scenes of at most `small_scene_bytes`."""
    large_scene_workers: int = Field(1, ge=1, le=64)
    """Processes that validate larger scenes."""
    dynamics_workers: int = Field(1, ge=1, le=64)
    """Processes that answer `/v1/dynamics`."""
    problem_workers: int = Field(1, ge=1, le=64)
    """Processes that solve complementarity problems."""
    file_workers: int = Field(1, ge=1, le=64)
    """Processes that encode downloads."""
    download_bytes: int = Field(GIB, ge=1024)
    """Size of one encoded download; whole tables as Parquet are sent as they are stored."""
    kept_download_bytes: int = Field(4 * GIB, ge=0)
    """Encoded downloads that are kept for further requests, together."""
    small_scene_bytes: int = Field(64 * 1024, ge=1024)
    """Largest scene that the processes for small ones validate."""
    answer_s: float = Field(60.0, gt=0.0)
    """A validation or a computation that takes longer is ended."""
    kept_run_s: float | None = Field(None, gt=0.0)
    """Ended simulations, batches and studies are deleted at this age; by default never."""
    kept_recording_bytes: int | None = Field(None, ge=0)
    """Beyond it the oldest recordings are removed, and simulated again when they are asked for."""
    kept_unused_scene_s: float | None = Field(None, ge=600.0)
    """Stored scenes that nobody changed or used for so long are deleted; by default never."""
    kept_scene_revisions: int = Field(50, ge=0, le=1000)
    """Earlier revisions of a stored scene that are kept; 0: none."""
    kept_scene_revision_bytes: int = Field(64 * 1024**2, ge=0)
    """Texts of the earlier revisions of one stored scene, together; beyond it the oldest go."""
    checkpoint_s: float = Field(5.0, gt=0.0)
    """A run leaves a checkpoint after this time of work, and again whenever it has passed."""
    lease_s: float = Field(60.0, gt=0.0)
    """A run whose owner has not been heard of for so long is given to another worker."""
    silence_s: float = Field(60.0, gt=0.0)
    """A worker that says nothing for so long is replaced."""
    stop_grace_s: float = Field(5.0, gt=0.0)
    """Time to stop before a process is killed."""
    default_timeout_s: float = Field(3600.0, gt=0.0)
    """Wall-clock time of a run without `timeout_s`."""
    max_timeout_s: float = Field(86_400.0, gt=0.0)
    """Largest `timeout_s`."""
    idempotency_s: float = Field(86_400.0, gt=0.0)
    """How long an Idempotency-Key is remembered."""
    log_format: Literal["text", "json"] = "text"
    """Lines of the log: for people, or one JSON object each."""
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    """Least severity that is logged."""
    limits: Limits = Limits()
    """Limits of scenes, each as CARDAN_LIMIT_NAME."""

    @staticmethod
    def from_environment(environ: Mapping[str, str], **given: Any) -> "Settings":
        """Read the environment; `given` values that are not None win. Raises SettingsError."""
        values: dict[str, Any] = {}
        limits: dict[str, Any] = {}
        for variable, name in variables().items():
            text = environ.get(variable)
            if text is not None:
                values[name] = _words(text) if name == "allowed_hosts" else text
        for variable, name in limit_variables().items():
            text = environ.get(variable)
            if text is not None:
                limits[name] = _integer(variable, text)
        values |= {name: value for name, value in given.items() if value is not None}
        values.setdefault("api_keys", _keys(environ))
        bucket = {name.lower(): environ[name] for name in BUCKET_VARIABLES if environ.get(name)}
        values.setdefault("bucket_options", bucket)
        try:
            return Settings(limits=Limits(**limits), **values)
        except ValidationError as error:
            raise SettingsError(_in_words(error)) from error

    def check_exposure(self) -> None:
        """Refuse to listen beyond this machine without keys. Raises SettingsError."""
        if self.api_keys or self.loopback:
            return
        raise SettingsError(
            f"Refusing to listen on {self.host}: it is reachable from other machines and no API "
            "key is set, so anybody there could use this service. Set CARDAN_API_KEY (or "
            "CARDAN_API_KEY_FILE) and send it as 'Authorization: Bearer KEY', or listen on "
            "127.0.0.1."
        )

    def check_executor(self) -> None:
        """Refuse Ray without what its nodes share with this service. Raises SettingsError."""
        if self.executor == "embedded":
            return
        needed = {
            "CARDAN_RAY_ADDRESS": self.ray_address,
            "CARDAN_DATABASE_URL": self.database_url,
            "CARDAN_RESULTS_URL": self.results_url,
        }
        missing = [name for name, value in needed.items() if value is None]
        if missing:
            raise SettingsError(
                f"CARDAN_EXECUTOR=ray needs {' and '.join(missing)}: the nodes of a cluster share "
                "a database and a store of recordings, and no folder."
            )

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False

    @property
    def database(self) -> Path:
        """File of the queue."""
        return self.data / "cardan.sqlite3"

    @property
    def results(self) -> Path:
        """Folder in which workers write recordings; by default they stay there."""
        return self.data / "results"

    def lock_data(self) -> IO[bytes]:
        """Take the data folder until the file that is returned is closed. Raises SettingsError.

        Two services on one queue would each think the other dead.
        """
        import fcntl  # of Unix alone

        try:
            self.results.mkdir(parents=True, exist_ok=True)
            file = (self.data / "lock").open("ab")
        except OSError as error:
            raise SettingsError(f"The data folder {self.data} cannot be used: {error}") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise SettingsError(
                f"The data folder {self.data} is in use by another running service; "
                "stop that one or choose another folder with --data."
            ) from error
        except OSError as error:
            file.close()
            raise SettingsError(f"The data folder {self.data} cannot be locked: {error}") from error
        return file


def variables() -> dict[str, str]:
    """Variables that are one field of Settings each, and its name."""
    names = [name for name in Settings.model_fields if name not in NOT_BY_NAME]
    return {f"{PREFIX}{name.upper()}": name for name in names}


def limit_variables() -> dict[str, str]:
    """Variables of the limits of scenes, and the field of Limits that each is."""
    return {f"{PREFIX}LIMIT_{name.upper()}": name for name in Limits.model_fields}


def misspelt(environ: Mapping[str, str]) -> list[str]:
    """A sentence for each variable that is nearly one of the service: it is not read."""
    known = {*variables(), *limit_variables(), f"{PREFIX}API_KEY", f"{PREFIX}API_KEY_FILE"}
    # the prefix, which all share, would make any two alike
    names = [variable.removeprefix(PREFIX) for variable in sorted(known)]
    found = []
    for variable in sorted(set(environ) - known):
        if variable.startswith(PREFIX):
            name = variable.removeprefix(PREFIX)
            for close in difflib.get_close_matches(name, names, n=1, cutoff=ALIKE):
                found.append(f"{variable} is no setting: did you mean {PREFIX}{close}?")
    return found


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in text.replace(",", " ").split() if word)


def _keys(environ: Mapping[str, str]) -> frozenset[Key]:
    text = environ.get(f"{PREFIX}API_KEY", "")
    file = environ.get(f"{PREFIX}API_KEY_FILE")
    if file:
        try:
            text += "\n" + Path(file).read_text(encoding="utf-8")
        except OSError as error:
            raise SettingsError(f"CARDAN_API_KEY_FILE cannot be read: {error}") from error
    try:
        keys = frozenset(parse_key(word) for word in _words(_without_comments(text)))
    except KeyTextError as error:
        raise SettingsError(str(error)) from error
    names = [key.name for key in keys]
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(f"Two API keys have the name {name}.")
    return keys


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


def forget_secrets(environ: MutableMapping[str, str]) -> None:
    """Remove the keys from the environment, so that no process started later inherits them."""
    for name in SECRETS:
        environ.pop(name, None)


def _integer(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise SettingsError(f"{name} must be a whole number, not {text!r}.") from error


def _in_words(error: ValidationError) -> str:
    return "; ".join(
        f"{PREFIX}{'_'.join(str(part) for part in item['loc']).upper()}: {item['msg']} "
        f"(found {item['input']!r})"
        for item in error.errors()
    )
