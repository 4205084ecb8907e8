"""The manual as a site: it builds, is served, and needs nothing from elsewhere."""

import ast
import asyncio
import re
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from cardan.engine.verdict.sentences import SENTENCES
from cardan.service import page
from cardan.service.api import problems
from cardan.service.api.statuses import STATUSES
from cardan.service.cli.connections import MALFORMED
from docs.manual.pictures import picture
from tests.architecture.sources import ROOT, python_files, tree_of

FOREIGN = re.compile(r"^(?:https?:)?//")


class Client:
    """Asks the routes of the manual alone, of an installation whose package lies in a folder."""

    def __init__(self, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(page, "files", lambda name: package)
        self.app = FastAPI()
        problems.install(self.app)
        page.mount_manual(self.app)

    def get(self, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
                return await client.get(path, headers=headers, follow_redirects=True)

        return asyncio.run(ask())


@pytest.fixture
def client(site: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The manual as a service shows it."""
    return Client(site.parent, monkeypatch)


class Loaded(HTMLParser):
    """What a browser fetches for a page by itself, and the names within it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if given.get("id"):
            self.ids.add(str(given["id"]))
        if tag in ("script", "img", "iframe", "source") and given.get("src"):
            self.addresses.append(str(given["src"]))
        if tag == "link" and given.get("rel") not in ("canonical", "prev", "next"):
            self.addresses.append(str(given.get("href")))


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for path in pages:
        loaded = Loaded(path.read_text("utf-8")).addresses
        assert loaded
        foreign = [address for address in loaded if FOREIGN.match(address)]
        assert foreign == [], path
        here = [address.partition("?")[0].partition("#")[0] for address in loaded]
        # the page for a wrong address does not know where it is shown
        if path.name != "404.html":
            missing = [name for name in here if not (path.parent / name).is_file()]
            assert missing == [], path
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?(?:https?:)?//", style.read_text("utf-8")), style


def test_every_scene_has_its_picture(site: Path) -> None:
    shown = re.findall(r'src="(pictures/[^"]+)"', (site / "joints.html").read_text("utf-8"))
    assert len(shown) >= 14
    assert all((site / name).read_text("utf-8").startswith("<?xml") for name in shown)
    tables = (site / "joints.html").read_text("utf-8")
    assert "fields:" not in tables
    assert "Way along" in tables


def test_a_picture_is_the_same_every_time() -> None:
    scene = {
        "name": "one",
        "simulation": {"duration": 0.01},
        "bodies": [{"name": "a", "mass": 1.0, "shapes": [{"type": "box", "size": [1, 2, 3]}]}],
    }
    assert picture(scene) == picture(scene)


def test_it_is_served_with_a_policy_that_allows_its_own_scripts_only(client: Client) -> None:
    answer = client.get("/manual")
    assert answer.status_code == 200
    assert str(answer.url).endswith("/manual/")
    rules = answer.headers["content-security-policy"]
    assert "unsafe-eval" not in rules
    scripts = next(rule for rule in rules.split("; ") if rule.startswith("script-src"))
    assert scripts.startswith("script-src 'self' 'sha256-")
    assert "unsafe-inline" not in scripts
    inline = [code for code in page.INLINE_SCRIPT.findall(answer.content) if code]
    assert len(inline) >= 2
    # what the policy names is what this page has: another page may have other scripts
    assert page.policy(answer.content) == rules


def test_files_are_sent_as_they_were_built(client: Client, site: Path) -> None:
    bundle = next((site / "assets" / "javascripts").glob("bundle.*.js"))
    for path in (bundle, site / "search" / "search_index.json", site / "shapes.html"):
        answer = client.get(f"/manual/{path.relative_to(site).as_posix()}")
        assert answer.content == path.read_bytes()
        again = client.get(str(answer.url), headers={"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304
    assert (
        client.get(f"/manual/{bundle.relative_to(site).as_posix()}")
        .headers["content-type"]
        .startswith("text/javascript")
    )


@pytest.mark.parametrize("path", ["nothing.html", "../engine/__init__.py", "%2e%2e/x.html"])
def test_there_is_nothing_beside_it(client: Client, path: str) -> None:
    answer = client.get(f"/manual/{path}")
    assert answer.status_code == 404


def test_without_it_a_problem_says_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = Client(tmp_path, monkeypatch).get("/manual/shapes.html")
    assert answer.status_code == 404
    assert answer.json()["code"] == "manual_not_built"
    assert "make manual" in answer.json()["detail"]


def raised() -> dict[str, set[int]]:
    """Codes of problems and their statuses: of what routes raise, of errors of the rooms below."""
    found: dict[str, set[int]] = {}
    # of the engine's class of this name the arguments are a field and a sentence
    for path in python_files("service"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("ProblemError"):
                given = [one.value for one in node.args[:2] if isinstance(one, ast.Constant)]
                if len(given) == 2 and isinstance(given[0], int):
                    found.setdefault(str(given[1]), set()).add(given[0])
    for code, status in STATUSES.items():
        found.setdefault(code.value, set()).add(status)
    for status, name in problems.CODES.items():
        found.setdefault(name, set()).add(status)
    # these are found before any route is asked
    found["malformed_request"].update(MALFORMED)
    return found


def test_every_code_has_its_row_with_its_status(site: Path) -> None:
    text = (ROOT / "docs" / "manual" / "problems.md").read_text("utf-8")
    rows = {
        code: {int(status) for status in listed.split(",")}
        for code, listed in re.findall(r'id="(\w+)"></a>`\1` \| ([0-9, ]+) \|', text)
    }
    # those are of messages of a stream, which are no problem documents
    messages = {"message_invalid", "already_welcome", "unknown_channel"}
    assert len(rows) > 60
    assert rows == {code: found for code, found in raised().items() if code not in messages}
    assert set(rows) <= Loaded((site / "problems.html").read_text("utf-8")).ids


def test_the_type_of_a_problem_leads_to_its_row(site: Path) -> None:
    body = problems.problem_body(problems.ProblemError(422, "scene_invalid", ""), "")
    address, _, anchor = body["type"].partition("#")
    place = site / address.removeprefix("/manual/")
    assert anchor in Loaded(place.read_text("utf-8")).ids


def test_every_finding_has_its_section(site: Path) -> None:
    names = Loaded((site / "results.html").read_text("utf-8")).ids
    assert set(SENTENCES) - names == set()
