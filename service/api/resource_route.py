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


register_url_convertor("id", IdConvertor())


class ResourceRoute(APIRoute):
    """A route whose `{parameters}` are ids."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Take the path as it is documented."""
        super().__init__(PARAMETER.sub(r"{\1:id}", path), endpoint, **options)


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
        for pattern, operations in self._known:
            if pattern.fullmatch(path):
                found |= {method.upper() for method in operations}
        # streams have no end that HEAD could wait for
        if "GET" in found and not path.endswith(("/events", "/stream")):
            found.add("HEAD")
        return sorted(found)
