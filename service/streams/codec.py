"""Frames whose blocks are encoded once, shared by all viewers; layout: `cardan.schemas.frame`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from cardan.schemas.frame import (
    BLOCK_HEADER,
    HEADER,
    POSE_DTYPE,
    BlockTag,
    FrameFlags,
    FrameHeader,
    FrameInvalid,
    FrameKind,
    Table,
    encode_block,
    join_blocks,
    join_frame,
)
from cardan.schemas.quantised import quantise

# of as many sessions at once
KEPT_QUANTISED = 16
# what a viewer gets who subscribes to a channel
CHANNELS: dict[str, frozenset[BlockTag]] = {
    "poses": frozenset(
        {
            BlockTag.POSES,
            BlockTag.QUANTISED,
            BlockTag.QUANTISED_BOX,
            BlockTag.ASLEEP,
            BlockTag.ABSENT,
            BlockTag.GRAB,
            BlockTag.STATE_HASH,
        }
    ),
    "contacts": frozenset({BlockTag.CONTACTS}),
    "joints": frozenset({BlockTag.JOINTS}),
    "energy": frozenset({BlockTag.ENERGY}),
    "solver": frozenset({BlockTag.SOLVER}),
    "events": frozenset({BlockTag.EVENTS}),
    # its rows are those of the contacts, so both come together
    "friction": frozenset({BlockTag.CONTACTS, BlockTag.FRICTION}),
    "momentum": frozenset({BlockTag.MOMENTUM}),
    "velocities": frozenset({BlockTag.VELOCITIES}),
    "reactions": frozenset({BlockTag.REACTIONS}),
}


@dataclass(frozen=True, slots=True)
class SharedFrame:
    """One moment of a session: a header, and by tag the whole block with its padding."""

    header: FrameHeader
    blocks: Mapping[BlockTag, bytes]

    @property
    def step(self) -> int:
        """Steps since the start."""
        return self.header.step

    @property
    def size(self) -> int:
        """Bytes of header and blocks."""
        return HEADER.size + sum(map(len, self.blocks.values()))

    def numbered(self, sequence: int) -> "SharedFrame":
        """The same moment as frame `sequence` of the stream."""
        return SharedFrame(replace(self.header, sequence=sequence), self.blocks)

    def with_block(self, tag: BlockTag, block: bytes) -> "SharedFrame":
        """The same moment with another block of this tag."""
        return SharedFrame(self.header, {**self.blocks, tag: block})

    def with_events_of(self, earlier: Iterable["SharedFrame"]) -> "SharedFrame":
        """The same moment, with what happened in earlier ones before what happened in it."""
        tag = BlockTag.EVENTS
        before = [one.blocks[tag] for one in earlier if tag in one.blocks]
        if not before:
            return self
        own = [self.blocks[tag]] if tag in self.blocks else []
        return self.with_block(tag, join_blocks(tag, [*before, *own]))

    def with_tags(self, tags: Iterable[BlockTag]) -> "SharedFrame":
        """The same moment with no other blocks than these."""
        wanted = frozenset(tags)
        blocks = {tag: block for tag, block in self.blocks.items() if tag in wanted}
        return SharedFrame(self.header, blocks)

    def with_quantised_poses(self) -> "SharedFrame":
        """The same moment with quantised poses in the place of poses, where they may be."""
        poses = self.blocks.get(BlockTag.POSES)
        compact = None if poses is None else quantised(poses)
        if compact is None:
            return self
        others = {tag: block for tag, block in self.blocks.items() if tag is not BlockTag.POSES}
        return SharedFrame(self.header, others | compact)

    def as_key(self) -> "SharedFrame":
        """The same moment as a key frame."""
        return SharedFrame(replace(self.header, kind=FrameKind.KEY), self.blocks)

    def encode(
        self, tags: Iterable[BlockTag] = tuple(BlockTag), *, gap: bool = False, dropped: int = 0
    ) -> bytes:
        """The bytes for one viewer: only the blocks of `tags` that this moment has."""
        flags = self.header.flags | (FrameFlags.GAP_BEFORE if gap else FrameFlags.NONE)
        header = replace(self.header, flags=flags, dropped=min(dropped, 2**32 - 1))
        return join_frame(header, [self.blocks[tag] for tag in sorted(tags) if tag in self.blocks])


@lru_cache(maxsize=KEPT_QUANTISED)
def quantised(poses: bytes) -> dict[BlockTag, bytes] | None:
    """The blocks that stand for a block of poses, made once for all viewers; none: too coarse."""
    count = BLOCK_HEADER.unpack_from(poses)[1]
    found = quantise(np.frombuffer(poses, POSE_DTYPE, count, BLOCK_HEADER.size))
    if found is None:
        return None
    tags = (BlockTag.QUANTISED, BlockTag.QUANTISED_BOX)
    return {tag: encode_block(tag, table) for tag, table in zip(tags, found, strict=True)}


def share(header: FrameHeader, tables: Mapping[BlockTag, Table]) -> SharedFrame:
    """Encode every table once."""
    return SharedFrame(header, {tag: encode_block(tag, table) for tag, table in tables.items()})


def split(data: bytes) -> SharedFrame:
    """Cut the bytes of a frame into its blocks without decoding them. Raises FrameInvalid."""
    if len(data) < HEADER.size:
        raise FrameInvalid(f"a frame has {HEADER.size} bytes or more; found {len(data)}")
    kind, flags, count, epoch, sequence, step, time, dropped, _ = HEADER.unpack_from(data)
    header = FrameHeader(step, time, epoch, sequence, FrameKind(kind), FrameFlags(flags), dropped)
    blocks: dict[BlockTag, bytes] = {}
    start = HEADER.size
    for _ in range(count):
        if start + BLOCK_HEADER.size > len(data):
            raise FrameInvalid(f"the frame ends inside a block header at byte {start}")
        tag, _, length, _ = BLOCK_HEADER.unpack_from(data, start)
        end = start + BLOCK_HEADER.size + length + -length % 8
        if end > len(data):
            raise FrameInvalid(f"the frame ends inside block {tag} at byte {start}")
        blocks[BlockTag(tag)] = data[start:end]
        start = end
    return SharedFrame(header, blocks)
