# SPDX-License-Identifier: Apache-2.0

"""The comparisons: each peer's result is checked against ours before it is timed."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

import robodyn as rd
from benchmarks import closed_loops, engines, numpy_floor, roofline, toolbox
from benchmarks.engine_trees import six_legs
from benchmarks.timing import Contender, Timing, compare
from robodyn.solvers.serial.arm import SerialArm
from robodyn.solvers.serial.chain import model_of_chain
from robodyn.solvers.stewart.kernels import lanes as stewart_lanes
from robodyn.solvers.stewart.platform import StewartPlatform

warnings.simplefilter("ignore", rd.errors.UnphysicalInertiaWarning)
BATCHES = (1, 8, 64, 512, 4096, 32768)
LARGE = BATCHES[-1]
BARE = {"friction": False, "armature": False}


def agree(name: str, theirs: Any, ours: Any, within: float = 1e-8) -> None:
    """Refuse to time a peer that computes something else."""
    np.testing.assert_allclose(
        theirs, ours, rtol=within, atol=within * np.abs(ours).max(), err_msg=name
    )


def platform(rotors: bool = False) -> StewartPlatform:
    """A motion platform without friction, which peers do not have; with its motors' rotors or not.

    MuJoCo refuses the papers' manipulator, whose inertia tensors are not physical.
    """
    loaded: Any = rd.load("stewart_symmetric")
    smooth: StewartPlatform = loaded.without_friction()
    return smooth if rotors else smooth.without_actuators()


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
    agree("NumPy", numpy_floor.inverse_dynamics(six_legs(m), *one)[0], ours)
    arm_model = engines.pinocchio_arm(bare_arm())
    arm_data = arm_model.createData()
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 6)).copy()
    fast, out, driven = m.solver.unchecked, np.empty(6), platform(rotors=True)
    return compare(
        [
            Contender("robodyn, platform", lambda: m.inverse_dynamics(pose, twist, accel)),
            Contender(
                "robodyn, with rotors in its legs",
                lambda: driven.inverse_dynamics(pose, twist, accel),
            ),
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
            Contender("NumPy", lambda: numpy_floor.inverse_dynamics(six_legs(m), *one)),
        ]
    )


def forward_platform() -> list[Timing]:
    """One call: forward dynamics of the platform, by engines that close its loops themselves."""
    m = platform()
    pose, twist, accel = (np.ascontiguousarray(x[0]) for x in states(1))
    forces = m.inverse_dynamics(pose, twist, accel)
    closed = engines.ClosedPinocchio(m, pose, twist, accel)
    opened = engines.MujocoPlatform(m, pose, closed.qd, closed.qdd)
    contacts = closed_loops.ConstrainedPinocchio(closed, forces)
    connected = closed_loops.ConstrainedMujoco(opened, six_legs(m).legs, forces)
    ours = m.forward_dynamics(pose, twist, forces)
    agree("Pinocchio, constraintDynamics", contacts.acceleration(), ours)
    agree("MuJoCo, connect", connected.acceleration(), ours, within=0.02)
    fast, out, driven = m.solver.unchecked, np.empty(6), platform(rotors=True)
    return compare(
        [
            Contender("robodyn forward_dynamics", lambda: m.forward_dynamics(pose, twist, forces)),
            Contender(
                "robodyn, with rotors in its legs",
                lambda: driven.forward_dynamics(pose, twist, forces),
            ),
            Contender(
                "robodyn, unchecked", lambda: fast.forward_dynamics(pose, twist, forces, out)
            ),
            Contender("Pinocchio constraintDynamics", contacts.compute),
            Contender("MuJoCo mj_step, loops as equality constraints", connected.step),
        ]
    )


def rest_of_platform() -> list[Timing]:
    """One call of the other functions of the platform."""
    m = platform()
    pose = np.ascontiguousarray(states(1)[0][0])
    H = m.jacobian(pose)
    agree("NumPy", np.linalg.cond(H), m.condition_number(pose))
    return compare(
        [
            Contender("robodyn mass_matrix", lambda: m.mass_matrix(pose)),
            Contender("robodyn condition_number", lambda: m.condition_number(pose)),
            Contender("NumPy cond of a given Jacobian", lambda: np.linalg.cond(H)),
        ]
    )


def one_arm() -> list[list[Timing]]:
    """One call: an arm of six joints, forth and back and its mass matrix."""
    arm = bare_arm()
    model = engines.pinocchio_arm(arm)
    data = model.createData()
    q, qd, qdd = (x.copy() for x in np.random.default_rng(2).normal(size=(3, 6)))
    tau = arm.inverse_dynamics(q, qd, qdd, **BARE)
    accelerations, M = arm.forward_dynamics(q, qd, tau, **BARE), arm.mass_matrix(q, armature=False)
    agree("rnea", pin.rnea(model, data, q, qd, qdd), tau)
    agree("aba", pin.aba(model, data, q, qd, tau), accelerations)
    agree("crba", np.triu(pin.crba(model, data, q)), np.triu(M))
    fast, out, room = arm.solver.unchecked, np.empty(6), np.empty((6, 6))
    tables = [
        [
            Contender("robodyn inverse_dynamics", lambda: arm.inverse_dynamics(q, qd, qdd)),
            Contender("robodyn, unchecked", lambda: fast.inverse_dynamics(q, qd, qdd, out)),
            Contender("Pinocchio rnea", lambda: pin.rnea(model, data, q, qd, qdd)),
        ],
        [
            Contender("robodyn forward_dynamics", lambda: arm.forward_dynamics(q, qd, tau)),
            Contender("robodyn, unchecked", lambda: fast.forward_dynamics(q, qd, tau, out)),
            Contender("Pinocchio aba", lambda: pin.aba(model, data, q, qd, tau)),
        ],
        [
            Contender("robodyn mass_matrix", lambda: arm.mass_matrix(q)),
            Contender("robodyn, unchecked", lambda: fast.mass_matrix(q, room)),
            Contender("Pinocchio crba", lambda: pin.crba(model, data, q)),
        ],
    ]
    puma = toolbox.puma()
    if puma is not None:
        agree("toolbox, rne", puma.rne(q, qd, qdd), tau)
        agree("toolbox, accel", puma.accel(q, qd, tau), accelerations)
        agree("toolbox, inertia", puma.inertia(q), M)
        name = "Robotics Toolbox"
        tables[0] += [Contender(f"{name} rne", lambda: puma.rne(q, qd, qdd))]
        tables[1] += [Contender(f"{name} accel", lambda: puma.accel(q, qd, tau))]
        tables[2] += [Contender(f"{name} inertia", lambda: puma.inertia(q))]
    return [compare(contenders) for contenders in tables]


def many() -> list[tuple[str, Timing, Timing]]:
    """Large batches of every function in vectors: name, on one thread, on all."""
    m, arm = platform(), bare_arm()
    pose, twist, accel = states(LARGE)
    q, qd, qdd = np.random.default_rng(5).normal(size=(3, LARGE, 6))
    calls = {
        "platform inverse_dynamics": lambda: m.inverse_dynamics(pose, twist, accel),
        "platform forward_dynamics": lambda: m.forward_dynamics(pose, twist, accel),
        "platform mass_matrix": lambda: m.mass_matrix(pose),
        "platform bias": lambda: m.bias(pose, twist),
        "platform jacobian": lambda: m.jacobian(pose),
        "platform condition_number": lambda: m.condition_number(pose),
        "arm inverse_dynamics": lambda: arm.inverse_dynamics(q, qd, qdd),
        "arm forward_dynamics": lambda: arm.forward_dynamics(q, qd, qdd),
        "arm mass_matrix": lambda: arm.mass_matrix(q),
        "arm jacobian": lambda: arm.jacobian(q),
    }
    rows = []
    for name, call in calls.items():

        def on(threads: int | None, call: Any = call) -> Any:
            def run() -> Any:
                rd.set_threads(threads)
                return call()

            return run

        (one,) = compare([Contender(name, on(1), LARGE)], rounds=21)
        # the fastest of many: all threads have to find a processor free at the same time
        (every,) = compare([Contender(name, on(None), LARGE)], rounds=101, clock=time.perf_counter)
        rows.append((name, one, every))
    rd.set_threads(None)
    return rows


def roof(one_thread: Timing) -> dict[str, Any]:
    """Return the position of a large batch of the platform's inverse dynamics in the roofline."""
    m = platform()
    pose, twist, accel = (np.ascontiguousarray(x[0]) for x in states(1))
    tally = roofline.operations(m, pose, twist, accel)
    count = sum(tally.total()) + sum(tally.functions.values())
    moved = 8 * (7 + 6 + 6 + 6)
    peak, width = roofline.peak_operations(), roofline.peak_bytes()
    wide, narrow, single = roofline.vector_instructions(stewart_lanes.inverse_dynamics)
    rate = count / one_thread.best * 1e-3
    return {
        "operations": count,
        "moved": moved,
        "rate": rate,
        "peak": peak,
        "share": rate / peak,
        "bandwidth": moved / one_thread.best * 1e-3,
        "peak_bandwidth": width,
        "wide": wide,
        "narrow": narrow,
        "single": single,
    }


