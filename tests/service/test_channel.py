"""What a subverted worker may send: messages, and nothing that runs."""

import asyncio
import os
import pickle
import socket

import numpy as np
import pytest

from cardan.service.compute.messages import EncodeOrder, Refused
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.processes.channel import PREFIX, Channel, ProtocolError, decode, encode, read
from cardan.service.processes.worker import Hello
from cardan.service.recordings.slices import Slice
from cardan.service.sessions.messages import Frame, PlaybackState, Start
from cardan.service.simulations.messages import Done
from cardan.service.simulations.states import RunEvent

MESSAGES = [
    Hello(True, 1),
    Start("folder", PlaybackState(speed=None), (0, 3), ["events"], (0, 2), 1.0, 1.0, 10),
    Frame(bytes(1000)),
    Done(3, RunEvent.FAILED, 7, {"energy": {"final": np.float64(0.1)}}, {"list": [1, (2, None)]}),
    EncodeOrder("a", "csv", "bodies", Slice(0.0, 1.0, 2, ("b",)), "c", 5),
    Refused(ServiceError(ErrorCode.SCENE_INVALID, "no", errors=[{"pointer": ""}]).problem),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_messages_arrive_as_they_were(message):
    here, there = socket.socketpair()
    ours, theirs = Channel(here), Channel(there)
    ours.send(message)
    assert theirs.receive(5.0) == message
    ours.close()
    theirs.close()


class Call:
    """Pickled as a call of any function."""

    def __init__(self, function, *arguments):
        self._parts = (function, arguments)

    def __reduce__(self):
        return self._parts


def by_name(module, name):
    """A pickle of protocol 4 that names a global: dots in the name lead through attributes."""
    texts = b"".join(b"\x8c" + bytes([len(text)]) + text.encode() for text in (module, name))
    return b"\x80\x04" + texts + b"\x93."


def test_whatever_runs_code_is_refused(tmp_path):
    sign = tmp_path / "sign"
    attacks = [
        pickle.dumps(Call(os.system, f"touch {sign}")),
        pickle.dumps(Call(eval, f"open({str(sign)!r}, 'w')")),
        pickle.dumps(Call(open, str(sign), "w")),
        pickle.dumps(Done(0, "succeeded", 0, {"energy": Call(os.mkdir, str(sign))})),
        by_name("cardan.service.processes.launcher", "os.system"),
        by_name("cardan.service.processes.launcher", "os"),
        by_name("cardan.service.processes.limits", "limit_resources"),
        by_name("cardan.service.keys", "Key.cookie"),
        by_name("cardan.service.processes.launcher", "Worker"),
        by_name("cardan.service.processes.launcher", "Hello"),
        by_name("numpy", "load"),
        b"no pickle",
        encode(Hello(True, 1))[PREFIX.size :][:-3],
    ]
    for data in attacks:
        with pytest.raises(ProtocolError):
            decode(data)
    assert not sign.exists()
    # by its own name, a message is found
    assert decode(by_name("cardan.service.processes.worker", "Hello")) is Hello


def test_a_session_gives_up_a_worker_that_sends_anything_else():
    async def first(data):
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await read(reader)

    bad = pickle.dumps(Call(os.getpid))
    assert asyncio.run(first(PREFIX.pack(len(bad)) + bad)) is None
    assert asyncio.run(first(PREFIX.pack(2**60))) is None
    assert asyncio.run(first(encode(Frame(b"x")))) == Frame(b"x")
