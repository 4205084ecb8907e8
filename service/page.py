"""The page and the manual: files with the types, caching and policy a browser needs."""

import base64
import hashlib
import re
from collections.abc import Collection
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

from cardan.service import clock
from cardan.service.api.content import not_modified
from cardan.service.api.layers import KEY_COOKIE
from cardan.service.api.problems import ProblemError
from cardan.service.api.shares import open_share
from cardan.service.assets import Assets
from cardan.service.keys import COOKIE_SECONDS, Key, find_key

FOREVER = "public, max-age=31536000, immutable"
INLINE_SCRIPT = re.compile(rb"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)


def page_folder() -> Path | None:
    """The folder of the page, or None where it is not installed."""
    folder = Path(str(files("cardan") / "web"))
    return folder if (folder / "index.html").is_file() else None


def mount_page(app: FastAPI, folder: Path) -> None:
    """Serve the folder at `/`, after all other routes."""

    keys = app.state.settings.api_keys
    assets = Assets(folder)

    async def page(path: str, request: Request) -> Response:
        if path.startswith("v1/"):
            raise HTTPException(404)
        if path == "" and keys and "key" in request.query_params:
            return keep_key(request, keys) or refuse_key(request, assets)
        if path == "" and "share" in request.query_params:
            return await open_share(request)
        return serve_file(assets, path or "index.html", request)

    app.add_api_route(
        "/{path:path}", page, methods=["GET", "HEAD"], include_in_schema=False, name="page"
    )


def mount_manual(app: FastAPI) -> None:
    """Serve the manual at `/manual/`, where it was built."""
    folder = Path(str(files("cardan") / "manual"))
    assets = Assets(folder, versioned=False)

    async def manual(path: str, request: Request) -> Response:
        if not (folder / "index.html").is_file():
            raise ProblemError(
                404,
                "manual_not_built",
                "There is no manual here. `make manual` builds it in a checkout of Cardan, for "
                "the service that runs from there, and for the wheels and images made of it.",
            )
        return serve_file(assets, path or "index.html", request, "manual/")

    async def start() -> Response:
        return RedirectResponse("/manual/", 308)

    for path, route in (("/manual/{path:path}", manual), ("/manual", start)):
        app.add_api_route(path, route, methods=["GET", "HEAD"], include_in_schema=False)


def keep_key(request: Request, keys: Collection[Key]) -> Response | None:
    """Answer `/?key=KEY`: set a cookie that the key made, and take the key out of the address.

    None: there is no such key.
    """
    key = find_key(request.query_params["key"], keys)
    if key is None:
        return None
    response = RedirectResponse("/", 303)
    secure = request.url.scheme == "https"
    response.set_cookie(
        KEY_COOKIE,
        key.cookie(clock.now()),
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="strict",
        secure=secure,
    )
    return response


def refuse_key(request: Request, assets: Assets) -> Response:
    """Answer a key that is none: a person gets the page, which asks for it.

    Raises ProblemError 401 for a program.
    """
    if "text/html" not in request.headers.get("accept", ""):
        raise ProblemError(401, "unauthorized", "This is no API key of this service.")
    response = serve_file(assets, "index.html", request)
    if response.status_code == 200:
        response.status_code = 401
    return response


def serve_file(assets: Assets, path: str, request: Request, below: str = "") -> Response:
    """One file below an address, compressed where the browser takes it. Raises ProblemError 404.

    Below `assets/VERSION/` a browser keeps it for good; elsewhere it asks each time and gets 304.
    """
    asset = assets.find(path)
    if asset is None:
        raise ProblemError(404, "not_found", f"There is no /{below}{path} here.")
    data, mark = asset.data, ""
    headers = {"Cache-Control": FOREVER if asset.lasting else "no-cache"}
    if asset.gzipped is not None:
        headers["Vary"] = "Accept-Encoding"
        if takes_gzip(request.headers.get("accept-encoding", "")):
            data, mark = asset.gzipped, "-gzip"
            headers["Content-Encoding"] = "gzip"
    headers["ETag"] = f'"{asset.etag}{mark}"'
    if asset.media_type.startswith("text/html"):
        headers["Content-Security-Policy"] = policy(asset.data)
    unchanged = not_modified(request, headers)
    if unchanged is not None:
        return unchanged
    return Response(data, media_type=asset.media_type, headers=headers)


def takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding allows gzip.

    >>> [takes_gzip(text) for text in ("gzip, br", "br", "gzip;q=0", "*", "")]
    [True, False, False, True, False]
    """
    for part in accepted.lower().split(","):
        name, _, weight = part.partition(";")
        if name.strip() in ("gzip", "*"):
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight)
    return False


def policy(html: bytes) -> str:
    """Return the content security policy: resources of this host, and the inline scripts."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"
        for script in INLINE_SCRIPT.findall(html)
    )
    return "; ".join(
        [
            "default-src 'self'",
            f"script-src 'self' {hashes}".rstrip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "connect-src 'self' blob: data:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ]
    )
