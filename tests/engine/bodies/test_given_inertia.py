"""With `inertia` given, shapes have no mass: the centre is where it is given, or the origin."""

import pytest

from tests.engine.scenes import document, simulate

INERTIA = [0.1, 0.1, 0.1]
BALL = {"type": "sphere", "radius": 0.1}
PICTURE = {"type": "box", "size": [1, 1, 1], "position": [2, 0, 0], "collision_mask": 0}


def centre(shapes, **more):
    body = {"name": "b", "mass": 1.0, "shapes": shapes, **more}
    return simulate(document([body])).model.bodies.com_B[0]


@pytest.mark.parametrize("shapes", [[], [BALL], [BALL, PICTURE], [PICTURE]])
def test_no_shape_moves_a_centre_that_is_the_origin(shapes):
    assert centre(shapes, inertia=INERTIA) == pytest.approx([0, 0, 0], abs=0)


def test_whether_a_shape_touches_does_not_change_the_motion():
    solid = {key: value for key, value in PICTURE.items() if key != "collision_mask"}
    ends = []
    for shape in (PICTURE, solid):
        body = {"name": "b", "mass": 1.0, "inertia": [0.1, 0.2, 0.25], "shapes": [BALL, shape]}
        body["angular_velocity"] = [1.0, 2.0, 3.0]
        simulation = simulate(document([body]))
        simulation.advance(50)
        ends.append(simulation.poses())
    assert (ends[0] == ends[1]).all()


def test_a_given_centre_counts():
    shapes = [BALL, PICTURE]
    given = centre(shapes, inertia=INERTIA, center_of_mass=[0.1, 0.2, 0.3])
    assert given == pytest.approx([0.1, 0.2, 0.3], abs=0)


def test_a_mass_that_is_spread_is_spread_over_every_shape():
    ball = 4.0 / 3.0 * 3.141592653589793 * 0.1**3
    assert centre([BALL, PICTURE])[0] == pytest.approx(2.0 / (1.0 + ball))
