# SPDX-License-Identifier: Apache-2.0

"""Presentation of mechanisms: numbers for people, drawings, tables.

Functions of a mechanism of any kind, everything in the base frame unless stated otherwise. A kind
registers its own function if the general one does not fit: `figure.register(MyKind, my_figure)`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import singledispatch
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import InvalidInput
from robodyn.presentation.figure import Figure, joint_axis_arrows
from robodyn.presentation.report_answers import OutlinePart, ParameterTable, body_table
from robodyn.presentation.variables import Variable, joint_variables


@singledispatch
def variables(mechanism: Any) -> Mapping[str, Variable]:
    """By name: positions, velocities, accelerations and properties of the model.

    The number of positions may differ from the size of a configuration: an orientation is
    stated by roll, pitch and yaw, a closed loop by its independent joints.
    """
    return joint_variables(mechanism.independent_joints, mechanism.coordinates.units)


@singledispatch
def values_of(mechanism: Any, configuration: ArrayLike, /) -> FloatArray:
    """(..., k) [m or rad] the position variables of configurations (..., nq)."""
    return np.asarray(configuration, dtype=np.float64)


@singledispatch
def configuration_of(mechanism: Any, values: ArrayLike, /) -> FloatArray:
    """Configurations (..., nq) of position variables (..., k) [m or rad].

    Raises:
        KinematicsError: there is no such configuration.
    """
    return np.asarray(values, dtype=np.float64)


@singledispatch
def figure(mechanism: Any) -> Figure:
    """The mechanism drawn from its model alone, for models without a URDF.

    Raises:
        InvalidInput: a kind that has not registered one.
    """
    raise InvalidInput(
        f"{mechanism.name}: the kind {mechanism.kind!r} has no figure; register one with "
        "robodyn.presentation.presentation.figure.register",
        value=mechanism.kind,
    )


def figure_frames(mechanism: Any, figure: Figure, configurations: FloatArray) -> FloatArray:
    """Frames (N, L, 4, 4) of a figure's links in its root's, at configurations (N, nq)."""
    states = mechanism.joint_states(configurations)
    positions = dict(zip(states.names, np.moveaxis(states.positions, -1, 0), strict=True))
    poses: dict[tuple[str, str], list[FloatArray]] = {}
    if any(joint.kind == "floating" for joint in figure.joints):
        for one in configurations:
            for key, pose in floating_poses(mechanism, one).items():
                poses.setdefault(key, []).append(pose)
    return figure.link_frames(positions, {key: np.array(each) for key, each in poses.items()})


@singledispatch
def outline(mechanism: Any, configuration: FloatArray, /) -> list[OutlinePart]:
    """Its parts as lines at a configuration (nq,), for reports; empty where none is known."""
    return []


@singledispatch
def parameter_tables(mechanism: Any) -> list[ParameterTable]:
    """Its parameters, for reports: its bodies and its driven joints, if no more is known."""
    noun, names = mechanism.nouns.joint, mechanism.joint_names
    if noun != "joint":
        names = tuple(f"{noun} {i}" for i in range(1, len(names) + 1))
    limits = mechanism.position_limits, mechanism.velocity_limits, mechanism.effort_limits
    rows = zip(names, mechanism.joint_units, *limits, strict=True)
    return [
        body_table(mechanism.bodies),
        ParameterTable(
            "Driven joints",
            (noun, "unit", "from", "to", "speed [1/s]", "effort [N m, N]"),
            [(name, unit, *ends, speed, effort) for name, unit, ends, speed, effort in rows],
        ),
    ]


@singledispatch
def leg_ends(mechanism: Any, configuration: FloatArray, /) -> tuple[FloatArray, FloatArray]:
    """Ends (k, 3) [m] of straight legs, at the base and at the moving body; k is 0 or n."""
    return np.empty((0, 3)), np.empty((0, 3))


@singledispatch
def leg_directions(mechanism: Any, configuration: FloatArray, /) -> tuple[FloatArray, FloatArray]:
    """Points (k, 3) [m] at which legs hold the moving body, and the legs' unit vectors (k, 3).

    Raises:
        KinematicsError: a leg without a direction.
    """
    return np.empty((0, 3)), np.empty((0, 3))


@singledispatch
def effort_arrows(
    mechanism: Any,
    figure: Figure,
    frames: FloatArray,
    configuration: FloatArray,
    lengths: FloatArray,
    /,
) -> FloatArray:
    """Arrows (n, 2, 3) [m] from tail to head for the actuators' efforts.

    Args:
        figure: what is drawn.
        frames: (L, 4, 4) of its links in the frame of its root; the arrows are in it, too.
        configuration: the one that the frames belong to.
        lengths: (n,) [m] of the arrows, with the signs of the efforts.
    """
    return joint_axis_arrows(figure, frames, mechanism.joint_names, lengths, mechanism.size)


@singledispatch
def typical_effort(mechanism: Any) -> float:
    """[N or N m] lower bound of the effort that is drawn as an arrow of standard length.

    0.3 of the largest effort limit; 0 where there is none.
    """
    finite = mechanism.effort_limits[np.isfinite(mechanism.effort_limits)]
    return 0.3 * float(finite.max()) if len(finite) else 0.0


@singledispatch
def floating_poses(
    mechanism: Any, configuration: FloatArray, /
) -> Mapping[tuple[str, str], FloatArray]:
    """Poses (7,) of links that no joint of `joint_states` places: those on floating joints.

    By the names of parent and child; each the pose of the child in the frame of its parent.
    """
    return {}


@singledispatch
def moving_mass(mechanism: Any) -> float:
    """[kg] the mass that a payload is compared with: a platform, or all bodies that move."""
    return float(sum(body.mass for body in mechanism.bodies))


@singledispatch
def largest_payload(mechanism: Any) -> float:
    """[kg] upper end of the range from which a user may choose a payload."""
    return 0.25 * moving_mass(mechanism)


@singledispatch
def has_legs(mechanism: Any) -> bool:
    """Whether the actuators push on the moving body along legs; see `leg_ends`."""
    return False


@singledispatch
def published_models(mechanism: Any) -> Collection[str]:
    """Names of the models of this kind that papers compute with formulations of their own."""
    return ()


@singledispatch
def default_path(mechanism: Any) -> str:
    """Name of the path of a paper's or a bundled mechanism; empty for all others."""
    return ""


@singledispatch
def jacobian_unit(mechanism: Any) -> str:
    """Unit of a singular value of the Jacobian, its angular rows multiplied by a length."""
    units = set(mechanism.joint_units)
    if len(units) > 1:
        return "m/rad (revolute), 1 (prismatic)"
    return "1" if units == {"m"} else "m/rad"


@singledispatch
def with_model_values(mechanism: Any, values: Mapping[str, float], /) -> Any:
    """The mechanism with other values of the variables of its model.

    Raises:
        ModelError: there is no such mechanism.
    """
    return mechanism
