# SPDX-License-Identifier: Apache-2.0

"""Friction of a mechanism's joints for simulation and control."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import Any

import numpy as np

from robodyn.actuators import Actuator
from robodyn.arrays import BoolArray, FloatArray
from robodyn.dynamics.kernels import dry_friction as law
from robodyn.dynamics.kernels import sticking as at
from robodyn.errors import RobodynError

# Decay of velocities by damping over a step, at sampled configurations, above which compiled code
# checks the decay at every step (`hybrid_step.STIFF`).
STIFF_DECAY = 0.25
# Decay rate [1/s] of velocities above which friction is compensated for the planned motion: they
# decay within a few control periods.
FAST = 100.0
# Number of configurations at which the decay is sampled, and the rates [m/s, rad/s].
SAMPLES = 8
SEED = 5
SLOW, QUICK = 1.0, 2.0


@dataclass(frozen=True, eq=False)
class JointFriction:
    """Friction of a mechanism's joints: dry friction, and decay rates by viscous friction.

    Attributes:
        rows: (nf, sticking.ROW) dry friction parameters, one row for each joint that may have dry
            friction.
        decays: (nv,) [1/s] largest observed decay rates of velocities by viscous friction.
    """

    rows: FloatArray
    decays: FloatArray

    @cached_property
    def is_dry(self) -> bool:
        """Whether any joint has Coulomb or static friction."""
        return bool(self.rows[:, : at.RATE].any())

    @cached_property
    def decay(self) -> float:
        """Sum [1/s] of all decay rates, which is an upper bound on each of them."""
        return float(self.decays.sum())

    @property
    def is_fast(self) -> BoolArray:
        """For each coordinate (nv,), whether damping needs feedforward compensation."""
        return np.asarray(self.decays > FAST)

    def may_be_stiff(self, dt: FloatArray | float) -> bool:
        """Return whether damping may be too stiff for explicit steps of dt (...) [s]."""
        return bool(self.decay * np.max(dt) > STIFF_DECAY)

    def needs_hybrid_step(self, dt: FloatArray | float) -> bool:
        """Return whether any step of dt (...) [s] needs stick-slip or implicit integration."""
        return self.is_dry or self.may_be_stiff(dt)


def friction_row(actuator: Actuator, rate: int = 0, factor: float = 1.0) -> FloatArray:
    """Pack an actuator's dry friction parameters into an array for compiled functions.

    Args:
        actuator: actuator with the friction.
        rate: index of the joint's rate among all joint rates.
        factor: joint rate per unit of that rate.

    Returns:
        Parameters (sticking.ROW,).
    """
    row = np.zeros(at.ROW)
    forward, backward = actuator.coulomb_pair
    static = actuator.static or 0.0
    row[: law.DRY_FRICTION] = actuator.friction_numbers
    row[at.STATIC], row[at.STATIC_BACKWARD] = max(static, forward), max(static, backward)
    row[at.RATE], row[at.FACTOR] = rate, factor
    return row


def decays(mechanism: Any) -> FloatArray:
    """Estimate the largest decay rates (nv,) [1/s] of velocities by viscous friction.

    They are diagonal entries of M^-1 D, with the mass matrix M and the damping D, at home and
    further configurations. The component of the accelerations that is odd in the rates is due to
    friction; its growth between two rates is due to viscous friction.
    """
    n = mechanism.coordinates.velocity_size
    most = np.zeros(n)
    if not any(_damps(row, name) for row in joint_friction(mechanism) for name in row):
        return most
    rest = np.zeros(len(mechanism.joint_names))
    for q in _samples(mechanism):
        try:
            for k, unit in enumerate(np.eye(n)):
                slow, quick = (
                    0.5
                    * (
                        mechanism.forward_dynamics(q, -rate * unit, rest)
                        - mechanism.forward_dynamics(q, rate * unit, rest)
                    )[k]
                    for rate in (SLOW, QUICK)
                )
                most[k] = max(most[k], (quick - slow) / (QUICK - SLOW))
        except RobodynError:
            continue  # no accelerations there
    return most


def _damps(row: dict[str, Any], name: str) -> bool:
    """Return whether an entry of a joint's friction dictionary is nonzero viscous friction."""
    dry = ("armature", "friction", "coulomb", "static", "stribeck")
    return not name.startswith(dry) and bool(np.any(np.asarray(row[name], dtype=np.float64)))


def _samples(mechanism: Any) -> list[FloatArray]:
    """Return configurations at which to sample decay rates: home and random ones.

    Random configurations are added only if the mechanism has no passive joints. The result is empty
    if the mechanism has no home configuration.
    """
    try:
        samples = [mechanism.home]
    except RobodynError:
        return []  # a description may have no home
    if not mechanism.passive_joint_names and len(mechanism.home) == len(mechanism.joint_names):
        low, high = np.clip(mechanism.position_limits, -np.pi, np.pi).T
        rng = np.random.default_rng(SEED)
        samples += list(rng.uniform(low, high, (SAMPLES, len(low))))
    return samples


@singledispatch
def friction_rows(mechanism: Any) -> FloatArray:
    """Return the packed dry friction (nf, sticking.ROW) of a mechanism's joints.

    The driven joints have the first rows; passive joints that may have dry friction follow.
    """
    return np.array([friction_row(actuator, i) for i, actuator in enumerate(mechanism.actuators)])


@singledispatch
def joint_friction(mechanism: Any) -> Sequence[dict[str, Any]]:
    """Return the driven joints' friction parameters, one dictionary for each joint.

    By default, a dictionary contains `damping` [N s/m or N m s/rad], `friction` (2,) [N or N m]
    (Coulomb friction forward and backward) and `armature` [kg or kg m^2].
    """
    return tuple(
        {
            "damping": joint.damping,
            "friction": joint.friction,
            "armature": joint.reflected_inertia,
        }
        for joint in mechanism.model.driven_joints
    )


def without_planned_friction(mechanism: Any) -> Any:
    """Return the mechanism without the friction that feedforward control compensates.

    This friction is computed from the planned motion. It is dry friction, whose sign would flicker
    with a measured rate, and viscous friction so strong that velocities decay within a few control
    periods. A mechanism without such friction is returned unchanged.
    """
    fast = mechanism.solver.friction.is_fast
    names: tuple[str, ...] = ()
    if fast.any():
        given = mechanism.coordinates.velocity_names
        names = tuple(given[k] for k in np.flatnonzero(fast) if given[k] in mechanism.joint_names)
        names = names or mechanism.joint_names
    changes = names or mechanism.solver.friction.is_dry
    return mechanism.without_dry_friction(names) if changes else mechanism


def planned_damping(mechanism: Any, rest: Any) -> FloatArray:
    """Return the viscous friction (n, nv) that feedforward control compensates.

    Args:
        mechanism: mechanism with its friction.
        rest: the mechanism `without_planned_friction`.

    Returns:
        Efforts of the n driven joints at home [N or N m] per unit of each velocity coordinate; zero
        without strong damping.
    """
    n, nv = len(mechanism.joint_names), mechanism.coordinates.velocity_size
    if not mechanism.solver.friction.is_fast.any():
        return np.zeros((n, nv))
    home, still = np.broadcast_to(mechanism.home, (nv, len(mechanism.home))), np.zeros((nv, nv))
    slow, quick = (
        mechanism.inverse_dynamics(home, rate * np.eye(nv), still)
        - rest.inverse_dynamics(home, rate * np.eye(nv), still)
        for rate in (1.0, 2.0)
    )
    return np.asarray((quick - slow).T)
