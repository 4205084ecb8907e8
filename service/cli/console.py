"""Output of the command line, and its exit status."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from cardan.schemas import Fault

# exit status besides 0, done: results differ, invalid input, the simulation failed, it is not
# trusted, interrupted
DIFFERENT, INVALID, FAILED, DOUBTED, INTERRUPTED = 1, 2, 3, 4, 130

Tell = Callable[[float, str], None]


def out() -> Console:
    """The console for results."""
    return Console(file=sys.stdout, highlight=False, soft_wrap=True)


def err() -> Console:
    """The console for everything else: progress, faults, notes."""
    return Console(file=sys.stderr, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """A result for machines."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")


class ResultStream(io.TextIOWrapper):
    """Standard output that remembers what it could not write."""

    failure: OSError | None = None

    def write(self, text: str) -> int:
        """Write text. Raises OSError."""
        try:
            return super().write(text)
        except OSError as error:
            self.failure = error
            raise

    def flush(self) -> None:
        """Write what is kept back. Raises OSError."""
        try:
            super().flush()
        except OSError as error:
            self.failure = error
            raise


@contextmanager
def results_said() -> Iterator[None]:
    """Let a program end with a sentence and FAILED if standard output cannot be written.

    A pipe that nobody reads any more ends it with 1, in silence.
    """
    given = sys.stdout
    if given is None:
        # it was closed before the program began
        yield
        return
    stream = ResultStream(
        given.buffer,
        encoding=given.encoding,
        errors=given.errors,
        line_buffering=given.isatty(),
    )
    sys.stdout = stream
    try:
        yield
    finally:
        with suppress(OSError):
            stream.flush()
        if stream.failure is not None:
            # what is left would be written again when the interpreter ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            _end_without_output(stream.failure)


def _end_without_output(failure: OSError) -> NoReturn:
    if isinstance(failure, BrokenPipeError):
        sys.exit(1)
    reason = failure.strerror or failure
    err().print(f"[bold red]error[/]: standard output cannot be written: {reason}.")
    sys.exit(FAILED)


def stop(message: str, code: int = INVALID, *, as_json: bool = False, **more: Any) -> NoReturn:
    """End with a message."""
    if as_json:
        print_json({"status": "error", "detail": message, **more})
    else:
        err().print(f"[bold red]error[/]: {_plain(message)}")
    raise typer.Exit(code)


def stop_with_faults(faults: Iterable[Any], *, as_json: bool = False) -> NoReturn:
    """Print every fault with its pointer and end with 2."""
    listed = [as_fault(fault) for fault in faults]
    if as_json:
        print_json({"status": "invalid", "errors": [fault.model_dump() for fault in listed]})
    else:
        print_faults(listed, "error", "red")
        count = "1 fault" if len(listed) == 1 else f"{len(listed)} faults"
        err().print(f"[bold red]invalid input[/]: {count}")
    raise typer.Exit(INVALID)


def print_faults(faults: Iterable[Fault], kind: str, colour: str) -> None:
    """One block for faults that say the same: where, what is wrong, what to do."""
    from cardan.schemas import gathered

    console = err()
    for place, fault in gathered(faults):
        console.print(f"[{colour}]{kind}[/] [bold]{_plain(place)}[/]: {_plain(fault.message)}")
        if fault.hint:
            console.print(f"      {_plain(fault.hint)}", style="dim")


def print_warnings(texts: Iterable[Any]) -> None:
    """Print one line per warning of a run, with or without a terminal."""
    for text in texts:
        err().print(f"[yellow]warning[/]: {_plain(str(text))}")


def as_fault(value: Any) -> Fault:
    """A fault however it came."""
    from cardan.schemas import Fault

    if isinstance(value, Fault):
        return value
    return Fault.model_validate(dict(value))


def print_pairs(pairs: Mapping[str, Any]) -> None:
    """Names and values below each other."""
    width = max((len(name) for name in pairs), default=0)
    for name, value in pairs.items():
        shown = f"{value:.6g}" if isinstance(value, float) else str(value)
        out().print(f"[dim]{_plain(name):<{width}}[/]  {_plain(shown)}")


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns below their names, never cut: the first one to the left, the others to the right."""
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    for number, row in enumerate([head, *rows]):
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        out().print(_plain("  ".join(cells)), style="bold" if number == 0 else None)


# lines in place of a bar
LINES = 20


@contextmanager
def progress_bar(what: str, *, shown: bool = True, lines: bool = False) -> Iterator[Tell]:
    """A bar on a terminal: call with the share done, 0 to 1, and a note.

    Elsewhere it is silent, or with `lines` writes a line for every twentieth that is done.
    """
    console = err()
    if shown and lines and not console.is_terminal:
        told = -1

        def tell(share: float, note: str) -> None:
            nonlocal told
            if int(LINES * share) > told:
                told = int(LINES * share)
                console.print(f"{what}: {100 * share:3.0f} % {_plain(note)}")

        yield tell
        return
    if not shown or not console.is_terminal:
        yield lambda _share, _note: None
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>5.1f} %"),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task(what, total=1.0, note="")
        yield lambda share, note: bar.update(task, completed=share, note=note)


def _plain(text: str) -> str:
    """Text whose brackets are not markup."""
    return text.replace("[", r"\[")