def batches() -> dict[str, list[tuple[int, Timing]]]:
    """Cost of a state against the size of the batch, on one thread and on all."""
    m = platform()
    curves: dict[str, list[tuple[int, Timing]]] = {"one thread": [], "all threads": [], "NumPy": []}
    for count in BATCHES:
        pose, twist, accel = states(count)
        expected = numpy_floor.inverse_dynamics(six_legs(m), pose[:64], twist[:64], accel[:64])
        agree("NumPy", expected, m.inverse_dynamics(pose, twist, accel)[:64])
        for name, threads in (("one thread", 1), ("all threads", None)):
            rd.set_threads(threads)
            call = Contender(name, lambda: m.inverse_dynamics(pose, twist, accel), count)  # noqa: B023
            clock = time.thread_time if threads == 1 else time.perf_counter
            curves[name] += [(count, compare([call], rounds=31, clock=clock)[0])]
        if count <= 4096:
            floor = lambda: numpy_floor.inverse_dynamics(six_legs(m), pose, twist, accel)  # noqa: B023, E731
            curves["NumPy"] += [(count, compare([Contender("NumPy", floor, count)], rounds=5)[0])]
    rd.set_threads(None)
    return curves


def joints() -> dict[str, list[tuple[int, Timing]]]:
    """Cost of one call against the number of joints of an arm, ours unchecked."""
    curves: dict[str, list[tuple[int, Timing]]] = {"robodyn": [], "Pinocchio rnea": []}
    base = bare_arm().chain
    for n in (1, 2, 3, 6, 12, 24, 48):
        parts = [
            (
                replace(base.joints[i % 6], name=f"joint{i}"),
                replace(base.links[i % 6], name=f"link{i}"),
            )
            for i in range(n)
        ]
        arm = SerialArm(model_of_chain("long", "base", parts, base.tip.matrix, "tip"))
        model = engines.pinocchio_arm(arm)
        data = model.createData()
        q, qd, qdd = (x.copy() for x in np.random.default_rng(3).normal(size=(3, n)))
        expected = arm.inverse_dynamics(q, qd, qdd, **BARE)
        agree("rnea", pin.rnea(model, data, q, qd, qdd), expected)
        out, fast = np.empty(n), arm.solver.unchecked
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
