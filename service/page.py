"""The page: files of `web/` with the types, caching and policy a browser needs."""

import base64
import hashlib
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response

from service.api.content import not_modified
from service.api.errors import ProblemError
from service.api.layers import KEY_COOKIE, is_key

# the platform's own table of types differs from machine to machine
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
HIDDEN = frozenset({"node_modules"})
INLINE_SCRIPT = re.compile(rb"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)


def page_folder() -> Path | None:
    """Where the page is: beside the packages in a checkout, or inside an installed wheel."""
    root = Path(str(files("service"))).parent
    folder = root / "web"
    return folder if (folder / "index.html").is_file() else None


def mount_page(app: FastAPI, folder: Path) -> None:
    """Serve the folder at `/`, after all other routes."""

    keys = [key.encode() for key in app.state.settings.api_keys]

    async def page(path: str, request: Request) -> Response:
        if path == "" and keys and "key" in request.query_params:
            return keep_key(request, keys)
        return serve_file(folder, path or "index.html", request)

    app.add_api_route(
        "/{path:path}", page, methods=["GET", "HEAD"], include_in_schema=False, name="page"
    )


def keep_key(request: Request, keys: Sequence[bytes]) -> Response:
    """Answer `/?key=KEY`: keep the key in a cookie of this site and take it out of the address.

    Raises ProblemError 401.
    """
    given = request.query_params["key"]
    if not is_key(given, keys):
        raise ProblemError(401, "unauthorized", "This is no API key of this service.")
    response = RedirectResponse("/", 303)
    secure = request.url.scheme == "https"
    response.set_cookie(KEY_COOKIE, given, httponly=True, samesite="strict", secure=secure)
    return response


def serve_file(folder: Path, path: str, request: Request) -> Response:
    """One file of the page. Raises ProblemError 404.

    Modules name each other without hashes, so a browser asks each time and gets 304.
    """
    file = _inside(folder, path)
    media_type = TYPES.get(file.suffix.lower()) if file is not None else None
    if file is None or media_type is None:
        raise ProblemError(404, "not_found", f"There is no /{path} here.")
    data = file.read_bytes()
    etag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "no-cache"}
    if file.suffix == ".html":
        headers["Content-Security-Policy"] = policy(data)
    unchanged = not_modified(request, headers)
    if unchanged is not None:
        return unchanged
    return Response(data, media_type=media_type, headers=headers)


def policy(html: bytes) -> str:
    """What the page may do: load from here, and run exactly the inline scripts it has."""
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


def _inside(folder: Path, path: str) -> Path | None:
    """The file of a path, if it is a visible file inside the folder."""
    parts = Path(path).parts
    if not parts or any(part in HIDDEN or part.startswith((".", "/")) for part in parts):
        return None
    try:
        file = (folder / path).resolve()
        inside = file.is_relative_to(folder.resolve()) and file.is_file()
    except (OSError, ValueError):
        # a name the file system cannot have
        return None
    return file if inside else None
