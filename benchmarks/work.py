"""What is compared: each peer's answer is checked against ours before its time is taken."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pinocchio as pin

import robodyn as rd
from benchmarks import engines, numpy_floor
from benchmarks.timing import Contender, Timing, compare
from robodyn.serial.arm import SerialArm
from robodyn.stewart.platform import StewartPlatform

warnings.simplefilter("ignore", rd.errors.UnphysicalInertiaWarning)
BATCHES = (1, 8, 64, 512, 4096, 32768)
BARE = {"friction": False, "armature": False}


def agree(name: str, theirs: Any, ours: Any) -> None:
    """Refuse to time a peer that computes something else."""
    np.testing.assert_allclose(
        theirs, ours, rtol=1e-8, atol=1e-8 * np.abs(ours).max(), err_msg=name
    )


def platform() -> StewartPlatform:
    """A motion platform without friction, which peers do not have.

    MuJoCo refuses the papers' manipulator, whose inertia tensors are not physical.
    """
    loaded: Any = rd.load("stewart_symmetric")
    bare: StewartPlatform = loaded.without_friction()
    return bare


def bare_arm() -> SerialArm:
    """The PUMA 560."""
    arm: Any = rd.load("puma560")
    return SerialArm(arm.model.without_friction())


def states(count: int) -> Any:
    """Poses (N, 7) about home, twists and accelerations (N, 6)."""
    m, rng = platform(), np.random.default_rng(4)
    pose = m.advance(m.home, rng.uniform(-0.1, 0.1, (count, 6)))
    return pose, rng.normal(size=(count, 6)), rng.normal(size=(count, 6))


def one_platform() -> list[Timing]:
    """One call: inverse dynamics of the platform, and what the tree alone costs others."""
    m = platform()
    pose, twist, accel = (np.ascontiguousarray(x[0]) for x in states(1))
    ours = m.inverse_dynamics(pose, twist, accel)
    closed = engines.ClosedPinocchio(m, pose, twist, accel)
    agree("Pinocchio, closed", closed.closed(), ours)
    theirs = engines.MujocoPlatform(m, pose, closed.qd, closed.qdd)
    agree("MuJoCo", theirs.open_tree()[:18], closed.open_tree()[:18])
    one = (pose[None], twist[None], accel[None])
    agree("NumPy", numpy_floor.inverse_dynamics(m.model, *one)[0], ours)
    arm_model = engines.pinocchio_arm(bare_arm().model)
    arm_data = arm_model.createData()
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 6)).copy()
    fast, out = m.unchecked, np.empty(6)
    return compare(
        [
            Contender("robodyn, platform", lambda: m.inverse_dynamics(pose, twist, accel)),
            Contender(
                "robodyn, platform, unchecked",
                lambda: fast.inverse_dynamics(pose, twist, accel, out),
            ),
            Contender(
                "Pinocchio rnea, six-joint arm", lambda: pin.rnea(arm_model, arm_data, q, qd, qdd)
            ),
            Contender("Pinocchio rnea, open tree", closed.open_tree),
            Contender("Pinocchio, loops closed from Python", closed.closed),
            Contender("MuJoCo mj_inverse, open tree", theirs.open_tree),
            Contender("NumPy", lambda: numpy_floor.inverse_dynamics(m.model, *one)),
        ]
    )


def rest_of_platform() -> list[Timing]:
    """One call of the other functions of the platform."""
    m = platform()
    pose, twist, accel = (np.ascontiguousarray(x[0]) for x in states(1))
    forces = m.inverse_dynamics(pose, twist, accel)
    H = m.jacobian(pose)
    agree("NumPy", np.linalg.cond(H), m.condition_number(pose))
    return compare(
        [
            Contender("robodyn forward_dynamics", lambda: m.forward_dynamics(pose, twist, forces)),
            Contender("robodyn mass_matrix", lambda: m.mass_matrix(pose)),
            Contender("robodyn condition_number", lambda: m.condition_number(pose)),
            Contender("NumPy cond of a given Jacobian", lambda: np.linalg.cond(H)),
        ]
    )


def one_arm() -> list[Timing]:
    """One call: an arm of six joints."""
    arm = bare_arm()
    model = engines.pinocchio_arm(arm.model)
    data = model.createData()
    q, qd, qdd = (x.copy() for x in np.random.default_rng(2).normal(size=(3, 6)))
    tau = arm.inverse_dynamics(q, qd, qdd, **BARE)
    agree("rnea", pin.rnea(model, data, q, qd, qdd), tau)
    agree("aba", pin.aba(model, data, q, qd, tau), arm.forward_dynamics(q, qd, tau, **BARE))
    M = arm.mass_matrix(q, armature=False)
    agree("crba", np.triu(pin.crba(model, data, q)), np.triu(M))
    fast, out, room = arm.unchecked, np.empty(6), np.empty((6, 6))
    return compare(
        [
            Contender("robodyn inverse_dynamics", lambda: arm.inverse_dynamics(q, qd, qdd)),
            Contender("robodyn, unchecked", lambda: fast.inverse_dynamics(q, qd, qdd, out)),
            Contender("Pinocchio rnea", lambda: pin.rnea(model, data, q, qd, qdd)),
            Contender("robodyn forward_dynamics", lambda: arm.forward_dynamics(q, qd, tau)),
            Contender("robodyn, unchecked", lambda: fast.forward_dynamics(q, qd, tau, out)),
            Contender("Pinocchio aba", lambda: pin.aba(model, data, q, qd, tau)),
            Contender("robodyn mass_matrix", lambda: arm.mass_matrix(q)),
            Contender("robodyn, unchecked", lambda: fast.mass_matrix(q, room)),
            Contender("Pinocchio crba", lambda: pin.crba(model, data, q)),
        ]
    )


def batches() -> dict[str, list[tuple[int, Timing]]]:
    """Cost of a state against the size of the batch, on one thread and on all."""
    m = platform()
    curves: dict[str, list[tuple[int, Timing]]] = {"one thread": [], "all threads": [], "NumPy": []}
    for count in BATCHES:
        pose, twist, accel = states(count)
        wanted = numpy_floor.inverse_dynamics(m.model, pose[:64], twist[:64], accel[:64])
        agree("NumPy", wanted, m.inverse_dynamics(pose, twist, accel)[:64])
        for name, threads in (("one thread", 1), ("all threads", None)):
            rd.set_threads(threads)
            call = Contender(name, lambda: m.inverse_dynamics(pose, twist, accel), count)  # noqa: B023
            curves[name] += [(count, compare([call], rounds=15)[0])]
        if count <= 4096:
            floor = lambda: numpy_floor.inverse_dynamics(m.model, pose, twist, accel)  # noqa: B023, E731
            curves["NumPy"] += [(count, compare([Contender("NumPy", floor, count)], rounds=5)[0])]
    rd.set_threads(None)
    return curves


def joints() -> dict[str, list[tuple[int, Timing]]]:
    """Cost of one call against the number of joints of an arm, ours unchecked."""
    curves: dict[str, list[tuple[int, Timing]]] = {"robodyn": [], "Pinocchio rnea": []}
    base = bare_arm().model
    for n in (1, 2, 3, 6, 12, 24, 48):
        links = tuple(
            base.joints[i % 6].__class__(**{**vars(base.joints[i % 6]), "name": f"joint{i}"})
            for i in range(n)
        )
        arm = SerialArm(base.__class__(**{**vars(base), "joints": links, "home": np.zeros(n)}))
        model = engines.pinocchio_arm(arm.model)
        data = model.createData()
        q, qd, qdd = (x.copy() for x in np.random.default_rng(3).normal(size=(3, n)))
        wanted = arm.inverse_dynamics(q, qd, qdd, **BARE)
        agree("rnea", pin.rnea(model, data, q, qd, qdd), wanted)
        out, fast = np.empty(n), arm.unchecked
        ours, theirs = compare(
            [
                Contender("robodyn", lambda: fast.inverse_dynamics(q, qd, qdd, out)),  # noqa: B023
                Contender("Pinocchio rnea", lambda: pin.rnea(model, data, q, qd, qdd)),  # noqa: B023
            ],
            rounds=15,
        )
        curves["robodyn"] += [(n, ours)]
        curves["Pinocchio rnea"] += [(n, theirs)]
    return curves
