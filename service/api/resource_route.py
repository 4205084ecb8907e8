"""Routes of resources: an id holds neither `/` nor `:`, so that `{id}:verb` is another address."""

import re
from collections.abc import Callable
from typing import Any

from fastapi.routing import APIRoute
from starlette.convertors import Convertor, register_url_convertor

PARAMETER = re.compile(r"\{(\w+)\}")


class IdConvertor(Convertor[str]):
    """The id of a resource in a path."""

    regex = "[^/:]+"

    def convert(self, value: str) -> str:
        """Return the id as it is in the path."""
        return value

    def to_string(self, value: str) -> str:
        """Return the id as it is."""
        return value


class SceneIdConvertor(IdConvertor):
    """The id of a stored scene; `/v1/scenes/schema` is another address."""

    regex = "(?!schema$)[^/:]+"


register_url_convertor("id", IdConvertor())
register_url_convertor("scene", SceneIdConvertor())


class ResourceRoute(APIRoute):
    """A route whose `{parameters}` are ids."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Take the path as it is documented."""
        super().__init__(PARAMETER.sub(_with_convertor, path), endpoint, **options)


def _with_convertor(parameter: re.Match[str]) -> str:
    name = parameter.group(1)
    return f"{{{name}:{'scene' if name == 'scene_id' else 'id'}}}"


def operation_id(route: APIRoute) -> str:
    """Return the name of an operation in documents and clients, as `simulations_create`."""
    if not route.tags or route.name.startswith(f"{route.tags[0]}_"):
        return route.name
    return f"{route.tags[0]}_{route.name}"


class Addresses:
    """The documented addresses and their methods."""

    def __init__(self, paths: dict[str, Any]) -> None:
        """Take `paths` of the OpenAPI document."""
        self._known = [
            (re.compile(re.sub(r"\\\{\w+\\\}", "[^/:]+", re.escape(path))), operations)
            for path, operations in paths.items()
        ]

    def methods(self, path: str) -> list[str]:
        """Return the methods of an address; empty: there is no such address."""
        found: set[str] = set()
        # an address that is written out is not one with an id
        known = [one for one in self._known if one[0].pattern == re.escape(path)] or self._known
        for pattern, operations in known:
            if pattern.fullmatch(path):
                found |= {method.upper() for method in operations}
        # streams have no end that HEAD could wait for
        if "GET" in found and not path.endswith(("/events", "/stream")):
            found.add("HEAD")
        return sorted(found)
