"""Run MuJoCo's compiler on a prepared model and place it in the state the scene starts from."""

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cardan.schemas.imported import ImportOptions
from cardan.service.importing.notes import Notes
from cardan.service.importing.prepared import Prepared
from cardan.service.importing.refusal import ImportRefusedError
from cardan.service.importing.srdf import (
    States,
    mimicking_joints,
    place_mimicking_joints,
    place_state,
)

Floats = npt.NDArray[np.float64]

MAX_REPAIRS = 200
TINY_MESH = ("volume is too small", "volume is negative", "area is too small")
"""Parts of the compiler's messages about meshes that enclose no volume."""
LIGHT = {"maximal": 1e-3, "reduced": 1e-9}
"""Mass of a link that has none, over the mass it carries, by formulation [-]."""
CONSTRAINTS = ("CONTACT", "LIMIT", "EQUALITY", "FRICTIONLOSS")
"""Parts of the mechanics that MuJoCo's flag CONSTRAINT switches off together."""
SMALLEST = 1e-8
"""Least mass and moment of inertia that a repair writes [kg, kg m^2]."""
HOME = "home"
"""Keyframe or state that a scene starts from unless another is asked for."""
POINT = 1e-12
"""Moment per mass below which a body counts as a point [m^2]."""


@dataclass(frozen=True)
class Compiled:
    """A compiled model (MuJoCo's MjModel) and its state at the start (MjData)."""

    model: Any
    data: Any
    prepared: Prepared
    start: str | None
    """Name of the keyframe or state it starts from; none: the reference configuration."""

    def name(self, kind: str, index: int) -> str:
        """Name of an element of the model; an element without one is named by its number."""
        given = getattr(self.model, kind)(index).name
        return str(given) or f"{kind}{index}"

    def is_off(self, part: str) -> bool:
        """Whether the model switches a part of mechanics off: CONTACT, LIMIT, SPRING, ..."""
        import mujoco

        flags = int(self.model.opt.disableflags)
        bits = mujoco.mjtDisableBit
        off = int(getattr(bits, f"mjDSBL_{part}"))
        if part in CONSTRAINTS:
            off |= int(bits.mjDSBL_CONSTRAINT)
        return bool(flags & off)

    def vector(self, values: Any) -> list[float]:
        """A row of an array as numbers of a document; no negative zeros."""
        return [float(value) + 0.0 for value in values]


def compile_model(prepared: Prepared, options: ImportOptions, notes: Notes) -> Compiled:
    """Compile a model, repair inertias that are not physical, and place it at the start.

    Raises ImportRefusedError.
    """
    import mujoco

    # without a handler MuJoCo writes warnings to MUJOCO_LOG.TXT in the working folder
    mujoco.set_mju_user_warning(lambda text: _quote(text, notes))
    try:
        return _compiled(prepared, options, notes)
    finally:
        mujoco.set_mju_user_warning(None)


def _compiled(prepared: Prepared, options: ImportOptions, notes: Notes) -> Compiled:
    import mujoco

    try:
        spec = mujoco.MjSpec.from_string(prepared.text, assets=prepared.assets)
        if prepared.format == "urdf":
            _complete_urdf(spec, options, notes)
    except (ValueError, TypeError) as error:
        raise _refused(error) from error
    if prepared.format == "urdf" or spec.compiler.settotalmass <= 0.0:
        # fused bodies lose their names; what is fused to the world no longer counts as mass
        spec.compiler.fusestatic = False
    spec.compiler.discardvisual = False
    model = _compile(spec, prepared, options, notes)
    data = mujoco.MjData(model)
    if prepared.format == "urdf":
        start = _state(prepared.states, options, notes)
        if start is not None:
            place_state(model, data, prepared.states[start], notes)
        mimicking = mimicking_joints(model)
        _start_within_limits(model, data, set(range(model.njnt)) - mimicking, notes)
        place_mimicking_joints(model, data)
        _start_within_limits(model, data, mimicking, notes)
    else:
        start = _place_keyframe(model, data, options, notes)
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    if not (np.all(np.isfinite(data.xpos)) and np.all(np.isfinite(data.qvel))):
        raise ImportRefusedError("not_finite", "The initial state of the model is not finite.")
    return Compiled(model, data, prepared, start)


def _quote(text: str, notes: Notes) -> None:
    words = " ".join(text.split()).rstrip(".")
    notes.approximated("compiler", f"MuJoCo says: {words}.")


def _refused(error: Exception) -> ImportRefusedError:
    words = " ".join(str(error).split())
    return ImportRefusedError("not_compiled", f"MuJoCo does not accept the model: {words}")


