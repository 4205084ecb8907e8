"""One contract for recordings in a folder and in a bucket."""

import httpx
import pytest

from cardan.service.recordings.bucket import BucketResults
from cardan.service.recordings.checksums import FilesWithSums, check_sums, read_sums
from cardan.service.recordings.folder import TEMPORARY
from cardan.service.recordings.results import FolderResults, ResultsError
from cardan.service.recordings.sizes import RecordingSizes

BODIES = bytes(range(256)) * 400


@pytest.fixture
def bucket_results(request, tmp_path):
    server = request.getfixturevalue("bucket")
    address, number = server.folder(), iter(range(9))

    def opened(address=address, settled_s=0.0, here=None):
        """What another machine has: the same bucket, a folder and a cache of its own."""
        here = here or tmp_path / f"machine {next(number)}"
        (here / "results").mkdir(parents=True, exist_ok=True)
        options = {name.lower(): value for name, value in server.environ.items()}
        about = {"link_s": 60.0, "cache": here / "fetched", "cache_bytes": 10_000_000}
        return BucketResults(here / "results", address, options, settled_s=settled_s, **about)

    return opened


@pytest.fixture(params=["folder", "bucket"])
def results(request, tmp_path):
    if request.param == "bucket":
        return request.getfixturevalue("bucket_results")()
    (tmp_path / "results").mkdir()
    return FolderResults(tmp_path / "results")


def written(results, name):
    folder = results.root / name
    folder.mkdir()
    with FilesWithSums(folder) as files:
        for file, data in (("bodies.parquet", BODIES), ("summary.json", b"{}")):
            with files.open(file) as sink:
                sink.write(data)
        files.finish()
    results.keep(name)
    return name


def test_what_is_kept_is_there_whole(results):
    name = written(results, "sim_a-1")
    assert set(read_sums(results.described(name))) == {"bodies.parquet", "summary.json"}
    folder = results.folder(name)
    assert folder.name == name
    assert (folder / "bodies.parquet").read_bytes() == BODIES
    check_sums(folder, ["bodies.parquet", "summary.json"])
    assert results.size(name) == sum(file.stat().st_size for file in folder.iterdir())


def test_what_is_not_there_is_no_error(results):
    assert not results.described("sim_b-1").exists()
    assert not results.folder("sim_b-1").exists()
    assert results.size("sim_b-1") == 0
    results.discard("sim_b-1")


def test_what_a_killed_writer_left_goes_with_its_recording(results):
    name, other = "sim_a-1", written(results, "sim_a-2")
    for left in (f"{TEMPORARY}{name}", f"{TEMPORARY}{other}"):
        (results.root / left).mkdir()
        (results.root / left / "bodies.parquet").write_bytes(BODIES)
    results.discard(name)
    assert not (results.root / f"{TEMPORARY}{name}").exists()
    assert (results.root / f"{TEMPORARY}{other}").exists()


def test_what_is_discarded_is_gone(results):
    name, other = written(results, "sim_a-1"), written(results, "sim_a-11")
    assert results.folder(name).exists()
    results.discard(name)
    assert not results.described(name).exists()
    assert not results.folder(name).exists()
    assert results.size(name) == 0
    assert results.folder(other).exists()


def test_what_another_service_removes_at_once_is_gone_too(bucket_results, monkeypatch):
    """S3 says nothing of an object that is not there, other stores do."""
    results = bucket_results()
    store = results._obstore
    delete = store.delete

    def late(bucket, path):
        delete(bucket, path)
        raise store.exceptions.NotFoundError(path)

    monkeypatch.setattr(store, "delete", late)
    results.discard(written(results, "sim_a-1"))
    assert results.size("sim_a-1") == 0


def test_a_sweep_leaves_what_rows_refer_to(results):
    kept, orphan = written(results, "sim_a-1"), written(results, "sim_b-2-17")
    removed = results.sweep(frozenset({kept}))
    assert orphan in removed
    assert kept not in removed
    assert not results.folder(orphan).exists()
    assert results.folder(kept).exists()


def test_what_was_not_kept_is_gone_when_a_service_starts_again(bucket_results):
    here = bucket_results()
    (here.root / "sim_a-1").mkdir()
    (here.root / "sim_a-1" / "bodies.parquet").write_bytes(BODIES)
    again = bucket_results(here=here.root.parent)
    assert not list(again.root.iterdir())
    assert not again.folder("sim_a-1").exists()


def test_a_sweep_leaves_what_other_machines_work_on(bucket_results):
    here, there = bucket_results(settled_s=60.0), bucket_results()
    # its row is not committed yet
    written(there, "sim_open-3")
    assert here.sweep(frozenset()) == []
    assert here.folder("sim_open-3").exists()
    assert there.sweep(frozenset()) == ["sim_open-3"]


def test_a_link_offers_the_file_and_its_ranges_without_a_key(bucket_results):
    results = bucket_results()
    link = results.link(written(results, "sim_a-1"), "bodies.parquet")
    assert link is not None
    whole = httpx.get(link)
    assert whole.content == BODIES
    assert (
        whole.headers["x-amz-meta-sha256"]
        == read_sums(results.described("sim_a-1"))["bodies.parquet"]
    )
    assert "sim_a-1-bodies.parquet" in whole.headers["content-disposition"]
    part = httpx.get(link, headers={"Range": "bytes=1000-1999", "If-Range": whole.headers["etag"]})
    assert (part.status_code, part.content) == (206, BODIES[1000:2000])
    # what was signed is this file
    assert results.link("sim_a-1", "summary.json") not in (None, link)
    assert FolderResults(results.root).link("sim_a-1", "bodies.parquet") is None


def test_another_machine_reads_what_one_has_kept(bucket_results):
    one, other = bucket_results(), bucket_results()
    written(one, "sim_a-1")
    assert not list(one.root.iterdir()), "kept where all can read it, and not twice"
    assert (other.folder("sim_a-1") / "bodies.parquet").read_bytes() == BODIES


@pytest.mark.parametrize("address", ["s3://no-such-bucket/here", "https://recordings", "results"])
def test_a_store_that_is_not_there_is_named(bucket_results, address):
    with pytest.raises(ResultsError, match=address.replace("?", "")):
        bucket_results(address).size("sim_a-1")


def test_a_size_is_read_once_and_forgotten_with_its_recording(results):
    reads = []

    def read(name):
        reads.append(name)
        return results.size(name)

    sizes = RecordingSizes(read)
    assert sizes.of("a-1") == 0
    written(results, "a-1")
    size = results.size("a-1")
    assert size >= len(BODIES)
    assert sizes.total(["a-1", "a-1", "gone"]) == 2 * size
    assert reads == ["a-1", "a-1", "gone"]  # what was not there is looked for again
    results.discard("a-1")
    sizes.forget("a-1")
    assert sizes.of("a-1") == 0
