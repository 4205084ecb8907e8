"""`cardan solve`: documents and arrays in, JSON out, vectors only into OUT, and how it ends."""

import json

import numpy as np
import pytest
import scipy.sparse

LCP = {"type": "lcp", "A": [[2, 1], [1, 2]], "b": [-5, -6]}
SLIDING = {"type": "coulomb", "A": [[1, 0], [0, 1]], "b": [-1, 2], "mu": [0.5], "dim": 2}
CSR = {"data": [2, 1, 1, 2], "indices": [0, 1, 0, 1], "indptr": [0, 2, 4]}
PROBLEMS = [
    (LCP, [4 / 3, 7 / 3]),
    ({"type": "lcp", "M": CSR, "q": [-5, -6]}, [4 / 3, 7 / 3]),
    ({"problem": LCP, "solver": {"method": "lemke"}}, [4 / 3, 7 / 3]),
    ({"type": "linear", "A": [[2, 0], [0, 4]], "b": [2, 4]}, [1, 1]),
    ({**LCP, "type": "mixed_lcp", "lo": [None, 0]}, [4 / 3, 7 / 3]),
    ({**LCP, "type": "box_lcp", "lo": [0, 0], "hi": [1, None]}, [1, 2.5]),
    (SLIDING, [1, -0.5]),
]


@pytest.fixture
def ask(cardan, tmp_path):
    """Solve a document; exit code, what was printed, what is in OUT."""

    def call(document, *options):
        source, out = tmp_path / "problem.json", tmp_path / "out.json"
        source.write_text(json.dumps(document))
        result = cardan("solve", source, "-o", out, "--json", *options)
        found = json.loads(out.read_text()) if out.exists() else None
        return result.exit_code, json.loads(result.stdout), found

    return call


@pytest.mark.parametrize(("document", "lam"), PROBLEMS, ids=lambda value: str(value)[:40])
def test_both_vocabularies_are_one(ask, document, lam):
    code, said, found = ask(document)
    assert code == 0
    assert said["status"] == "solved"
    assert {"method", "iterations", "residual", "coulomb_error", "seconds", "history"} <= set(said)
    assert not {"lam", "w", "x"} & set(said)
    assert found["lam"] == pytest.approx(lam, abs=1e-7)
    assert said["residual"] <= 1e-8 * 6


def test_options_win_over_the_file(ask):
    document = {**LCP, "solver": {"method": "lemke", "tolerance": 1e-3}}
    assert ask(document)[1]["method"] == "lemke"
    assert ask(document, "--method", "gauss_seidel")[1]["method"] == "gauss_seidel"
    assert ask(document, "--type", "linear")[2]["lam"] == pytest.approx([-4 / 3, -7 / 3])
    few = ask(document, "--method", "gauss_seidel", "--max-iterations", "1", "--tolerance", "1e-12")
    assert few[0] == 3
    assert (few[1]["status"], few[1]["iterations"]) == ("not_found", 1)


def test_without_a_solution_it_ends_with_3_and_a_proof(ask):
    code, said, found = ask({"type": "lcp", "M": [[-1]], "q": [-1]})
    assert (code, said["status"]) == (3, "no_solution")
    # y >= 0, -y <= 0, y (-x - 1) < 0
    assert found["certificate"] == [1.0]
    code, said, found = ask({"type": "lcp", "M": [[0, 1], [0, 0]], "q": [-1, 1]})
    assert (code, said["status"], found["certificate"]) == (3, "not_found", None)


def test_arrays_of_the_friction_collections(cardan, tmp_path):
    W = scipy.sparse.csr_matrix(np.diag([1.0, 1.0, 1.0, 2.0, 2.0, 2.0]))
    source, out = tmp_path / "contacts.npz", tmp_path / "out.npz"
    q = np.array([-1.0, 2.0, 0.0, -1.0, 0.0, -0.1])
    np.savez(source, W_data=W.data, W_indices=W.indices, W_indptr=W.indptr, q=q, mu=[0.5, 0.3],
             dim=3, r_ref=np.zeros(6), ref_err=0.0)  # fmt: skip
    result = cardan("solve", source, "-o", out)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["coulomb_error"] <= 1e-8
    found = np.load(out, allow_pickle=False)
    assert found["lam"] == pytest.approx([1.0, -0.5, 0.0, 0.5, 0.0, 0.05], abs=1e-7)
    assert found["w"] == pytest.approx(W @ found["lam"] + q)
    assert str(found["status"]) == "solved"
    relaxed = cardan("solve", source, "--type", "ccp")
    assert json.loads(relaxed.stdout)["coulomb_error"] > 0.1


def test_infinite_bounds_of_arrays_are_none(cardan, tmp_path):
    source, out = tmp_path / "box.npz", tmp_path / "out.npz"
    np.savez(source, A=np.eye(2), b=[-3.0, 3.0], lo=[-np.inf, -1.0], hi=[2.0, np.inf])
    assert cardan("solve", source, "--type", "box_lcp", "-o", out).exit_code == 0
    assert list(np.load(out)["lam"]) == [2.0, -1.0]


def test_all_faults_are_listed_with_their_places(ask):
    document = {"type": "box_lcp", "M": [[1, 2], [3]], "q": [1, 2], "lo": [0], "hi": [1, 2, 3]}
    code, said, _ = ask(document)
    assert code == 2
    assert [fault["pointer"] for fault in said["errors"]] == ["/M", "/lo", "/hi"]
    code, said, _ = ask({"problem": {**SLIDING, "mu": [-1], "dim": 4}, "solver": {"method": "?"}})
    assert code == 2
    places = {fault["pointer"] for fault in said["errors"]}
    assert places == {"/problem/mu/0", "/problem/dim", "/solver/method"}


def test_pickled_arrays_and_other_files_are_refused(cardan, tmp_path):
    source = tmp_path / "pickled.npz"
    np.savez(source, A=np.array([[{}]], dtype=object))
    assert cardan("solve", source).exit_code == 2
    (tmp_path / "torn.npz").write_bytes(b"PK\x03\x04 torn")
    assert cardan("solve", tmp_path / "torn.npz").exit_code == 2
    assert cardan("solve", tmp_path / "missing.json").exit_code == 2
    assert cardan("solve", tmp_path / "problem.txt").exit_code == 2
    (tmp_path / "lcp.json").write_text(json.dumps(LCP))
    assert cardan("solve", tmp_path / "lcp.json", "-o", tmp_path / "out.csv").exit_code == 2


def test_a_problem_comes_from_standard_input(cardan):
    result = cardan("solve", "-", text=json.dumps(LCP))
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["status"] == "solved"
    refused = cardan("solve", "-", "--type", "lcp", text="")
    assert refused.exit_code == 2
    assert "syntax" in cardan("solve", "-", "--json", text="{").stdout
