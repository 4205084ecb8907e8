"""`cardan`: simulate, check, compare and serve from the command line.

SCENE is a path, `-` for standard input, or the name of an example; JSON or YAML.
Exit status: 0 done, 1 the results of `compare` differ, 2 invalid input (every fault printed), 3 the
simulation failed, or the problem of `solve` has no solution, 4 a run with `--strict` is not
trusted, 130 interrupted.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from cardan.service.cli import console

app = typer.Typer(
    name="cardan",
    help="Rigid multibody dynamics: run a scene, serve the API and the page.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

SceneArgument = Annotated[
    str, typer.Argument(metavar="SCENE", help="a path, - (standard input) or an example's name")
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="POINTER=VALUE", help="change a value, e.g. /simulation/dt=0.002"
    ),
]
Url = Annotated[str | None, typer.Option("--url", help="do it on this server")]
Json = Annotated[bool, typer.Option("--json", help="results for machines")]


def _print_version(asked: bool) -> None:
    """Print the version and end."""
    if asked:
        import cardan

        console.out().print(f"cardan {cardan.__version__}")
        raise typer.Exit


@app.callback()
def begin(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="show the version"),
    ] = False,
) -> None:
    """Options before the command."""


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on [127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="port [8000]")] = None,
    data: Annotated[Path | None, typer.Option(help="folder for the queue and recordings")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="log every request")] = False,
) -> None:
    """Serve the API and the page."""
    from cardan.service.cli import kernel_note
    from cardan.service.processes import starting

    compiled = kernel_note.is_current()
    # it loads the kernels while this process loads the service
    started = compiled and starting.start_fork_server()
    try:
        from cardan.service.cli.serving import serve as start

        start(host, port, data, verbose=verbose, compiled=compiled)
    finally:
        if started:
            starting.end_fork_server()


@app.command()
def run(
    scene: SceneArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help=".parquet .arrows .csv (bodies) .npz .json .h5 .mcap .glb .usda .html or a folder",
        ),
    ] = None,
    summary: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="write the summary as JSON")
    ] = None,
    changes: Changes = None,
    url: Url = None,
    as_json: Json = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="exit status 4 unless the verdict is `trusted`")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="run again with dt/2 and dt/4, and compare")
    ] = False,
) -> None:
    """Simulate a scene here, or on a server with --url."""
    from cardan.service.cli.running import RunOptions
    from cardan.service.cli.running import run as start

    start(RunOptions(scene, output, summary, changes or (), url, as_json, strict, verify))


@app.command()
def validate(scene: SceneArgument, changes: Changes = None, as_json: Json = False) -> None:
    """Say everything that is wrong with a scene, and what it would cost."""
    from cardan.engine import SceneError, preview
    from cardan.schemas import SceneInvalid, count_scene, scene_hash, scene_warnings
    from cardan.service.cli.scene_source import read_scene

    try:
        checked, _ = read_scene(scene, changes or ())
        ahead = preview(checked)
    except SceneInvalid as error:
        console.stop_with_faults(error.errors, as_json=as_json)
    except SceneError as error:
        console.stop_with_faults(error.errors, as_json=as_json)
    warnings = scene_warnings(checked)
    counts = count_scene(checked).model_dump()
    if as_json:
        listed = [warning.model_dump() for warning in warnings]
        found: dict[str, Any] = {"valid": True, "warnings": listed, "counts": counts}
        found["preview"] = ahead
        console.print_json(found | {"scene_hash": scene_hash(checked)})
        return
    console.print_faults(warnings, "warning", "yellow")
    console.print_pairs({"valid": checked.name or scene, **counts, **preview_words(ahead)})


def preview_words(ahead: dict[str, Any]) -> dict[str, Any]:
    """A preview as pairs of words and values; without what there is nothing to say of."""
    redundant = [f"{one['joint']} ({one['equations']})" for one in ahead["redundant"]]
    overlaps = [
        f"{one['body']} and {one['other_body']} by {one['depth']:.3g} m"
        for one in ahead["overlaps"]
    ]
    remedies = {one["remedy"] for one in ahead["overlaps"] if one["remedy"]}
    steps = {f"largest dt by {what} [s]": dt for what, dt in ahead["steps"].items()}
    said = {
        "degrees of freedom": ahead["degrees_of_freedom"],
        "redundant equations": ", ".join(redundant) or None,
        "overlap at the start": ", ".join(overlaps) or None,
        "remedy of overlaps": ", ".join(sorted(remedies)) or None,
        "hang on nothing": ", ".join(ahead["loose"]) or None,
        **steps,
    }
    return {words: value for words, value in said.items() if value is not None}


@app.command("import")
def import_(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="a .urdf, an MJCF .xml, a scene that names mesh files, or a .zip of one of them",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="scene as JSON [standard output]")
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="OPTION=VALUE",
            help="root=free, links=kept, keyframe=NAME, drives=position, ground=true, "
            "visuals=false, formulation=reduced, main=PATH",
        ),
    ] = None,
    packages: Annotated[
        list[Path] | None, typer.Option(help="a folder with the packages of package://")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a scene of a URDF or MJCF model, and say what is not the same."""
    from cardan.service.cli.importing import import_model

    import_model(source, output, packages or [], options or [], as_json=as_json)


