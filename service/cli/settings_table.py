"""The table of all settings for `docs/settings.md`, from the fields of `Settings` and `Limits`.

`python -m cardan.service.cli.settings_table` prints it.
"""

import sys
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from cardan.schemas import Limits
from cardan.service.settings import PREFIX, Settings, limit_variables

COMPUTED = {"data": "the user's data folder", "workers": "usable cores", "allowed_hosts": "none"}
APART = ("limits", "bucket_options")
HEAD = """# Settings

All settings are variables of the environment, read once at the start. Sizes are in bytes, times in
seconds. A value that cannot be used ends the start with a sentence that names the variable.
`cardan serve --host --port --data` win over them. A store of recordings is opened with the usual
`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`
and `AWS_VIRTUAL_HOSTED_STYLE_REQUEST`, traces with the usual `OTEL_*`
([service](service.md#traces)).
This page is written by `python -m cardan.service.cli.settings_table`; a test holds it to the code.

"""


def page() -> str:
    """Return the page."""
    service = {name: f for name, f in Settings.model_fields.items() if name not in APART}
    service = {"api_key" if name == "api_keys" else name: f for name, f in service.items()}
    return (
        HEAD
        + _table({f"{PREFIX}{name.upper()}": (name, f) for name, f in service.items()}, Settings)
        + "\n## Limits of scenes\n\n"
        + _table({v: (n, Limits.model_fields[n]) for v, n in limit_variables().items()}, Limits)
    )


def _table(fields: dict[str, tuple[str, FieldInfo]], model: type[BaseModel]) -> str:
    schema = model.model_json_schema()["properties"]
    lines = ["| variable | default | range | meaning |", "|---|---|---|---|"]
    for variable, (name, field) in fields.items():
        bounds = _range(schema.get(name, {}))
        text = " ".join((field.description or "").split())
        lines.append(f"| `{variable}` | {_default(name, field)} | {bounds} | {text} |")
    return "\n".join(lines) + "\n"


def _default(name: str, field: FieldInfo) -> str:
    if name in COMPUTED:
        return COMPUTED[name]
    value = field.default
    if value is PydanticUndefined or value == frozenset() or value is None:
        return "none"
    return f"`{_number(value)}`" if isinstance(value, float) else f"`{value}`"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:g}"


def _range(schema: dict[str, Any]) -> str:
    """What a value may be; of a setting that may be left out, what it may be where it is set."""
    for choice in schema.get("anyOf", ()):
        schema = {**choice, **schema}
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    parts = [
        f"{sign} {_number(schema[key])}"
        for key, sign in (
            ("exclusiveMinimum", ">"),
            ("minimum", ">="),
            ("maximum", "<="),
        )
        if key in schema
    ]
    return ", ".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
