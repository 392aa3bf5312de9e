# SPDX-License-Identifier: Apache-2.0

"""Generate the tables of docs/closed_loops.md: what other tools do with the same files.

python docs/make_closed_loops.py           write them
python docs/make_closed_loops.py --check   exit with 1 if the page is out of date

Everything in the tables is a matter of the equations, not of the machine, so it is the same
wherever it is made; times are in performance.md.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
from generated import table, with_tables, write_or_check

from robodyn.algorithms.stepping import step

sys.path.insert(0, str(Path(__file__).parents[1]))

import robodyn as rd
from benchmarks.loops import FOLDER, ConstrainedTree

PAGE = Path(__file__).with_name("closed_loops.md")
NAMES = ("fivebar", "delta", "stewart_tree", "redundant_3rrr")
# Pinocchio's regularization, and the most steps of its proximal solver.
MU = (0.0, 1e-12, 1e-6)
STEPS = 50
# Let go from home, MuJoCo's default closures and its time step; how long to watch [s].
STEP, WATCHED = 2e-3, 0.2


def loaded(name: str) -> Any:
    """A file of the reference data, without friction."""
    mechanism: Any = rd.load(FOLDER / f"{name}.urdf", kind="closed_loop")
    return mechanism.without_friction()


def pinocchio_error(mechanism: Any, mu: float) -> str:
    """Largest error of the accelerations at home, at rest, relative to the largest acceleration."""
    tree, q = ConstrainedTree(mechanism), mechanism.home
    n = mechanism.mobility
    expected = mechanism.forward_dynamics(q, np.zeros(n), np.zeros(len(mechanism.joint_names)))
    settings = pin.ProximalSettings(1e-14, mu, STEPS)
    found = pin.constraintDynamics(
        tree.model,
        tree.data,
        tree.configuration(q),
        np.zeros(tree.model.nv),
        np.zeros(tree.model.nv),
        tree.contacts,
        tree.states,
        settings,
    )
    found = found[[tree.index(name) for name in mechanism.independent_joints]]
    error = np.abs(found - expected).max() / np.abs(expected).max()
    return (
        "no solution"
        if not np.isfinite(error)
        else f"< 1e-9 in {_rounds(settings.iter)}"
        if (error < 1e-9)
        else f"{error:.0e}"
    )


def _rounds(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def mujoco_opening(file: str, mechanism: Any) -> str:
    """Largest gap [mm] of a closure in MuJoCo, in a simulation from rest at home."""
    root = ElementTree.fromstring((FOLDER / f"{file}.urdf").read_text())
    for element in [*root.findall("constraint"), *root.findall("ros2_control")]:
        root.remove(element)
    base = mechanism.model.base_link
    for element in root.iter():  # under its name of the base, bodies may float
        for key in ("name", "link"):
            if element.get(key) == base:
                element.set(key, "world")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tree.urdf")
        path.write_text(ElementTree.tostring(root, encoding="unicode"))
        spec = mujoco.MjSpec.from_file(str(path))
    spec.compiler.fusestatic = False
    # it rejects bodies without mass, such as the crosses of universal joints
    spec.compiler.boundmass, spec.compiler.boundinertia = 1e-6, 1e-9
    spec.option.timestep = STEP
    spec.option.gravity = mechanism.model.gravity
    for closure in mechanism.model.closures:
        for role, link, place in (
            ("a", closure.parent, closure.at), ("b", closure.child, closure.child_at),
        ):  # fmt: skip
            body = spec.worldbody if link == base else spec.body(link)
            body.add_site(name=f"{closure.name}_{role}", pos=place.translation)
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_CONNECT,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            name1=f"{closure.name}_a",
            name2=f"{closure.name}_b",
        )
    model = spec.compile()
    model.dof_damping[:], model.dof_frictionloss[:] = 0.0, 0.0
    data = mujoco.MjData(model)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    joints = {joint.name: joint for joint in mechanism.model.joints}
    at = 0
    for name in mechanism.structure.joint_names:
        place = model.joint(name).qposadr[0]
        if joints[name].kind == "floating":  # MuJoCo has its pose in the world
            pose = mechanism.link_pose(mechanism.home, joints[name].child)
            data.qpos[place : place + 7] = [*pose[:3], pose[6], *pose[3:6]]
            at += 7
        else:
            data.qpos[place] = mechanism.home[at]
            at += 1
    widest = 0.0
    for _ in range(round(WATCHED / STEP)):
        mujoco.mj_step(model, data)
        for closure in mechanism.model.closures:
            ends = [data.site(f"{closure.name}_{role}").xpos for role in "ab"]
            widest = max(widest, float(np.linalg.norm(ends[0] - ends[1])))
    return f"{1e3 * widest:.1g}"


def own_opening(mechanism: Any) -> str:
    """[mm] the same here, of our steps of that length."""
    q, u = mechanism.home, np.zeros(mechanism.mobility)
    none, widest = np.zeros(len(mechanism.joint_names)), 0.0
    for _ in range(round(WATCHED / STEP)):
        q, u = step(mechanism, q, u, none, np.zeros(6), STEP, 1)
        widest = max(widest, mechanism.structure.equations.relative_residual(q) * mechanism.size)
    return "< 1e-11" if 1e3 * widest < 1e-11 else f"{1e3 * widest:.0e}"


def others() -> str:
    """A row for each file."""
    rows = []
    for name in NAMES:
        mechanism = loaded(name)
        equations = f"{mechanism.structure.closures}, rank {mechanism.structure.rank}"
        pinocchio = [pinocchio_error(mechanism, mu) for mu in MU]
        openings = mujoco_opening(name, mechanism), own_opening(mechanism)
        rows.append([f"`{name}`", equations, *pinocchio, *openings])
    head = ["file", "equations", *(f"Pinocchio, mu = {mu:g}" for mu in MU)]
    return table([*head, "gap in MuJoCo [mm]", "gap in robodyn [mm]"], rows)


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, with_tables(PAGE, {"others": others})))
