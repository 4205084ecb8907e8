"""`/docs`: the OpenAPI document as one plain page, without scripts and external resources."""

import html
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

router = APIRouter(include_in_schema=False)

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code{font:14px ui-monospace,monospace}summary{cursor:pointer;padding:.3rem 0}"
    "td{padding:.1rem 1rem .1rem 0;vertical-align:top}b{display:inline-block;min-width:5rem}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}a{color:#8bf}}"
)


@router.get("/docs", response_class=HTMLResponse)
def docs(request: Request) -> HTMLResponse:
    """All routes with their parameters and answers."""
    document = request.app.openapi()
    parts: list[str] = []
    for path, operations in document["paths"].items():
        parts += [_operation(path, method, one) for method, one in operations.items()]
    page = (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Cardan API</title>"
        f"<style>{STYLE}</style><h1>{_text(document['info']['title'])} API</h1>"
        f"<p>{_text(document['info']['description'])}</p>"
        "<p>For machines: <a href=/openapi.json>openapi.json</a>,"
        " <a href=/v1/scenes/schema>the schema of scenes</a>.</p>" + "".join(parts) + "</html>"
    )
    policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    return HTMLResponse(page, headers={"Content-Security-Policy": policy})


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    rows = [
        f"<tr><td><code>{_text(p['name'])}</code><td>{_text(p['in'])}"
        f"<td>{_text(p.get('description', ''))}"
        for p in operation.get("parameters", [])
    ]
    rows += [
        f"<tr><td><code>{_text(status)}</code><td>answer<td>{_text(one.get('description', ''))}"
        for status, one in operation["responses"].items()
    ]
    words = _text(operation.get("description") or operation.get("summary", ""))
    return (
        f"<details><summary><b>{method.upper()}</b> <code>{_text(path)}</code></summary>"
        f"<p>{words}</p><table>{''.join(rows)}</table></details>"
    )


def _text(value: Any) -> str:
    return html.escape(str(value))
