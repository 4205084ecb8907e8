import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cardan import __version__
from cardan.schemas.examples import example_names
from cardan.service.cli import console
from tests.cli.conftest import SCENE
from tests.service.real_server import wait_for


def test_examples_are_listed_and_printed(cardan):
    listed = json.loads(cardan("examples", "--json").stdout)
    assert [item["name"] for item in listed] == example_names()
    assert json.loads(cardan("examples", "pile").stdout)["name"] == "pile"
    assert cardan("examples", "pie").exit_code == 2


def test_the_version_is_told(cardan):
    assert cardan("--version").stdout == f"cardan {__version__}\n"


def test_validate_counts_and_warns(cardan, scene_file):
    result = cardan("validate", scene_file, "--json")
    assert result.exit_code == 0
    said = json.loads(result.stdout)
    assert said["valid"] is True
    assert (said["counts"]["bodies"], said["counts"]["steps"]) == (3, 50)


@pytest.mark.parametrize("name", example_names())
def test_every_example_is_valid(cardan, name):
    assert cardan("validate", name).exit_code == 0


def test_a_recording_equals_itself_and_its_own_repetition(cardan, scene_file, tmp_path):
    for name in ("a", "b"):
        cardan("run", scene_file, "-o", tmp_path / name)
    result = cardan("compare", tmp_path / "a" / "bodies.parquet", tmp_path / "b" / "bodies.parquet",
                    "--tolerance", "0", "--json")  # fmt: skip
    assert result.exit_code == 0
    found = json.loads(result.stdout)["differences"]
    assert len(found) == 13
    assert all(d["largest"] == d["rms"] == 0.0 and d["first_step"] is None for d in found)


def test_compare_finds_where_two_runs_part(cardan, scene_file, tmp_path):
    cardan("run", scene_file, "-o", tmp_path / "a.npz")
    # the same but for a later push: equal until then
    changed = json.loads(json.dumps(SCENE))
    changed["forces"] = [
        {
            "type": "wrench",
            "body": "ball",
            "force": {
                "times": [0, 0.05],
                "values": [[0, 0, 0], [1, 0, 0]],
                "interpolation": "step",
            },
        }
    ]
    (tmp_path / "b.json").write_text(json.dumps(changed))
    result = cardan("compare", tmp_path / "a.npz", tmp_path / "b.json", "--json")
    assert result.exit_code == 0, result.stderr
    found = {(d["table"], d["column"]): d for d in json.loads(result.stdout)["differences"]}
    vx = found["bodies", "vx"]
    assert vx["unit"] == "m/s"
    assert 25 < vx["first_step"] <= 30
    assert 0 < vx["rms"] < vx["largest"]
    assert found["joints", "q"]["largest"] == 0.0
    assert cardan("compare", tmp_path / "a.npz", tmp_path / "b.json",
                  "--tolerance", "1e-6").exit_code == 1  # fmt: skip
    text = cardan("compare", tmp_path / "a.npz", tmp_path / "b.json").stdout
    assert "They part at step" in text


@pytest.mark.parametrize(
    ("steps", "rows"),
    [
        (((0.002, 5), (0.001, 5)), 33),
        # 10 * 0.0011 and 11 * 0.001 are one moment, and two numbers
        (((0.0011, 10), (0.001, 11)), 30),
    ],
)
def test_compare_takes_rows_of_one_time_where_the_steps_differ(
    cardan, scene_file, tmp_path, steps, rows
):
    for name, (dt, every) in zip("ab", steps, strict=True):
        cardan("run", scene_file, "--set", f"/simulation/dt={dt}", "--set",
               f"/record/every={every}", "-o", tmp_path / f"{name}.npz")  # fmt: skip
    result = cardan("compare", tmp_path / "a.npz", tmp_path / "b.npz", "--json")
    assert result.exit_code == 0, result.stderr
    said = json.loads(result.stdout)
    assert said["notes"][0] == "their time steps differ: rows of the same time are compared"
    found = {(d["table"], d["column"]): d for d in said["differences"]}
    # the error of the step; in half the time a falling bob has half the speed
    assert found["bodies", "vz"]["largest"] < 1e-4
    assert found["bodies", "vz"]["rows"] == rows


