"""What a scene cannot say as the model did is in the report, with the element it concerns."""

import pytest

from cardan.service.importing import import_path

MODEL = """
<mujoco><compiler autolimits="true"/><option>{option}</option><worldbody>
  <site name="hook" pos="0.5 0.3 2"/>
  <body name="loose" pos="3 0 1"><joint name="free" type="free" {free}/>
    <geom name="ball" size="0.1" {geom}/></body>
  <body name="a" pos="0 0 1"><joint name="one" type="{kind}" axis="0 1 0" {joint}/>
    <inertial pos="0.1 0 0" mass="1" diaginertia="0.02 0.03 0.025"/>
    <site name="tip" pos="0.3 0 0"/></body>
  <body name="b" pos="0.3 0 1"><joint name="two" type="ball"/>
    <inertial pos="0.1 0 0" mass="1" diaginertia="0.02 0.03 0.025"/>
    <site name="turned" axisangle="0 0 1 90"/></body>
</worldbody>{more}</mujoco>
"""
SPATIAL = '<tendon><spatial name="t" {}><site site="tip"/><site site="hook"/></spatial></tendon>'
DRIVE = '<actuator><general name="drive" joint="one" {}/></actuator>'
AFFINE = 'biastype="affine" gainprm="3"'
POSITION = 'biastype="affine" gainprm="9" biasprm="0 -9 -1"'


def notes_of(tmp_path, option="", free="", geom="", kind="hinge", joint="", more=""):
    path = tmp_path / "model.xml"
    path.write_text(
        MODEL.format(option=option, free=free, geom=geom, kind=kind, joint=joint, more=more)
    )
    return import_path(path).report.notes


@pytest.mark.parametrize(
    ("parts", "code", "where"),
    [
        ({"free": 'damping="1"'}, "free_joint", "joint 'free': damping"),
        ({"free": 'stiffness="1"'}, "free_joint", "joint 'free': stiffness"),
        (
            {"free": 'armature="1" frictionloss="1"'},
            "free_joint",
            "joint 'free': friction loss, armature",
        ),
        ({"kind": "ball", "joint": 'frictionloss="1"'}, "ball_friction", "joint 'one'"),
        ({"joint": 'range="-10 10" margin="0.1"'}, "limit_margin", "joint 'one'"),
        ({"geom": 'surfacevel="1 0 0"'}, "surface_velocity", "geom 'ball'"),
        ({"geom": 'adhesion="1"'}, "adhesion", "geom 'ball'"),
        ({"more": SPATIAL.format('stiffness="1" armature="1"')}, "tendon_armature", "tendon 't'"),
        (
            {"more": SPATIAL.format('stiffness="1" frictionloss="1"')},
            "tendon_friction",
            "tendon 't'",
        ),
        ({"more": SPATIAL.format('stiffness="1 2 3"')}, "tendon_polynomial", "tendon 't'"),
        ({"more": SPATIAL.format('damping="1 2 3"')}, "tendon_polynomial", "tendon 't'"),
        (
            {"more": SPATIAL.format('stiffness="1" springyield="0.1"')},
            "plasticity",
            "tendon 't'",
        ),
        (
            {"more": SPATIAL.format('range="0 3" margin="0.1"')},
            "limit_margin",
            "tendon 't'",
        ),
        ({"more": DRIVE.format(f'{AFFINE} biasprm="0 20 0"')}, "pushing_drive", "joint 'one'"),
        ({"more": DRIVE.format(f'{AFFINE} biasprm="0 -20 2"')}, "pushing_drive", "joint 'one'"),
        (
            {"more": DRIVE.format(f'{POSITION} forcerange="-1 9"')},
            "one_sided_force",
            "actuator 'drive'",
        ),
        (
            {"more": DRIVE.format(POSITION), "joint": 'actuatorfrcrange="-1 9"'},
            "one_sided_force",
            "joint 'one'",
        ),
        (
            {
                "more": DRIVE.format(f'{POSITION} forcerange="-1 1"')
                + '<actuator><motor joint="one"/></actuator>'
            },
            "shared_bound",
            "joint 'one'",
        ),
        ({"more": DRIVE.format('delay="0.01" nsample="9"')}, "delay", "actuator 'drive'"),
        (
            {"more": '<actuator><pid name="drive" joint="one" kp="9"/></actuator>'},
            "actuator",
            "actuator 'drive'",
        ),
        (
            {"more": '<equality><weld name="w" site1="tip" site2="turned"/></equality>'},
            "turned_weld",
            "equality 'w': 1.57 rad",
        ),
        (
            {
                "more": '<equality><weld name="w" body1="a" body2="b" '
                'relpose="0.3 0 0 0.8 0 0 0.6"/></equality>'
            },
            "turned_weld",
            "equality 'w': 1.29 rad",
        ),
        (
            {"more": '<equality><joint name="l" joint1="one" polycoef="0.3 0 0 0 0"/></equality>'},
            "open_lock",
            "equality 'l': 0.3",
        ),
        (
            {
                "more": '<tendon><fixed name="t"><joint joint="one" coef="2"/></fixed></tendon>'
                '<equality><tendon name="k" tendon1="t" polycoef="0.3 0 0 0 0"/></equality>'
            },
            "open_coupling",
            "equality 'k': -0.3",
        ),
    ],
)
def test_a_difference_is_said_with_its_element(tmp_path, parts, code, where):
    (note,) = [note for note in notes_of(tmp_path, **parts) if note.code == code]
    assert note.where == [where]
    assert note.message.endswith(".")


def test_a_model_that_has_a_counterpart_needs_no_notes(tmp_path):
    more = (
        SPATIAL.format('stiffness="1" damping="1"')
        + DRIVE.format(f'{POSITION} forcerange="-5 5"')
        + '<equality><weld body1="a" body2="b"/></equality>'
    )
    assert notes_of(tmp_path, joint='damping="1" stiffness="2" range="-90 90"', more=more) == []


def test_contact_parameters_of_the_whole_model_are_said(tmp_path):
    notes = notes_of(tmp_path, option='<flag override="enable"/>')
    assert "contact_override" in {note.code for note in notes}