def _complete_urdf(spec: Any, options: ImportOptions, notes: Notes) -> None:
    """Free the root if `options.root` asks for it; give fixed links without <inertial> no mass."""
    for root in spec.worldbody.bodies:
        if root.joints:
            continue
        if options.root == "free":
            root.add_freejoint()
        else:
            notes.guessed(
                "fixed_root",
                "A URDF does not say how its root is held: it is fixed to the world "
                "(the other choice is a free root).",
                f"link '{root.name}'",
            )
    for body in spec.bodies:
        if body.explicitinertial or not body.geoms:
            continue
        if body.joints:
            notes.guessed(
                "mass_from_shapes",
                "A moving link without <inertial> has the mass of its collision shapes at "
                "1000 kg/m^3.",
                f"link '{body.name}'",
            )
            continue
        for geom in body.geoms:
            geom.density = 0.0
            geom.mass = 0.0


def _compile(spec: Any, prepared: Prepared, options: ImportOptions, notes: Notes) -> Any:
    """Compile; repair and note every inertia that the compiler refuses."""
    for _ in range(MAX_REPAIRS):
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                model = spec.compile()
            for warning in said:
                _quote(str(warning.message), notes)
            return model
        except ValueError as error:
            if not _repair(spec, str(error), LIGHT[options.formulation], notes):
                raise _refused(error) from error
    raise ImportRefusedError("not_compiled", "Too many bodies of the model have no inertia.")


def _repair(spec: Any, refusal: str, share: float, notes: Notes) -> bool:
    """Repair the inertia that a refusal of the compiler names; returns whether it was one."""
    body = _named_body(spec, refusal)
    where = f"body '{body.name}'" if body is not None else ""
    if "balanceinertia" in refusal and not spec.compiler.balanceinertia:
        spec.compiler.balanceinertia = True
        notes.approximated(
            "inertia_balanced",
            "An inertia that no distribution of mass can have is replaced by the mean of its "
            "moments (in every body where it is so; the first is named).",
            where,
        )
        return True
    if "mesh" in refusal and any(words in refusal for words in TINY_MESH):
        return _repair_mesh(spec, refusal, notes)
    if body is None:
        return False
    if "must be larger than mjMINVAL" in refusal:
        mass = float(body.mass)
        _give_light_inertia(spec, body, share)
        if mass > 0.0:
            what = "A moving body with mass and no inertia gets that of a small ball."
            notes.guessed("inertia_missing", what, where)
        elif mass < 0.0:
            what = f"A mass of {mass:g} kg is not possible: a small share of what the body carries."
            notes.guessed("negative_mass", what, where)
        else:
            what = "A moving body without mass gets a small share of what it carries."
            notes.guessed("light_link", what, where)
        return True
    if "positive eigenvalues" in refusal and np.isfinite(body.fullinertia[0]):
        point = _make_positive(body)
        notes.approximated(
            "inertia_not_positive",
            "A body with mass and no inertia counts as a point."
            if point
            else "Moments of inertia that are not positive are raised to be so.",
            where,
        )
        return True
    return False


def _repair_mesh(spec: Any, refusal: str, notes: Notes) -> bool:
    """Make a mesh without volume a shell; returns whether that is new."""
    import mujoco

    found = re.search(r"Element name '(.*)', id (\d+)", refusal)
    mesh = next((m for m in spec.meshes if found and m.name == found.group(1)), None)
    if mesh is None:
        return False
    shell = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    if mesh.inertia == shell:
        return False
    mesh.inertia = shell
    notes.approximated(
        "mesh_without_volume",
        "A mesh that is tiny or open counts as a surface of uniform weight.",
        f"mesh '{mesh.name}'",
    )
    return True


def _named_body(spec: Any, text: str) -> Any:
    """The body that a message of the compiler names: `Element name 'NAME', id NUMBER`."""
    found = re.search(r"Element name '(.*)', id (\d+)", text)
    if found is None:
        return None
    name, number = found.group(1), int(found.group(2))
    if name:
        return spec.body(name)
    return spec.bodies[number] if number < len(spec.bodies) else None


