"""JSON Merge Patch (RFC 7396)."""

from typing import Any


def merge_patch(target: Any, patch: Any) -> Any:
    """Return the target changed by a patch; neither is changed.

    Members of an object of the patch replace those of the target, `null` removes them, objects
    within are patches again. Anything but an object replaces the whole. Of any depth.
    """
    root = {"": target}
    todo: list[tuple[dict[str, Any], str, Any]] = [(root, "", patch)]
    while todo:
        place, name, change = todo.pop()
        if isinstance(change, dict):
            old = place.get(name)
            inner = place[name] = dict(old) if isinstance(old, dict) else {}
            todo.extend((inner, key, value) for key, value in reversed(change.items()))
        elif change is None and place is not root:
            place.pop(name, None)
        else:
            place[name] = change
    return root[""]
