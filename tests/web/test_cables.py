"""The straight part of a cable as the page draws it: that of the engine."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cardan.engine.constraints.joints.frames import joint_frame
from cardan.engine.constraints.parts.wound import span_of
from tests.engine.scenes import Document, simulate
from tests.references.test_cables import body, line, wheel, winch
from tests.references.test_couplings import scene
from tests.web.modules import run_module

DRAWN = "return input.map(({ a, b, first, second }) => straightPart(a, b, first, second));"


def cables() -> list[Document]:
    """A drum with a load; two wheels with the cable outside of them, and between them."""
    found = [winch("maximal")]
    for sense in (1.0, -1.0):
        bodies = [body("a", (0, 0), 1.0), body("b", (1.0, 0.3), 1.0)]
        wheels = {"wheel": wheel(), "wheel2": wheel(0.1, sense)}
        joint = line("belt", ("a", "b"), (0, 0), (1.0, 0.3), **wheels)
        found.append(scene(bodies, [joint], "maximal", gravity=[0, 0, 0]))
    return found


def test_cables_are_drawn_where_the_engine_has_them(node: str) -> None:
    asked, spans = [], []
    for document in cables():
        sim = simulate(document)
        sim.advance(100)
        joints, state = sim.model.joints, sim.state
        j = len(joints.kind) - 1
        frame = joint_frame(joints, state, j)
        a, b = (state.p_WB[joints.body_a[j]], state.p_WB[joints.body_b[j]])
        # all anchors are the centres of their bodies
        assert np.allclose(np.subtract(b, a), frame.gap)
        first = {"radius": joints.wheel[j, 0], "axis": list(frame.t1)}
        second = {"radius": joints.wheel[j, 1], "axis": list(frame.s_b)}
        wheels = {"first": first, "second": second if joints.wheel[j, 1] > 0.0 else None}
        asked.append({"a": a.tolist(), "b": b.tolist(), **wheels})
        spans.append((span_of(joints, j, frame), joints.wheel[j].copy()))
    drawn = run_module(node, "cables.js", "straightPart", DRAWN, json.loads(json.dumps(asked)))
    for one, (start, end), (span, radius) in zip(asked, drawn, spans, strict=True):
        e = np.array(span.e)
        assert start == pytest.approx(one["a"] + radius[0] * e, abs=1e-12)
        assert end == pytest.approx(one["b"] + span.sense * radius[1] * e, abs=1e-12)
        straight = np.subtract(end, start)
        assert np.linalg.norm(straight) == pytest.approx(span.length, rel=1e-12)
        # it leaves the wheel along the rim, by the right hand about the axis
        along = np.cross(one["first"]["axis"], e)
        assert straight @ along == pytest.approx(span.length, rel=1e-12)
