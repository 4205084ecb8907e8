"""Stored scenes. A change says of what: it is refused if somebody else was faster."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cardan_client.aio import AsyncClient

MERGE_PATCH = "application/merge-patch+json"


class AsyncStoredScene:
    """One stored scene; runs, batches, studies and sessions take its `id` as their scene."""

    def __init__(self, client: "AsyncClient", info: Mapping[str, Any]) -> None:
        """Belong to a client; `info` is what the service says of the scene."""
        self._client = client
        self.info = dict(info)
        self.id = str(info["id"])
        self.url = f"/v1/scenes/{self.id}"

    @property
    def etag(self) -> str:
        """The text that was read or written last: the next change is of this one."""
        return str(self.info["etag"])

    async def read(self) -> dict[str, Any]:
        """Return the scene as it was written; the next change is of this one. Raises Problem."""
        answer = await self._client.ask("GET", self.url)
        self.info["etag"] = answer.headers["etag"]
        scene: dict[str, Any] = answer.json()
        return scene

    async def replace(self, scene: Mapping[str, Any]) -> None:
        """Replace the scene. Raises Problem, with status 412 if it was changed meanwhile."""
        self.info = await self._client.change("PUT", self.url, scene, self.etag)

    async def patch(self, patch: Mapping[str, Any]) -> None:
        """Change it by a JSON Merge Patch (RFC 7396): None removes. Raises Problem like replace."""
        self.info = await self._client.change("PATCH", self.url, patch, self.etag, MERGE_PATCH)

    async def delete(self) -> None:
        """Delete it; what was made from it has its own copy. Raises Problem."""
        await self._client.delete(self.url)

    async def revisions(self) -> list[dict[str, Any]]:
        """Return the revisions that are kept, newest first, without their texts. Raises Problem."""
        items: list[dict[str, Any]] = (await self._client.get(f"{self.url}/revisions"))["items"]
        return items

    async def read_revision(self, revision: int) -> dict[str, Any]:
        """Return the scene as it was written in a revision. Raises Problem."""
        scene: dict[str, Any] = await self._client.get(f"{self.url}/revisions/{revision}")
        return scene

    async def restore(self, revision: int) -> None:
        """Write the text of a revision again, as a new one. Raises Problem like replace."""
        asked = {"revision": revision}
        self.info = await self._client.change("POST", f"{self.url}:restore", asked, self.etag)

    async def share(self, name: str = "", expires_in_s: float | None = None) -> dict[str, Any]:
        """Make a link that lets people without a key read it: its `url` and `token`.

        `name`: whom it is for; it expires after some time [s], by default a week. Raises Problem.
        """
        asked: dict[str, Any] = {"name": name}
        if expires_in_s is not None:
            asked["expires_in_s"] = expires_in_s
        made: dict[str, Any] = await self._client.post(f"{self.url}/shares", asked)
        return made

    async def shares(self) -> list[dict[str, Any]]:
        """Return the links to it that have not expired, oldest first. Raises Problem."""
        items: list[dict[str, Any]] = (await self._client.get(f"{self.url}/shares"))["items"]
        return items

    async def revoke(self, share_id: str) -> None:
        """End a link by its id. Raises Problem."""
        await self._client.delete(f"{self.url}/shares/{share_id}")
