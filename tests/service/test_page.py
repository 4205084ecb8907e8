import base64
import hashlib
import re

import pytest

from cardan.service.assets import Asset, Assets, shortened
from cardan.service.page import policy
from tests.web.conftest import WEB

pytestmark = pytest.mark.e2e


def test_the_page_is_at_the_root_with_a_policy_for_its_own_scripts(client):
    answer = client.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    rules = answer.headers["content-security-policy"]
    for script in re.findall(r"<script type=\"importmap\">(.*?)</script>", answer.text, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in rules
    assert "'unsafe-eval'" not in rules
    assert "script-src 'self' 'sha256-" in rules


def test_modules_have_the_type_browsers_demand_and_are_kept_for_good(client):
    page = client.get("/")
    assert page.headers["cache-control"] == "no-cache"
    (module,) = re.findall(r"<script type=\"module\" src=\"([^\"]+)\"", page.text)
    answer = client.get(f"/{module}")
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    again = client.get(f"/{module}", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    # all that the page loads, and all that its modules import, has such an address
    loaded = re.findall(r'(?:src|href)="(?!#)([^"]+)', page.text)
    mapped = re.findall(r'": "\./([^"]+)"', page.text)
    assert len(loaded) > 4
    for path in [*loaded, *(path for path in mapped if not path.endswith("/"))]:
        assert path.startswith("assets/"), path
        assert client.get(f"/{path}").status_code == 200


def test_an_address_without_version_or_with_an_old_one_has_what_is_there_now(client):
    for path in ("/main.js", "/assets/0123456789abcdef/main.js"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
        assert answer.text == shortened((WEB / "main.js").read_text())


def test_text_goes_out_compressed_to_who_takes_it(client):
    plain = client.get("/main.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    packed = client.get("/main.js", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content  # the client unpacks
    assert int(packed.headers["content-length"]) < 0.5 * int(plain.headers["content-length"])
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    assert packed.headers["etag"] != plain.headers["etag"]
    picture = client.get("/pictures/pile-dark.webp", headers={"Accept-Encoding": "gzip"})
    assert picture.headers["content-type"] == "image/webp"
    assert "content-encoding" not in picture.headers


def test_a_changed_file_has_another_address(tmp_path):
    (tmp_path / "index.html").write_text('<script type="module" src="main.js"></script>')
    (tmp_path / "main.js").write_text("let a;")
    assets = Assets(tmp_path)

    def find(name: str) -> Asset:
        found = assets.find(name)
        assert found is not None
        return found

    first = find("index.html").data
    (address,) = re.findall(rb'src="([^"]+)"', first)
    assert find(address.decode()).lasting
    (tmp_path / "main.js").write_text("let b, c;")
    assert not find(address.decode()).lasting
    assert find("index.html").data != first
    assert find("main.js").data == b"let b, c;"


@pytest.mark.parametrize(
    "path", ["/", "/index.html", "/main.js", "/style.css", "/v1/verification/plots/{plot}"]
)
def test_a_304_says_what_its_200_says(client, path):
    """A browser puts the headers of a 304 on the answer it has stored (RFC 9111, 4.3.4)."""
    sections = client.get("/v1/verification").json()["sections"]
    plot = next(one["name"] for section in sections for one in section["plots"])
    url = path.format(plot=plot)
    stored = client.get(url)
    assert stored.status_code == 200
    again = client.get(url, headers={"If-None-Match": stored.headers["etag"]})
    assert again.status_code == 304
    merged = {**stored.headers, **again.headers}
    changed = {name for name in merged if merged[name] != stored.headers.get(name)}
    assert changed <= {"date", "x-request-id", "content-length"}
    if path in ("/", "/index.html"):
        # heals a cache that holds the page with another policy
        assert again.headers["content-security-policy"] == policy(stored.content)


@pytest.mark.parametrize(
    "path",
    ["/..%2fpyproject.toml", "/%2e%2e/pyproject.toml", "/assets/x/..%2f..%2fpyproject.toml",
     "//etc/passwd", "/node_modules/x.js",
     "/.npmrc", "/vendor", "/nothing.js"],
)  # fmt: skip
def test_nothing_else_is_served(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_scripts_with_a_source_need_no_hash():
    rules = policy(b'<script src="a.js"></script><script type="importmap">{}</script>')
    assert rules.count("sha256-") == 1


def test_examples_are_listed_and_served(client):
    items = client.get("/v1/examples").json()["items"]
    assert len(items) >= 8
    for item in items:
        scene = client.get(item["url"]).json()
        assert len(scene["bodies"]) == item["bodies"]


def test_health_and_versions(client):
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json()["status"] == "ready"
    assert client.get("/v1/version").json()["numpy"]
    assert {form["name"] for form in client.get("/v1/formats").json()["items"]} >= {"parquet"}
    assert client.get("/v1/limits").json()["scene"]["max_bodies"] > 0