def test_compare_names_the_endings_of_recordings(cardan, tmp_path):
    """A file of another one that is no scene either is not called JSON with a fault."""
    for name, said in (("a.mp4", ".npz"), ("a.json", "not JSON")):
        (tmp_path / name).write_bytes(b"\x00\x01 film")
        result = cardan("compare", tmp_path / name, "double-pendulum")
        assert result.exit_code == 2
        assert said in result.stderr
        assert (".npz" in result.stderr) == (said == ".npz")


def test_compare_says_that_nothing_is_common(cardan, scene_file, tmp_path):
    """No row in both is no agreement."""
    for name in ("double-pendulum", scene_file):
        cardan(
            "run", name, "--set", "/simulation/duration=0.1", "-o", tmp_path / f"{len(str(name))}"
        )
    one, other = sorted(tmp_path.glob("[0-9]*"))
    result = cardan("compare", one / "bodies.parquet", other / "bodies.parquet")
    assert result.exit_code == 2
    assert "share no row" in result.stderr
    assert "No difference" not in result.stdout


def test_compare_refuses_what_is_no_recording(cardan, tmp_path):
    (tmp_path / "x.parquet").write_text("no")
    assert cardan("compare", tmp_path / "x.parquet", tmp_path / "x.parquet").exit_code == 2
    assert cardan("compare", "nothing-here", "pile").exit_code == 2
    assert cardan("compare", "x" * 300, "pile").exit_code == 2


@pytest.mark.parametrize("ending", [".npz", ".h5", ".arrows", ".parquet"])
def test_compare_reads_what_can_be_read_back_and_says_so_of_the_rest(
    cardan, scene_file, tmp_path, ending
):
    whole, part = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    assert cardan("run", scene_file, "-o", whole).exit_code == 0
    result = cardan("compare", whole, whole)
    assert result.exit_code == 0, result.stderr
    part.write_bytes(whole.read_bytes()[:1500])
    result = cardan("compare", whole, part)
    assert result.exit_code == 2
    assert "cannot be read as a recording" in result.stderr


@pytest.mark.parametrize("ending", [".glb", ".mcap"])
def test_compare_says_of_a_motion_that_it_is_not_read_back(cardan, scene_file, tmp_path, ending):
    out = tmp_path / f"a{ending}"
    assert cardan("run", scene_file, "-o", out).exit_code == 0
    assert "not read back" in cardan("compare", out, out).stderr


@pytest.mark.e2e
def test_a_batch_becomes_a_table_without_a_server(program, scene_file, tmp_path):
    ask = {
        "scene": scene_file.name,
        "variations": {"/bodies/1/mass": [1.0, 2.0], "/gravity": [[0, 0, -9.81], [0, 0, -1.62]]},
        "metrics": ["energy.final", "state_hash"],
    }
    (tmp_path / "batch.json").write_text(json.dumps(ask))
    out = tmp_path / "results.parquet"
    result = program("batch", tmp_path / "batch.json", "-o", out)
    # slots that end before their worker has started are no fault
    assert "no worker" not in result.stderr
    assert result.returncode == 0, result.stderr
    table = pq.read_table(out)
    assert table["/bodies/1/mass"].to_pylist() == [1.0, 1.0, 2.0, 2.0]
    # a vector stands in one cell, as JSON
    assert table["/gravity"].to_pylist() == ["[0,0,-9.81]", "[0,0,-1.62]"] * 2
    assert table["status"].to_pylist() == ["succeeded"] * 4
    assert len(set(table["state_hash"].to_pylist())) == 4


@pytest.mark.e2e
def test_a_batch_comes_from_standard_input(cardan, scene_file, tmp_path):
    ask = f"scene: {scene_file}\nvariations: {{/bodies/1/mass: [1.0, 2.0]}}\n"
    out = tmp_path / "results.csv"
    result = cardan("batch", "-", "-o", out, text=ask)
    assert result.exit_code == 0, result.stderr
    assert len(out.read_text().splitlines()) == 3