def _give_light_inertia(spec: Any, body: Any, share: float) -> None:
    """Give a body an inertia; a body without mass also gets a share of the mass it carries.

    A ball of mass m and radius 1 cm has 0.4 m r^2 about any axis.
    """
    carried = [
        other
        for other in spec.bodies
        if other.explicitinertial and other.mass and _is_carried(other, body.id)
    ]
    if body.mass > 0.0:
        inertia = 0.4 * float(body.mass) * 1e-4
    else:
        inertia = share * 1e-2
        if carried:
            full = carried[0].fullinertia
            # the compiler marks a tensor that is not given by a first value that is no number
            given = full[:3] if np.isfinite(full[0]) else carried[0].inertia
            inertia = share * float(np.mean(given))
        body.mass = max(share * (carried[0].mass if carried else 1.0), SMALLEST)
        body.ipos = np.zeros(3)
    body.explicitinertial = True
    _set_moments(body, np.full(3, max(inertia, SMALLEST)))


def _is_carried(other: Any, body: int) -> bool:
    """Whether `other` is below a body; walks upwards, as an empty list of children raises."""
    above = other.parent
    while above is not None and above.id != body:
        above = above.parent
    return above is not None


def _make_positive(body: Any) -> bool:
    """Raise moments that are not positive to a thousandth of the largest; whether it is a point."""
    xx, yy, zz, xy, xz, yz = body.fullinertia
    moments, axes = np.linalg.eigh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    largest = float(moments.max())
    if largest <= POINT * float(body.mass):
        _set_moments(body, np.zeros(3))
        return True
    tensor = axes @ np.diag(np.maximum(moments, 1e-3 * largest)) @ axes.T
    body.fullinertia = tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return False


def _set_moments(body: Any, moments: Floats) -> None:
    body.fullinertia = np.array([np.nan, 0.0, 0.0, 0.0, 0.0, 0.0])
    body.iquat = np.array([1.0, 0.0, 0.0, 0.0])
    body.inertia = moments


def _start_within_limits(model: Any, data: Any, joints: set[int], notes: Notes) -> None:
    """Move joints into their limits: a URDF has no initial state, a state may be beyond."""
    import mujoco

    for joint in sorted(joints):
        at = int(model.jnt_qposadr[joint])
        kind = mujoco.mjtJoint(int(model.jnt_type[joint]))
        if not model.jnt_limited[joint] or kind == mujoco.mjtJoint.mjJNT_BALL:
            continue
        lower, upper = (float(value) for value in model.jnt_range[joint])
        start = float(np.clip(data.qpos[at], lower, upper))
        if start != data.qpos[at]:
            notes.guessed(
                "start_at_limit",
                "A joint whose limits exclude the start (0 without a state) starts at the nearest.",
                f"joint '{model.joint(joint).name}' at {start:.15g}",
            )
            data.qpos[at] = start


def _state(states: States, options: ImportOptions, notes: Notes) -> str | None:
    """Name of the state that the options name, else `home`, else none.

    Raises ImportRefusedError.
    """
    known = ", ".join(states) or "none"
    if options.keyframe is not None:
        if options.keyframe in states:
            return options.keyframe
        raise ImportRefusedError(
            "unknown_keyframe",
            f"The SRDF beside the model has no state '{options.keyframe}'; there are: {known}."
            if states
            else f"There is no SRDF beside the model with a state '{options.keyframe}'.",
        )
    if HOME in states:
        notes.guessed("keyframe", "The scene starts from the state 'home'.", "state 'home'")
        return HOME
    if states:
        notes.guessed("keyframe", "The scene starts from no state of the SRDF.", f"states: {known}")
    return None


def _place_keyframe(model: Any, data: Any, options: ImportOptions, notes: Notes) -> str | None:
    """Place the model at the keyframe of the options, if there is one; its name."""
    import mujoco

    key = _keyframe(model, options, notes)
    if key < 0:
        return None
    mujoco.mj_resetDataKeyframe(model, data, key)
    return str(model.key(key).name) or f"key{key}"


def _keyframe(model: Any, options: ImportOptions, notes: Notes) -> int:
    """Number of the keyframe that the options name, else of `home`, else -1.

    Raises ImportRefusedError.
    """
    names = [model.key(k).name for k in range(model.nkey)]
    if options.keyframe is not None:
        if options.keyframe in names:
            return names.index(options.keyframe)
        if options.keyframe.isdecimal() and int(options.keyframe) < len(names):
            return int(options.keyframe)
        known = ", ".join(name or str(k) for k, name in enumerate(names)) or "none"
        raise ImportRefusedError(
            "unknown_keyframe",
            f"The model has no keyframe '{options.keyframe}'; there are: {known}.",
        )
    if HOME in names:
        notes.guessed("keyframe", "The scene starts from the keyframe 'home'.", "key 'home'")
        return names.index(HOME)
    return -1
