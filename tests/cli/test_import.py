import json

from tests.service.importing.models import BOB, SWING


def model(tmp_path):
    (tmp_path / "bob.obj").write_text(BOB)
    path = tmp_path / "swing.xml"
    path.write_text(SWING)
    return path


def test_a_model_becomes_a_scene_file_that_validates(cardan, tmp_path):
    made = tmp_path / "scene.json"
    result = cardan("import", model(tmp_path), "-o", made)
    assert result.exit_code == 0
    assert "convex hulls" in result.stderr
    assert "read by MuJoCo" in result.stderr
    assert json.loads(made.read_text())["name"] == "swing"
    assert cardan("validate", made).exit_code == 0


def test_the_scene_goes_to_standard_output_and_machines_get_the_report(cardan, tmp_path):
    path = model(tmp_path)
    assert json.loads(cardan("import", path).stdout)["name"] == "swing"
    said = json.loads(cardan("import", path, "--json", "--set", "ground=true").stdout)
    assert said["report"]["bodies"] == len(said["scene"]["bodies"]) == 3


def test_what_cannot_be_imported_ends_with_2(cardan, tmp_path):
    path = model(tmp_path)
    assert cardan("import", tmp_path / "gone.xml").exit_code == 2
    assert cardan("import", path, "--set", "root=loose").exit_code == 2
    assert cardan("import", path, "--set", "rot=free").exit_code == 2
    result = cardan("import", path, "--set", "keyframe=away", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["code_name"] == "unknown_keyframe"


def test_a_keyframe_may_be_given_by_its_number(cardan, tmp_path):
    path = model(tmp_path)
    keys = '<keyframe><key qpos="0.1"/><key name="up" qpos="0.2"/></keyframe></mujoco>'
    path.write_text(SWING.replace("</mujoco>", keys))
    for wanted, name in (("0", "key0"), ("1", "up"), ("up", "up")):
        result = cardan("import", path, "--json", "--set", f"keyframe={wanted}")
        assert json.loads(result.stdout)["report"]["keyframe"] == name
