"""Recordings in a bucket of an S3-compatible store.

The objects of a recording have the names of its files, `NAME/bodies.parquet`; its sums are written
last, so that a recording with sums is whole. What is encoded here is fetched first, and kept for a
while beside the folder in which workers write.
"""

import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cardan.service.recordings.checksums import SUMS, read_sums
from cardan.service.recordings.folder import remove_folder, sweep
from cardan.service.recordings.results import ResultsError, size_of

PARQUET = "application/vnd.apache.parquet"
# a folder that was asked for so lately may be being read
IN_USE_SECONDS = 600.0


class BucketResults:
    """Recordings below an address such as `s3://bucket/folder`."""

    shared = True

    def __init__(
        self,
        root: Path,
        address: str,
        options: Mapping[str, str],
        *,
        link_s: float,
        cache: Path,
        cache_bytes: int,
        settled_s: float = 86_400.0,
    ) -> None:
        """Workers write in `root`; `options` are `aws_endpoint_url`, `aws_access_key_id` and so on.

        Links are good for `link_s` seconds, 0: none are given. What is older than `settled_s` is
        committed, or never will be. Raises ResultsError.
        """
        if not address.startswith("s3://"):
            raise ResultsError(f"It must be s3://BUCKET/FOLDER, not {address}.")
        self.root = root
        self._address = address
        self._link_s = link_s
        self._settled_s = settled_s
        self._cache = cache
        self._cache_bytes = cache_bytes
        # what an earlier service has not kept
        sweep(root, frozenset())
        shutil.rmtree(cache, ignore_errors=True)
        for folder in (cache / "sums", cache / "whole"):
            folder.mkdir(parents=True)
        try:
            import obstore
            import obstore.store
        except ModuleNotFoundError as error:
            raise ResultsError(
                f"{error.name} is not installed; it comes with: pip install 'cardan[cluster]'."
            ) from error
        self._obstore: Any = obstore
        plain = options.get("aws_endpoint_url", "").startswith("http://")
        with self._named():
            self._store: Any = obstore.store.from_url(
                address, config=dict(options), client_options={"allow_http": plain}
            )

    def keep(self, name: str) -> None:
        """Write it to the bucket and remove it here."""
        here = self.root / name
        files = sorted(here.iterdir(), key=lambda file: (file.name == SUMS, file.name))
        sums = read_sums(here)
        with self._named():
            for file in files:
                about = {
                    "Content-Type": PARQUET if file.suffix == ".parquet" else "application/json",
                    "Content-Disposition": f'attachment; filename="{name}-{file.name}"',
                    "sha256": sums.get(file.name, ""),
                }
                self._obstore.put(self._store, f"{name}/{file.name}", file, attributes=about)
        shutil.rmtree(here, ignore_errors=True)

    def described(self, name: str) -> Path:
        """A folder with the sums alone."""
        return self._fetched(name, self._cache / "sums" / name, lambda: [f"{name}/{SUMS}"])

    def folder(self, name: str) -> Path:
        """A folder with all files."""
        whole = self._cache / "whole"
        if not self.described(name).exists():
            return whole / name
        path = self._fetched(name, whole / name, lambda: self._paths(name))
        self._trim(whole, path)
        return path

    def link(self, name: str, file: str) -> str | None:
        """An address with a signature, for GET."""
        if self._link_s <= 0.0:
            return None
        with self._named():
            for_ = timedelta(seconds=self._link_s)
            return str(self._obstore.sign(self._store, "GET", f"{name}/{file}", for_))

    def discard(self, name: str) -> None:
        """Remove the sums first: what is left is no recording any more."""
        remove_folder(self.root / name)
        for kept in ("sums", "whole"):
            remove_folder(self._cache / kept / name)
        with self._named():
            paths = self._paths(name)
            paths.sort(key=lambda path: not path.endswith(f"/{SUMS}"))
            for path in paths:
                # some stores say of one that is gone already that it is not there
                with suppress(self._obstore.exceptions.NotFoundError, FileNotFoundError):
                    self._obstore.delete(self._store, path)

    def size(self, name: str) -> int:
        """Size of the objects [bytes]."""
        with self._named():
            return sum(int(one["size"]) for one in self._obstore.list(self._store, name).collect())

    def sweep(self, referenced: frozenset[str]) -> list[str]:
        """Remove all others that are settled: what is younger may not be committed yet."""
        settled = datetime.now(UTC) - timedelta(seconds=self._settled_s)
        young: set[str] = set(referenced)
        names: set[str] = set()
        with self._named():
            for page in self._obstore.list(self._store):
                for one in page:
                    name = str(one["path"]).rpartition("/")[0]
                    (names if one["last_modified"] < settled else young).add(name)
        orphans = {name for name in names - young if _is_name(name)}
        for name in sorted(orphans):
            self.discard(name)
        return sorted(orphans)

    def _paths(self, name: str) -> list[str]:
        listed = self._obstore.list(self._store, name).collect()
        return [str(one["path"]) for one in listed]

    def _fetched(self, name: str, target: Path, paths: Callable[[], list[str]]) -> Path:
        """The folder with these objects, which appears whole; it does not if one is missing."""
        if target.exists():
            target.touch()
            return target
        temporary = target.with_name(f"tmp-{secrets.token_hex(8)}")
        temporary.mkdir()
        try:
            with self._named():
                for path in paths():
                    with (temporary / path.rpartition("/")[2]).open("wb") as file:
                        for piece in self._obstore.get(self._store, path):
                            file.write(piece)
            temporary.rename(target)
        except FileNotFoundError:
            return target
        except OSError:
            # somebody else has fetched it meanwhile
            if not target.exists():
                raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return target

    def _trim(self, folder: Path, newest: Path) -> None:
        """Remove the folders that were not asked for lately."""
        aged = sorted(_with_age(folder))
        total = sum(size_of(path) for _, path in aged)
        for age, path in aged:
            if total <= self._cache_bytes or path == newest or time.time() - age < IN_USE_SECONDS:
                return
            total -= size_of(path)
            remove_folder(path)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Say which store failed. Raises FileNotFoundError or ResultsError."""
        errors = self._obstore.exceptions
        try:
            yield
        except (errors.NotFoundError, FileNotFoundError) as error:
            raise FileNotFoundError(str(error)) from error
        except (errors.BaseError, ValueError) as error:
            said = str(error).partition("\n\nDebug source")[0]
            raise ResultsError(f"The store {self._address} cannot be used: {said}") from error


def _is_name(name: str) -> bool:
    """Whether it is the name of a recording: an attempt at a run, perhaps made again."""
    run_id, _, number = name.rpartition("-")
    return run_id.startswith("sim_") and number.isdecimal()


def _with_age(folder: Path) -> Iterator[tuple[float, Path]]:
    for path in folder.iterdir():
        if not path.name.startswith("tmp-"):
            yield path.stat().st_mtime, path
