"""The verification report over HTTP."""

from pathlib import Path

REPORT = Path(__file__).parents[3] / "docs" / "verification"


def test_report_has_sections_with_rows(client):
    report = client.get("/v1/verification").json()
    names = [section["name"] for section in report["sections"]]
    assert {"examples", "joints", "closed-forms", "simbenchmark", "laws"} <= set(names)
    for section in report["sections"]:
        assert section["rows"], section["name"]
        assert all(row["asked"] and row["reached"] for row in section["rows"])


def test_every_plot_of_the_report_is_served_as_it_lies_there(client):
    report = client.get("/v1/verification").json()
    plots = [plot["name"] for section in report["sections"] for plot in section["plots"]]
    assert sorted(plots) == sorted(path.stem for path in REPORT.glob("*.svg"))
    for name in plots:
        answer = client.get(f"/v1/verification/plots/{name}")
        assert answer.headers["content-type"] == "image/svg+xml"
        assert answer.content == (REPORT / f"{name}.svg").read_bytes()
        assert len(answer.content) < 100_000
        again = client.get(answer.request.url, headers={"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304


def test_unknown_plot_is_a_problem(client):
    answer = client.get("/v1/verification/plots/..%2Freport")
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"