@app.command()
def batch(
    source: Annotated[Path, typer.Argument(metavar="BATCH", help="JSON or YAML file, or -")],
    output: Annotated[Path, typer.Option("--output", "-o", help=".parquet, .csv or .json")],
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Run all variants of a scene; the results become one table, one row per run."""
    from cardan.service.cli.batching import batch as start

    start(source, output, url, as_json=as_json)


@app.command()
def solve(
    problem: Annotated[
        Path, typer.Argument(metavar="PROBLEM", help="a .json or .npz file, or - (JSON)")
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            "--type",
            help="linear, lcp, mixed_lcp, box_lcp, coulomb, ccp, cone, lp or qp [the file's own]",
        ),
    ] = None,
    method: Annotated[str | None, typer.Option(help="solver method [auto]")] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="residual as a share of the largest |b| [1e-8]")
    ] = None,
    max_iterations: Annotated[
        int | None, typer.Option(help="largest number of iterations [the method's own]")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="lam, w and all else into a .npz or .json file"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Solve a complementarity problem; what it came to is printed as JSON, vectors only into OUT.

    PROBLEM has `type`, `A` (or M, W: rows of numbers, or CSR `data`, `indices`, `indptr`), `b` (or
    q), and by type `lo` and `hi` (null: unbounded), `equations`, `mu` and `dim` (a contact's rows,
    normal first), and perhaps `solver` {method, tolerance, max_iterations}. In .npz a sparse matrix
    is A_data, A_indices, A_indptr (or W_data ...), and contacts are of type coulomb unless
    --type says otherwise.

    Exit status: 0 with a solution; 3 without, where `status` is `no_solution` if that is proved,
    else `not_found`; 2 invalid input.
    """
    from cardan.service.cli.solving import SolveOptions
    from cardan.service.cli.solving import solve as start

    chosen = {"method": method, "tolerance": tolerance, "max_iterations": max_iterations}
    start(SolveOptions(problem, kind, chosen, output, as_json))


@app.command()
def statics(
    scene: SceneArgument,
    changes: Changes = None,
    search: Annotated[
        bool, typer.Option("--search/--as-it-stands", help="look for an equilibrium beside it")
    ] = True,
    tilt: Annotated[
        tuple[float, float, float] | None,
        typer.Option(metavar="X Y Z", help="how far gravity may turn towards this direction"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Find the equilibrium of a scene, its reactions, its stability.

    Exit status: 0 in equilibrium, 3 without, 2 invalid input.
    """
    from cardan.service.cli.mechanics import statics as start

    start(scene, changes or (), search=search, tilt=tilt, as_json=as_json)


@app.command()
def linearize(scene: SceneArgument, changes: Changes = None, as_json: Json = False) -> None:
    """Show the eigenvalues of a scene about its start: frequencies, damping, modes.

    --json prints all: A, B, C, D, names of coordinates, shapes.
    """
    from cardan.service.cli.mechanics import linearize as start

    start(scene, changes or (), as_json=as_json)


@app.command()
def examples(
    name: Annotated[str | None, typer.Argument(help="print this one")] = None,
    as_json: Json = False,
) -> None:
    """List the examples, or print one."""
    from cardan.schemas import load_scene
    from cardan.schemas.examples import example_names, example_text

    if name is not None:
        if name not in example_names():
            console.stop(f"There is no example {name!r}; there are {', '.join(example_names())}.")
        typer.echo(example_text(name).decode())
        return
    found = {item: load_scene(example_text(item)) for item in example_names()}
    if as_json:
        console.print_json(
            [{"name": key, "description": scene.description} for key, scene in found.items()]
        )
        return
    console.print_pairs({key: scene.description for key, scene in found.items()})


@app.command()
def warmup(as_json: Json = False) -> None:
    """Compile every kernel now, so that nothing waits later."""
    from cardan.service.cli.compiling import compile_kernels

    with console.progress_bar("Compiling kernels", shown=not as_json, lines=True) as tell:
        seconds = compile_kernels(lambda done, total, what: tell(done / max(total, 1), what))
    if as_json:
        console.print_json({"seconds": seconds})
    else:
        console.out().print(f"Kernels ready after {seconds:.1f} s.")


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check that everything needed is here and works."""
    from cardan.service.cli.doctoring import doctor as look

    if not look(as_json=as_json):
        raise typer.Exit(console.FAILED)


@app.command()
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="a recording or a scene")],
    b: Annotated[str, typer.Argument(metavar="B", help="a recording or a scene")],
    tolerance: Annotated[
        float | None, typer.Option(min=0.0, help="end with 1 when a difference is larger")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the largest and RMS difference per channel, and the first step that differs."""
    from cardan.service.cli.comparing import compare as show

    found = show(a, b, tolerance or 0.0, as_json=as_json)
    if tolerance is not None and any(difference.largest > tolerance for difference in found):
        raise typer.Exit(console.DIFFERENT)


def main() -> None:
    """Enter from the console script."""
    with console.results_said():
        app()


if __name__ == "__main__":
    main()
