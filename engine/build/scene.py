"""Build Model, State and StepOptions from a scene: resolve names, check the physics."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.allocate import contact_cache, empty_state
from cardan.engine.build.bodies import build_bodies, initial_motion, write_mechanisms
from cardan.engine.build.couplings import (
    check_couplings,
    write_coupling_masses,
)
from cardan.engine.build.drives import drives_of
from cardan.engine.build.faults import Faults
from cardan.engine.build.forces import build_forces
from cardan.engine.build.formulation import with_trees
from cardan.engine.build.hollow import check_hollow
from cardan.engine.build.initial import place_initial
from cardan.engine.build.inverse_mass import write_joint_masses
from cardan.engine.build.joint_frames import Frames
from cardan.engine.build.joints import build_joints
from cardan.engine.build.loops import write_loops
from cardan.engine.build.memoised import memoised
from cardan.engine.build.mesh import mesh_arrays
from cardan.engine.build.options import build_options, check_options
from cardan.engine.build.pieces import convex_pieces
from cardan.engine.build.poses import Poses
from cardan.engine.build.prescribed import build_prescribed, start_of
from cardan.engine.build.presence import check_presence, is_absent, responses
from cardan.engine.build.reduced import check_rotors, check_smooth
from cardan.engine.build.room import first_capacity
from cardan.engine.build.shapes import ShapeTable, build_materials
from cardan.engine.build.targets import TargetTable
from cardan.engine.build.triggers import build_triggers, check_triggers, first_sides, release
from cardan.engine.world.model import DYNAMIC, FORCE_WRENCH, Bodies, Meshes, Model, Shapes
from cardan.engine.world.options import StepOptions
from cardan.engine.world.state import N_BIAS, State
from cardan.schemas import Scene


class Built(NamedTuple):
    """A scene as arrays."""

    model: Model
    state: State
    options: StepOptions
    body_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    zero: Poses  # poses of the scene, where all joint coordinates are zero
    formulation: str  # maximal or reduced


def build_shapes(
    scene: Scene, bodies: Bodies, index: dict[str | None, int], faults: Faults
) -> tuple[Shapes, Meshes]:
    """All shapes of all bodies, in the order of the scene; one mesh may become several shapes."""
    of_bodies = tuple(body.shapes for body in scene.bodies)
    if any(shape.type in ("mesh", "heightfield") for part in of_bodies for shape in part):
        shapes, meshes = shapes_and_meshes(scene, bodies, index, faults)
    else:
        solids = solid_shapes(of_bodies, bodies.com_B, index)
        shapes = Shapes(*(array.copy() for array in solids))
        meshes = Meshes(*(array.copy() for array in no_meshes()))
    if not scene.simulation.collisions:
        # rays and distances still find them
        shapes = shapes._replace(mask=np.zeros_like(shapes.mask))
    return shapes, meshes


@memoised
def no_meshes() -> Meshes:
    """The arrays of no mesh."""
    return mesh_arrays([])


@memoised
def solid_shapes(
    of_bodies: tuple[tuple[Any, ...], ...],
    com_B: NDArray[np.float64],
    index: dict[str | None, int],
) -> Shapes:
    """The shapes of bodies without meshes."""
    table = ShapeTable()
    for i, part in enumerate(of_bodies):
        for k, shape in enumerate(part):
            table.add(shape, (i, k), com_B[i], index[shape.material])
    return table.arrays()


def shapes_and_meshes(
    scene: Scene, bodies: Bodies, index: dict[str | None, int], faults: Faults
) -> tuple[Shapes, Meshes]:
    """The shapes and meshes of bodies of which some have meshes."""
    table = ShapeTable()
    for i, body in enumerate(scene.bodies):
        for k, shape in enumerate(body.shapes):
            material = index[shape.material]
            if shape.type == "mesh" and body.type == "dynamic":
                pieces = convex_pieces(shape, f"/bodies/{i}/shapes/{k}", faults)
                table.add_pieces(shape, (i, k), bodies.com_B[i], material, pieces)
            else:
                table.add(shape, (i, k), bodies.com_B[i], material)
    return table.arrays(), mesh_arrays(table.meshes)


def smallest_moving(bodies: Bodies, shapes: Shapes) -> float:
    """Twice the smallest bounding radius of a shape on a dynamic body [m]; inf without any."""
    radii = shapes.bounding_radius[bodies.kind[shapes.body] == DYNAMIC]
    return 2.0 * float(radii.min()) if len(radii) else np.inf


def first_state(scene: Scene, model: Model, tree_q: NDArray[np.float64]) -> State:
    """The state of a model before its bodies are placed."""
    joints, rates = model.joints, int(model.tree.v_start[-1])
    room = first_capacity(len(model.shapes.kind))
    state = empty_state(len(model.bodies.kind), len(joints.kind), len(model.forces.kind), room)
    state.gravity_W[:] = scene.gravity
    state.present[[i for i, body in enumerate(scene.bodies) if is_absent(body)]] = 0
    return state._replace(
        resting=contact_cache(room if scene.simulation.sleeping.enabled else 0),
        excluded=np.sort(joints.excluded[joints.excluded >= 0]),
        tree_q=tree_q,
        tree_qd=np.zeros(rates),
        tree_bias_acceleration=np.zeros((N_BIAS, rates)),
        triggers=first_sides(len(responses(scene))),
    )


def frames_of(scene: Scene, q: NDArray[np.float64]) -> Frames:
    """Origin in W and orientation of each body, and of the world; q (n, 4): orientations."""
    frames = {i: (np.array(body.position), q[i]) for i, body in enumerate(scene.bodies)}
    return frames | {len(scene.bodies): (np.zeros(3), q[-1])}


def build(scene: Scene) -> Built:
    """The whole scene as arrays.

    Raises SceneError with every fault: physics (inertia), and parts of the format that this
    version of the engine does not support.
    """
    faults = Faults()
    check_options(scene, faults)
    bodies = build_bodies(scene, faults)
    materials, material_index = build_materials(scene)
    shapes, meshes = build_shapes(scene, bodies, material_index, faults)
    index = {body.name: i for i, body in enumerate(scene.bodies)} | {"world": len(scene.bodies)}
    p, q, v, w = initial_motion(scene, bodies)
    poses = Poses(p, q)
    targets = TargetTable()
    joints = build_joints(scene.joints, index, poses, frames_of(scene, q), targets)
    write_mechanisms(bodies, joints, p)
    release(joints, scene)
    check_hollow(shapes, bodies, joints.excluded, faults)
    write_joint_masses(joints, bodies, poses)
    write_coupling_masses(joints)
    forces = build_forces(scene.forces, index, poses, bodies, targets)
    prescribed = build_prescribed(scene, faults)
    for m, i in enumerate(prescribed.body):
        v[i], w[i] = start_of(prescribed, m)[2:]
    faults.raise_if_any()
    scene, tree, tree_q = with_trees(scene, bodies, joints, poses)
    check_rotors(scene, tree, faults)
    faults.raise_if_any()
    n_others = int((forces.kind != FORCE_WRENCH).sum()) + len(prescribed.body)
    model = Model(
        bodies._replace(node=tree.node),
        shapes,
        materials,
        joints,
        targets.arrays(),
        forces,
        meshes,
        tree,
        prescribed,
        build_triggers(scene, index),
        drives_of(bodies, joints, tree, n_others),
    )
    write_loops(model, p, q)
    check_triggers(scene, model, index, faults)
    check_presence(scene, faults)
    faults.raise_if_any()
    if scene.simulation.integrator != "semi_implicit_euler":
        check_smooth(scene, model, faults)
        faults.raise_if_any()
    state = first_state(scene, model, tree_q)
    state.p_WB[:], state.q_WB[:], state.v_WB_W[:], state.w_WB_W[:] = p, q, v, w
    state = place_initial(scene, model, state, poses, faults)
    check_couplings(scene, model, state, faults)
    faults.raise_if_any()
    return Built(
        model,
        state,
        build_options(scene, smallest_moving(bodies, shapes)),
        tuple(body.name for body in scene.bodies),
        tuple(joint.name for joint in scene.joints),
        poses,
        scene.simulation.formulation,
    )
