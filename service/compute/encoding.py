"""In a worker process: a stored recording, or a part of it, as one file of a format."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cardan.service.compute import messages as m
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.recordings.checksums import DamagedError, check_sums
from cardan.service.recordings.formats import FORMATS, FormatError, write
from cardan.service.recordings.motion import EmptyPartError, NoMotionError
from cardan.service.recordings.slices import SliceError, cut_chunks
from cardan.service.recordings.sources import Recording, stored
from cardan.service.recordings.tables import TABLES

# characters of a number and its separator, at least; bytes of one, of an index to a name
LEAST_BYTES = {"npz": 8, "json": 2, "csv": 2, "arrow": 4, "hdf5": 4}


class _FullError(Exception):
    """The file exceeds what one download may have."""


class _CappedFile(io.FileIO):
    """A file that refuses to grow beyond a limit."""

    def __init__(self, path: Path, most: int) -> None:
        super().__init__(path, "wb")
        self._most = most

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > self._most:
            raise _FullError
        return super().write(data)


def verify(order: m.VerifyOrder) -> m.Verified:
    """Compare files with the sums that were stored with them. Raises ServiceError."""
    folder = Path(order.folder)
    try:
        check_sums(folder, order.names)
    except DamagedError as error:
        raise damaged(error) from error
    except FileNotFoundError as error:
        raise gone() from error
    return m.Verified()


def encode(order: m.EncodeOrder) -> m.Verified:
    """Write the file of an order. Raises ServiceError."""
    folder = Path(order.folder)
    form = FORMATS[order.form]
    wanted = order.part.tables() if form.whole else (order.table,)
    # frames are counted over all tables: a single table may lack some
    read = TABLES if order.part.stride > 1 else wanted
    names = [f"{name}.parquet" for name in read if (folder / f"{name}.parquet").exists()]
    verify(m.VerifyOrder(order.folder, names))
    try:
        recording = cut_chunks(_opened(folder, read), order.part)
        _refuse_size(recording, order)
        file = _CappedFile(Path(order.target), order.most_bytes)
        with io.BufferedWriter(file, 1024 * 1024) as sink:
            write(recording, form, order.table, sink)
    except SliceError as error:
        raise refused_slice(error) from error
    except EmptyPartError as error:
        message = "No recorded time lies between `from` and `to`."
        raise refused_slice(SliceError("from", message, order.part.start)) from error
    except NoMotionError as error:
        if order.part.channels and "pose" not in order.part.channels:
            found = ",".join(order.part.channels)
            message = f"The format {form.name} needs the channel pose; found {found}."
            raise refused_slice(SliceError("channels", message, found)) from error
        raise ServiceError(ErrorCode.NO_SUCH_TABLE, str(error)) from error
    except FormatError as error:
        raise ServiceError(ErrorCode.NO_SUCH_TABLE, str(error)) from error
    except _FullError as error:
        raise _too_large(order) from error
    return m.Verified()


def _opened(folder: Path, tables: Sequence[str]) -> Recording:
    """Some tables of a recording, all of them open. Raises ServiceError."""
    try:
        recording = stored(folder, tables)
    except FileNotFoundError as error:
        raise gone() from error
    if not folder.is_dir():
        # some of them may have been removed before they were opened
        raise gone()
    return recording


def refused_slice(error: SliceError) -> ServiceError:
    """Return the error of an impossible slice."""
    pointer = f"/query/{error.field}"
    detail = f"The request has 1 fault. {pointer}: {error}"
    fault = {
        "pointer": pointer,
        "code": "invalid_slice",
        "message": str(error),
        "got": error.got,
        "hint": None,
    }
    return ServiceError(ErrorCode.INVALID_SLICE, detail, errors=[fault])


def damaged(error: DamagedError) -> ServiceError:
    """Return the error of a recording whose files are not those that the run wrote."""
    return ServiceError(ErrorCode.RESULT_DAMAGED, f"The recording is damaged: {error}.")


def gone() -> ServiceError:
    """Return the error of a recording whose files were removed behind the service."""
    return ServiceError(ErrorCode.RESULT_GONE, "The files of this recording were removed.")


def _refuse_size(recording: Recording, order: m.EncodeOrder) -> None:
    """Refuse at once what cannot be small enough."""
    chosen = [
        source
        for name, source in recording.sources.items()
        if FORMATS[order.form].whole or name == order.table
    ]
    numbers = sum(source.num_rows * len(source.schema.names) for source in chosen)
    if numbers * LEAST_BYTES.get(order.form, 0) > order.most_bytes:
        raise _too_large(order)


def _too_large(order: m.EncodeOrder) -> ServiceError:
    return ServiceError(
        ErrorCode.DOWNLOAD_TOO_LARGE,
        f"As {order.form} this would be more than {order.most_bytes} bytes, the limit of one "
        "download. Ask for less (from, to, stride, bodies, channels), or for whole tables as "
        "Parquet, which are sent as they are stored.",
        limit_bytes=order.most_bytes,
    )
