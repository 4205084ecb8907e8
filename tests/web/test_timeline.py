"""What is drawn between two frames, and where a fault is in a text."""

import json
import math
from itertools import pairwise
from typing import Any

import pytest

from tests.web.modules import run_module

FRAMES = """
  const t = new Timeline();
  const frame = (step, x, more = {}) => ({
    step, time: step / 1000, epoch: 0, paused: false, failed: false,
    poses: Float32Array.of(x, 0, 0, 0, 0, 0, 1), ...more });
"""


def timeline(node: str, body: str) -> Any:
    return run_module(node, "timeline.js", "Timeline, interpolate", FRAMES + body)


def test_the_playhead_follows_smoothly_and_never_overtakes(node: str) -> None:
    """60 frames a second that arrive unevenly: the drawn position never jumps back or ahead."""
    drawn = timeline(
        node,
        """
        const shown = [];
        let sent = 0;
        for (let now = 0; now < 3000; now += 7) {
          while (sent * 16.667 + 6 * Math.sin(sent) <= now) {
            t.push(frame(sent * 17, sent * 0.017), now);
            sent += 1;
          }
          const at = t.sample(now);
          if (at && now > 1000) shown.push([at.time, at.poses[0], t.latest.time]);
        }
        return shown;
        """,
    )
    times = [time for time, _, _ in drawn]
    steps = [b - a for a, b in pairwise(times)]
    assert min(steps) >= 0
    assert max(steps) < 0.016  # 7 ms between looks; twice that would be a jump
    assert all(time <= newest for time, _, newest in drawn)
    assert all(newest - time < 0.12 for time, _, newest in drawn)
    assert all(x == pytest.approx(time, abs=1e-5) for time, x, _ in drawn)


def test_a_paused_frame_is_shown_as_it_is(node: str) -> None:
    body = """
      t.push(frame(0, 0), 0); t.push(frame(17, 1), 17); t.push(frame(20, 2, { paused: true }), 40);
      const { time, poses } = t.sample(41); return [time, poses[0]];
    """
    assert timeline(node, body) == [0.02, 2]


def test_another_epoch_forgets_the_frames_before(node: str) -> None:
    body = """
      t.push(frame(500, 5), 0); t.push(frame(0, 0, { epoch: 1 }), 17);
      return t.sample(18).poses[0];
    """
    assert timeline(node, body) == 0


def test_turning_takes_the_shorter_arc(node: str) -> None:
    half = math.sqrt(0.5)
    body = f"""
      const a = Float32Array.of(0, 0, 0, 0, 0, 0, 1);
      const b = Float32Array.of(2, 0, 0, 0, 0, {-half}, {-half});
      const out = new Float32Array(7); interpolate(a, b, 0.5, out); return out;
    """
    out = timeline(node, body)
    assert out[0] == 1
    assert out[5] == pytest.approx(math.sin(math.pi / 8), abs=1e-6)
    assert out[6] == pytest.approx(math.cos(math.pi / 8), abs=1e-6)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"a": 1,}', 1, 8),
        ("{\n 'a': 1}", 2, 2),
        ('{"a": 1\n "b": 2}', 2, 2),
        ('{"a" 1}', 1, 6),
        ('["tab\there"]', 1, 2),
        ("[1, 2", 1, 6),
        ("", 1, 1),
        ("[01]", 1, 3),
        ("{} x", 1, 4),
        ("[nul]", 1, 2),
        ("[1, .5]", 1, 5),
    ],
)
def test_where_a_text_stops_being_json(node: str, text: str, line: int, column: int) -> None:
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
    found = run_module(node, "json_fault.js", "jsonFault", "return jsonFault(input);", text)
    assert (found["line"], found["column"]) == (line, column), found["message"]


@pytest.mark.parametrize("number", ["1e400", "-2E+309", "9" * 400])
def test_a_number_that_would_be_infinite_is_named(node: str, number: str) -> None:
    """The service would be sent null in its place, and say that nothing is there."""
    text = f'{{"a": 1.7e308,\n "mass": {number}}}'
    found = run_module(node, "json_fault.js", "jsonFault", "return jsonFault(input);", text)
    assert (found["line"], found["column"]) == (2, 10)
    assert number[:12] in found["message"]


def test_what_the_browser_reads_has_no_fault(node: str) -> None:
    """Every document JSON.parse takes is taken, every one it refuses is refused."""
    body = """
      const good = ['{"a": [1, -2.5e-3, "\\\\u00e9\\n", null, true, {}], "": []}', '[ ] ', '-0'];
      const parts = ['{', '}', '[', ']', ',', ':', '"a"', '1', '-', '.', 'e', 'null', ' ', '"'];
      let seed = 7;
      const next = (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed % n; };
      const random = Array.from({ length: 4000 }, () =>
        Array.from({ length: 1 + next(9) }, () => parts[next(parts.length)]).join(''));
      const parses = (text) => { try { JSON.parse(text); return true; } catch { return false; } };
      const all = [...good, ...random];
      const wrong = all.filter((text) => parses(text) !== (jsonFault(text) === null));
      return [wrong, all.filter(parses).length];
    """
    wrong, valid = run_module(node, "json_fault.js", "jsonFault", body)
    assert wrong == []
    assert valid > 20


def test_signs_are_printed(node: str) -> None:
    texts = ["a <= b >= c != d", "1 +- 2, 3 +/-4", "a -> b + -c", "1e-05 m"]
    words = run_module(node, "format.js", "signs", "return input.map(signs);", texts)
    assert words == ["a ≤ b ≥ c ≠ d", "1 ± 2, 3 ±4", "a -> b + -c", "1e-05 m"]
    texts = ["<= 1e-05 m, 9.79e+09", "5e9a 0.1e2"]
    words = run_module(node, "format.js", "printed", "return input.map(printed);", texts)
    assert words == ["≤ 10⁻⁵ m, 9.79·10⁹", "5e9a 0.1·10²"]


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/bodies/1/mass", -2),
        ("/bodies/0/name", 'a "quoted", [name]'),
        ("/a~1b/~0", [1, {"x": 2}]),
        ("", None),
        ("/bodies/1/missing", None),
    ],
)
def test_a_pointer_finds_its_place_in_the_text(node: str, pointer: str, value: object) -> None:
    document: dict[str, Any] = {
        "bodies": [{"name": 'a "quoted", [name]', "mass": 1}, {"mass": -2, "s": "}{"}],
        "a/b": {"~": [1, {"x": 2}]},
    }
    text = json.dumps(document, indent=2)
    place = run_module(
        node, "locate.js", "locate", "return locate(input[0], input[1]);", [text, pointer]
    )
    found = json.loads(text[place["start"] : place["end"]])
    if value is not None:
        assert found == value
    elif pointer == "":
        assert found == document
    else:
        assert found == document["bodies"][1]  # the nearest parent that exists
