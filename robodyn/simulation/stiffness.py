# SPDX-License-Identifier: Apache-2.0

"""Why a simulation fails: which step friction and damping of the joints would need.

Compiled simulations need none for damping: what is too strong for the step is integrated
implicitly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import RobodynError, SingularMassMatrix

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism

# Runge-Kutta of order 4 is stable for decay rates up to this over the step.
STABLE = 2.785
# Change of a velocity [m/s, rad/s] over which the decay rate is measured.
SMALL = 1e-4


def why_it_failed(
    mechanism: Mechanism, configuration: FloatArray, velocity: FloatArray, dt: float
) -> str:
    """What may be done about a state that grew beyond all bounds with steps of dt [s]."""
    try:
        mechanism.forward_dynamics(configuration, velocity, np.zeros(len(mechanism.joint_names)))
    except SingularMassMatrix:
        return "a description without masses is for kinematics and drawing, not for dynamics"
    except RobodynError:
        pass
    rate, index = _fastest_decay(mechanism, configuration, velocity)
    friction = _friction_of(mechanism, index)
    if rate * dt > STABLE and mechanism.compiled_simulation(mechanism) is None:
        return (
            f"the step of {dt:g} s is too long for {friction}, by which a velocity decays at "
            f"{rate:.3g} 1/s: choose a step (dt) below {STABLE / rate:.2g} s, or no friction"
        )
    return (
        f"the step is {dt:g} s, and {friction}: try a shorter step (dt), smaller efforts or gains, "
        "or no friction"
    )


def _fastest_decay(
    mechanism: Mechanism, configuration: FloatArray, velocity: FloatArray
) -> tuple[float, int]:
    """Largest rate [1/s] at which a disturbed velocity decays at rest, and whose it is mostly."""
    n = mechanism.coordinates.velocity_size
    rest, none = np.zeros(n), np.zeros(len(mechanism.joint_names))
    best = 0.0, 0
    for around in (rest, velocity):
        try:
            slopes = np.empty((n, n))
            for column, step in enumerate(SMALL * np.eye(n)):
                ahead, behind = (
                    mechanism.forward_dynamics(configuration, around + sign * step, none)
                    for sign in (1.0, -1.0)
                )
                slopes[:, column] = (ahead - behind) / (2.0 * SMALL)
            values, vectors = np.linalg.eig(slopes)
        except (RobodynError, np.linalg.LinAlgError):
            continue
        fastest = int(values.real.argmin())
        found = -float(values.real[fastest]), int(np.abs(vectors[:, fastest]).argmax())
        best = max(best, found)
    return best


def _friction_of(mechanism: Mechanism, index: int) -> str:
    """Friction and damping of the joint to which a coordinate belongs, or of the first."""
    rows = mechanism.joint_friction
    name = mechanism.coordinates.velocity_names[index]
    index = mechanism.joint_names.index(name) if name in mechanism.joint_names else 0
    parts = ", ".join(f"{name} {_numbers(value)}" for name, value in rows[index].items())
    return f"joint {mechanism.joint_names[index]!r} ({parts})"


def _numbers(value: object) -> str:
    return " ".join(f"{number:g}" for number in np.ravel(np.asarray(value, dtype=np.float64)))
