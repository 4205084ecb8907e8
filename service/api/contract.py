"""What the OpenAPI document says of operations beyond their parameters and models.

Keys are (method, path) as in the document. An operation that is not listed here has the statuses
that its path and body imply, and no further headers.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from cardan.schemas import service as about
from cardan.schemas import session as s
from cardan.schemas.summary import Summary
from cardan.service.recordings.formats import FORMATS

Key = tuple[str, str]

REFERENCE = "#/components/schemas/"
"""Where models are in a document."""

SCENE, SIMULATION, BATCH, STUDY, SESSION = (
    "/v1/scenes/{scene_id}",
    "/v1/simulations/{simulation_id}",
    "/v1/batches/{batch_id}",
    "/v1/studies/{study_id}",
    "/v1/sessions/{session_id}",
)
CREATING: tuple[Key, ...] = (
    ("post", "/v1/scenes"),
    ("post", "/v1/simulations"),
    ("post", "/v1/batches"),
    ("post", "/v1/studies"),
    ("post", "/v1/sessions"),
    ("post", f"{SESSION}:fork"),
)
WAITING: tuple[Key, ...] = (
    ("post", "/v1/simulations"),
    ("get", SIMULATION),
    ("post", "/v1/batches"),
    ("get", BATCH),
    ("post", "/v1/studies"),
    ("get", STUDY),
)
FILES: tuple[Key, ...] = (
    ("get", f"{SIMULATION}/trajectory"),
    ("get", f"{BATCH}/results"),
)
REVISION = f"{SCENE}/revisions/{{revision}}"
# changes that need to say of what, and deletions that may
CHANGING: tuple[Key, ...] = (("put", SCENE), ("patch", SCENE), ("post", f"{SCENE}:restore"))
MATCHING: tuple[Key, ...] = (*CHANGING, ("delete", SCENE))
NEEDED_HEADERS: Mapping[Key, tuple[str, ...]] = dict.fromkeys(CHANGING, ("If-Match",))
TEXTS: tuple[Key, ...] = (("get", SCENE), ("get", REVISION))
TAGGED: tuple[Key, ...] = (("post", "/v1/scenes"), *TEXTS, *CHANGING)
EVENTS: tuple[Key, ...] = tuple(
    ("get", f"{resource}/events") for resource in (SIMULATION, BATCH, STUDY)
)

# statuses beyond those that follow from the path and the body
STATUSES: Mapping[Key, tuple[int, ...]] = {
    ("get", "/healthz"): (503,),
    ("get", "/readyz"): (503,),
    ("post", "/v1/scenes:import"): (400, 408, 413, 415, 501, 503),
    ("post", "/v1/scenes"): (409, 410, 507),
    ("put", SCENE): (412, 428, 507),
    ("patch", SCENE): (412, 428, 507),
    ("delete", SCENE): (412,),
    ("post", f"{SCENE}:restore"): (412, 428, 507),
    ("post", f"{SCENE}/shares"): (409,),
    ("post", "/v1/simulations"): (409, 410, 429, 507),
    ("post", "/v1/batches"): (409, 410, 429, 507),
    ("post", "/v1/studies"): (409, 410, 429, 507),
    ("delete", STUDY): (409,),
    ("get", f"{STUDY}/scene"): (409,),
    ("post", f"{BATCH}:retry-failed"): (409, 429, 507),
    ("post", "/v1/sessions"): (404, 409, 410, 429, 507),
    ("get", f"{SIMULATION}/summary"): (409,),
    ("delete", SIMULATION): (409,),
    ("post", f"{SIMULATION}/shares"): (409,),
    ("post", f"{BATCH}/shares"): (409,),
    ("get", f"{SIMULATION}/trajectory"): (406, 409, 410, 413, 416, 503, 504, 507),
    ("get", f"{BATCH}/results"): (406, 416),
    ("delete", BATCH): (409,),
    ("delete", SESSION): (409,),
    ("get", f"{SESSION}/frames"): (413,),
}
# every session may have failed, be closed, or have lost its worker
SESSION_STATUSES = (409, 410, 422, 429, 503)

# answers whose routes return plain values: status and model
ANSWERS: Mapping[Key, tuple[int, Any]] = {
    ("get", "/healthz"): (200, about.Health),
    ("get", "/readyz"): (200, about.Readiness),
    ("get", "/v1/limits"): (200, about.LimitsAnswer),
    ("get", "/v1/formats"): (200, about.FormatList),
    ("get", "/v1/version"): (200, about.Versions),
    ("get", "/v1/scenes/schema"): (200, about.JsonSchema),
    ("get", f"{SIMULATION}/summary"): (200, Summary),
    ("post", f"{SESSION}:step"): (200, s.CommandResult),
    ("post", f"{SESSION}/commands"): (200, s.CommandResult),
    ("get", f"{SESSION}/commands"): (200, s.CommandLogAnswer),
    ("post", f"{SESSION}:snapshot"): (201, s.SnapshotInfo),
    ("get", f"{SESSION}/snapshots"): (200, s.SnapshotList),
    ("get", f"{SESSION}/state"): (200, s.SessionState),
    ("get", f"{SESSION}/summary"): (200, Summary),
    ("get", f"{SESSION}/frames"): (200, s.FramesAnswer),
    ("get", f"{SESSION}/frames/{{step}}"): (200, s.PastState),
}
ANSWER_MODELS: tuple[type[BaseModel], ...] = tuple(
    {model.__name__: model for _, model in ANSWERS.values()}.values()
)
# answers that are scenes
SCENES: tuple[Key, ...] = (
    ("get", "/v1/examples/{name}"),
    *TEXTS,
    ("get", f"{SIMULATION}/scene"),
    ("get", f"{STUDY}/scene"),
    ("get", f"{SESSION}/scene"),
)
# request bodies of routes that read them themselves: model, and whether a body is needed
BODIES: Mapping[Key, tuple[str, bool]] = {
    ("put", SCENE): ("Scene", True),
    ("patch", SCENE): ("ScenePatch", True),
    ("post", f"{SCENE}:restore"): ("RevisionRequest", True),
    ("post", f"{SCENE}/shares"): ("ShareRequest", False),
    ("patch", SESSION): ("SessionPatch", True),
    ("post", f"{SESSION}:restore"): ("RestoreRequest", True),
    ("post", f"{SESSION}:step"): ("StepRequest", False),
    ("post", f"{SESSION}/shares"): ("ShareRequest", False),
    ("post", f"{SIMULATION}/shares"): ("ShareRequest", False),
    ("post", f"{BATCH}/shares"): ("ShareRequest", False),
    ("post", f"{SESSION}/commands"): ("SessionCommand", True),
}

# bodies that have another media type than JSON
BODY_TYPES: Mapping[Key, str] = {("patch", SCENE): "application/merge-patch+json"}

TEXT = {"schema": {"type": "string"}}
NUMBER = {"schema": {"type": "integer", "minimum": 0}}
RESPONSE_HEADERS: Mapping[str, dict[str, Any]] = {
    "X-Request-Id": {"description": "Found again in the logs", **TEXT},
    "Location": {"description": "Address of the resource", **TEXT},
    "Retry-After": {"description": "When to ask again [s]", **NUMBER},
    "ETag": {"description": "Names these bytes", **TEXT},
    "Preference-Applied": {"description": "`wait=n`, as it was taken", **TEXT},
    "Idempotency-Replayed": {
        "description": "`true`: an earlier request with this key created the resource",
        "schema": {"type": "string", "enum": ["true"]},
    },
    "Content-Range": {"description": "Bytes of the answer, and how many there are", **TEXT},
    "Accept-Ranges": {"description": "`bytes`", **TEXT},
    "Content-Disposition": {"description": "Name of the file", **TEXT},
    "Allow": {"description": "Methods of this address", **TEXT},
    "WWW-Authenticate": {"description": "How to authenticate", **TEXT},
    "RateLimit-Policy": {"description": "Quota of the key: units q in w seconds", **TEXT},
    "RateLimit": {"description": "Units r that are left for t seconds", **TEXT},
    "X-History-Spacing": {"description": "Steps between two kept frames, at most", **NUMBER},
    "X-History-From": {"description": "First kept step", **NUMBER},
    "X-History-To": {"description": "Last kept step", **NUMBER},
}
REQUEST_HEADERS: Mapping[str, dict[str, Any]] = {
    "Idempotency-Key": {
        "description": "The same request with the same key is answered with the same resource",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    },
    "Prefer": {"description": "`wait=n`: wait for the end, at most 30 s", **TEXT},
    "Last-Event-ID": {
        "description": "Go on after this event",
        "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"},
    },
    "If-None-Match": {"description": "ETags the client has", **TEXT},
    "If-Match": {"description": "ETag of what is changed, or `*`", **TEXT},
    "Range": {"description": "`bytes=first-last`", **TEXT},
    "If-Range": {"description": "ETag the range is of", **TEXT},
}
BINARY = {"type": "string", "contentMediaType": "application/octet-stream"}
MEDIA: Mapping[Key, dict[str, Any]] = {
    ("get", f"{SIMULATION}/trajectory"): {
        form.media_type: {"schema": {"type": "object"} if form.name == "json" else BINARY}
        for form in FORMATS.values()
    },
    ("get", f"{BATCH}/results"): {
        FORMATS[name].media_type: {"schema": {"type": "object"} if name == "json" else BINARY}
        for name in ("parquet", "csv", "json")
    },
    ("get", f"{SESSION}/bundle"): {"application/zip": {"schema": BINARY}},
    ("get", "/metrics"): {"text/plain": {"schema": {"type": "string"}}},
    ("get", "/v1/verification/plots/{name}"): {"image/svg+xml": {"schema": {"type": "string"}}},
    **{key: {"text/event-stream": {"schema": {"type": "string"}}} for key in EVENTS},
}

# from the creation of a resource to every operation on it: parameter, where the id is
PRODUCERS: Mapping[Key, tuple[str, str]] = {
    ("post", "/v1/scenes"): ("scene_id", "$response.body#/id"),
    ("get", "/v1/scenes"): ("scene_id", "$response.body#/items/0/id"),
    ("post", "/v1/simulations"): ("simulation_id", "$response.body#/id"),
    ("get", "/v1/simulations"): ("simulation_id", "$response.body#/items/0/id"),
    ("post", f"{SESSION}:fork"): ("session_id", "$response.body#/id"),
    ("get", f"{BATCH}/runs"): ("simulation_id", "$response.body#/items/0/id"),
    ("post", "/v1/batches"): ("batch_id", "$response.body#/id"),
    ("post", "/v1/studies"): ("study_id", "$response.body#/id"),
    ("get", "/v1/studies"): ("study_id", "$response.body#/items/0/id"),
    ("get", "/v1/batches"): ("batch_id", "$response.body#/items/0/id"),
    ("post", "/v1/sessions"): ("session_id", "$response.body#/id"),
    ("get", "/v1/sessions"): ("session_id", "$response.body#/items/0/id"),
}


def implied_statuses(method: str, path: str, operation: Mapping[str, Any]) -> set[int]:
    """Statuses of problems that an operation may be answered with."""
    found = {403, 422, 500, *STATUSES.get((method, path), ())}
    if path in ("/healthz", "/readyz", "/metrics"):
        found -= {422}
    if "{" in path:
        found.add(404)
    if path.startswith(SESSION):
        found |= set(SESSION_STATUSES)
    content = operation.get("requestBody", {}).get("content", {})
    if any(kind.endswith("json") for kind in content):
        found |= {400, 408, 413, 415, 503, 504}
    return found


def request_headers(method: str, path: str) -> list[str]:
    """Names of headers that an operation reads."""
    key = (method, path)
    names = []
    if key in CREATING:
        names.append("Idempotency-Key")
    if key in WAITING:
        names.append("Prefer")
    if key in EVENTS:
        names.append("Last-Event-ID")
    if key in FILES:
        names += ["If-None-Match", "Range", "If-Range"]
    if path.startswith("/v1/verification/plots") or key in TEXTS:
        names.append("If-None-Match")
    if key in MATCHING:
        names.append("If-Match")
    return names


def response_headers(method: str, path: str, status: str) -> list[str]:
    """Names of headers of an answer."""
    key = (method, path)
    names = ["X-Request-Id"]
    if key in CREATING and status in ("200", "201", "202"):
        names += ["Location", "Idempotency-Replayed"]
    if key in WAITING and status in ("200", "202"):
        names.append("Preference-Applied")
    if (key in TAGGED and status in ("200", "201", "304")) or status in ("412", "428"):
        names.append("ETag")
    if status in ("202", "409", "429", "503", "507"):
        names.append("Retry-After")
    if status == "401":
        names.append("WWW-Authenticate")
    if key in FILES and status in ("200", "206", "304"):
        names += ["ETag", "Accept-Ranges", "Content-Disposition"]
    if key in FILES and status in ("206", "416"):
        names.append("Content-Range")
    if path == f"{SESSION}/frames" and status == "200":
        names += ["X-History-From", "X-History-To", "X-History-Spacing"]
    return names