@pytest.mark.e2e
def test_a_batch_runs_where_the_folder_of_temporary_files_has_a_long_name(
    program, scene_file, tmp_path, monkeypatch
):
    """Addresses of sockets have at most 107 bytes: that of the fork server lies elsewhere then."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    ask = {"scene": scene_file.name, "variations": {"/bodies/1/mass": [1.0, 2.0]}}
    (tmp_path / "batch.json").write_text(json.dumps(ask))
    result = program("batch", tmp_path / "batch.json", "-o", tmp_path / "results.csv")
    assert result.returncode == 0, result.stderr
    assert not list(folder.iterdir())


def _interrupted_batch(tmp_path, ask, began):
    """Exit status and messages of a batch that gets Ctrl+C once `began` is true of its folder."""
    (tmp_path / "batch.json").write_text(json.dumps(ask))
    arguments = ["batch", tmp_path / "batch.json", "-o", tmp_path / "results.csv"]
    # addresses of sockets have 107 characters, and folders of tests are long
    with (
        tempfile.TemporaryDirectory(prefix="batch-") as temporary,
        subprocess.Popen(
            [sys.executable, "-m", "cardan.service.cli", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": temporary},
            start_new_session=True,
        ) as process,
    ):
        try:
            wait_for(lambda: began(Path(temporary)), what="the batch")
            # a terminal tells all processes of the program
            os.killpg(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    for unwanted in ("Traceback", "KeyboardInterrupt", "no worker"):
        assert unwanted not in errors
    return process.returncode, errors


@pytest.mark.e2e
def test_an_interrupted_batch_keeps_the_runs_that_ended(tmp_path):
    ask = {"scene": SCENE, "variations": {"/simulation/duration": [0.1, 0.2, *[20_000.0] * 30]}}
    ask["overrides"] = {"/record/every": 100_000}
    code, errors = _interrupted_batch(
        tmp_path, ask, lambda folder: len(list(folder.glob("cardan-*/results/*"))) >= 2
    )
    assert code == console.INTERRUPTED, errors
    rows = list(csv.DictReader((tmp_path / "results.csv").read_text().splitlines()))
    assert [row["status"] for row in rows] == ["succeeded"] * 2 + ["cancelled"] * 30
    assert "2 of 32 runs had ended" in errors


@pytest.mark.e2e
def test_a_batch_that_is_interrupted_while_processes_start_ends_quietly(tmp_path):
    ask = {"scene": SCENE, "variations": {"/bodies/1/mass": [1.0, 2.0]}}
    code, errors = _interrupted_batch(
        tmp_path, ask, lambda folder: list(folder.glob("pymp-*/listener*"))
    )
    assert (code, errors) == (console.INTERRUPTED, "")


@pytest.mark.e2e
def test_a_wrong_batch_ends_with_2(program, tmp_path):
    ask = {"scene": SCENE, "variations": {"/bodies/1/mass": [1.0, -2.0]}}
    (tmp_path / "batch.json").write_text(json.dumps(ask))
    result = program("batch", tmp_path / "batch.json", "-o", tmp_path / "r.csv")
    assert result.returncode == 2
    assert "/variations/~1bodies~11~1mass/1" in result.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_serve_refuses_to_be_open_to_everybody(cardan, tmp_path, host):
    result = cardan("serve", "--host", host, "--data", tmp_path)
    assert result.exit_code == 2
    assert "CARDAN_API_KEY" in result.stderr


def test_the_doctor_finds_all_well(program):
    result = program("doctor", "--json")
    findings = {one["what"]: one for one in json.loads(result.stdout)["findings"]}
    for what in ("Python", "packages", "SQLite", "engine"):
        assert findings[what]["good"], findings[what]


def test_progress_without_a_terminal_is_few_lines(capsys):
    with console.progress_bar("Compiling kernels", lines=True) as tell:
        for done in range(1751):
            tell(done / 1750, f"kernel[{done}]")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[0] == "Compiling kernels:   0 % kernel[0]"
    assert lines[-1] == "Compiling kernels: 100 % kernel[1750]"
