# SPDX-License-Identifier: Apache-2.0

"""Presentation of mechanisms: variables for users, drawings, tables.

The functions take a mechanism of any kind; positions are in the base frame unless stated otherwise.
A kind of mechanism can register its own implementation: `figure.register(MyKind, my_figure)`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import singledispatch
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import InvalidInput
from robodyn.presentation.figure import Figure, joint_axis_arrows
from robodyn.presentation.nouns import nouns_of
from robodyn.presentation.report_answers import OutlinePart, ParameterTable, body_table
from robodyn.presentation.variables import Variable, joint_variables


@singledispatch
def variables(mechanism: Any) -> Mapping[str, Variable]:
    """Return the variables of a mechanism that a user can set or sweep, by name.

    The variables are positions, rates, accelerations and properties of the model. Positions may
    differ from the components of a configuration: an orientation is described by roll, pitch and
    yaw, a closed loop by its independent joints.
    """
    return joint_variables(mechanism.independent_joints, mechanism.coordinates.units)


@singledispatch
def values_of(mechanism: Any, configuration: ArrayLike, /) -> FloatArray:
    """Convert configurations to position variables.

    Args:
        mechanism: mechanism of any kind.
        configuration: (..., nq) configurations to convert.

    Returns:
        Values (..., k) [m or rad] of the k positions among `variables`, in the same order.
    """
    return np.asarray(configuration, dtype=np.float64)


@singledispatch
def configuration_of(mechanism: Any, values: ArrayLike, /) -> FloatArray:
    """Convert position variables to configurations; the inverse of `values_of`.

    Args:
        mechanism: mechanism of any kind.
        values: (..., k) [m or rad] values of the k positions among `variables`, in the same order.

    Returns:
        Configurations (..., nq).

    Raises:
        KinematicsError: there is no such configuration.
    """
    return np.asarray(values, dtype=np.float64)


@singledispatch
def figure(mechanism: Any) -> Figure:
    """Create a figure of a mechanism from its model, for models without a URDF.

    Raises:
        InvalidInput: the kind of mechanism has not registered a function for this.
    """
    raise InvalidInput(
        f"{mechanism.name}: the kind {mechanism.kind!r} has no figure; register one with "
        "robodyn.presentation.presentation.figure.register",
        value=mechanism.kind,
    )


def figure_frames(mechanism: Any, figure: Figure, configurations: FloatArray) -> FloatArray:
    """Compute the frames of a figure's links in N configurations.

    Args:
        mechanism: mechanism that the figure shows.
        figure: figure of the mechanism.
        configurations: (N, nq) configurations of the mechanism.

    Returns:
        Frames (N, L, 4, 4) of the L links, relative to the figure's root.
    """
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
    """Return the outline of a mechanism as polylines, for pictures in reports.

    Args:
        mechanism: mechanism to draw.
        configuration: (nq,) configuration to draw.

    Returns:
        Named polylines with points (k, 3) [m] in the base frame; an empty list if the kind of
        mechanism has no outline.
    """
    return []


@singledispatch
def parameter_tables(mechanism: Any) -> list[ParameterTable]:
    """Return the tables of a mechanism's parameters for reports.

    By default they are a table of bodies and one of driven joints.
    """
    noun, names = nouns_of(mechanism).joint, mechanism.joint_names
    if noun != "joint":
        names = tuple(f"{noun} {i}" for i in range(1, len(names) + 1))
    limits = mechanism.position_limits, mechanism.velocity_limits, mechanism.effort_limits
    rows = zip(names, mechanism.drives.units, *limits, strict=True)
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
    """Compute the end points of straight legs in a configuration.

    Args:
        mechanism: mechanism of any kind.
        configuration: (nq,) configuration of the mechanism.

    Returns:
        Points (k, 3) [m] on the base and points (k, 3) [m] on the body, both in the base frame; k
        is the number of legs, 0 for mechanisms without legs.
    """
    return np.empty((0, 3)), np.empty((0, 3))


@singledispatch
def leg_directions(mechanism: Any, configuration: FloatArray, /) -> tuple[FloatArray, FloatArray]:
    """Compute where and in which direction legs act on the body.

    Args:
        mechanism: mechanism of any kind.
        configuration: (nq,) configuration of the mechanism.

    Returns:
        Attachment points (k, 3) [m] on the body, and unit vectors (k, 3) along the legs from base
        to body, both in the base frame; k is the number of legs, 0 for mechanisms without legs.

    Raises:
        KinematicsError: the end points of a leg coincide.
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
    """Compute arrows that represent the efforts of the actuators.

    Args:
        mechanism: mechanism to draw.
        figure: figure of the mechanism.
        frames: (L, 4, 4) frames of its links, relative to its root.
        configuration: (nq,) configuration with these frames.
        lengths: (n,) [m] lengths of the arrows, with the signs of the efforts.

    Returns:
        Tail and head (n, 2, 3) [m] of each arrow, in the root's frame.
    """
    return joint_axis_arrows(figure, frames, mechanism.joint_names, lengths, mechanism.size)


@singledispatch
def typical_effort(mechanism: Any) -> float:
    """Return a typical effort [N or N m], a lower bound for the scale of arrows.

    It is 0.3 of the largest effort limit; 0 if no drive has an effort limit.
    """
    finite = mechanism.effort_limits[np.isfinite(mechanism.effort_limits)]
    return 0.3 * float(finite.max()) if len(finite) else 0.0


@singledispatch
def floating_poses(
    mechanism: Any, configuration: FloatArray, /
) -> Mapping[tuple[str, str], FloatArray]:
    """Return the poses of links on floating joints in a configuration (nq,).

    They complement `joint_states`, which contains no poses.

    Returns:
        Poses (7,) of the child links in the frames of their parents, by the names of parent and
        child.
    """
    return {}


@singledispatch
def moving_mass(mechanism: Any) -> float:
    """Return the mass [kg] of the moving bodies, to compare a payload with."""
    return float(sum(body.mass for body in mechanism.bodies))


@singledispatch
def largest_payload(mechanism: Any) -> float:
    """Return the largest payload [kg] that a user can select in the viewer."""
    return 0.25 * moving_mass(mechanism)


@singledispatch
def has_legs(mechanism: Any) -> bool:
    """Return whether the actuators push on the moving body along legs (`leg_ends`)."""
    return False


@singledispatch
def published_models(mechanism: Any) -> Collection[str]:
    """Return the names of bundled models of a mechanism's kind that papers describe.

    These papers contain equations for their dynamics.
    """
    return ()


@singledispatch
def default_path(mechanism: Any) -> str:
    """Return the name of a mechanism's default path; empty if it has none.

    Only bundled mechanisms and those of papers have a default path.
    """
    return ""


@singledispatch
def jacobian_unit(mechanism: Any) -> str:
    """Return the unit of the singular values of a mechanism's Jacobian.

    The rows of the Jacobian for rotations are multiplied by a characteristic length.
    """
    units = set(mechanism.drives.units)
    if len(units) > 1:
        return "m/rad (revolute), 1 (prismatic)"
    return "1" if units == {"m"} else "m/rad"


@singledispatch
def with_model_values(mechanism: Any, values: Mapping[str, float], /) -> Any:
    """Return a mechanism with changed values of the `variables` of its model.

    Args:
        mechanism: mechanism to change.
        values: new values by the names of the variables.

    Returns:
        The changed mechanism; `mechanism` itself is not modified.

    Raises:
        ModelError: no mechanism has these values.
    """
    return mechanism
