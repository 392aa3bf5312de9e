# SPDX-License-Identifier: Apache-2.0
"""What reports show of a Stewart platform: its parameters, and its outline in space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.actuators import Actuator
from robodyn.mechanisms.common.report_answers import (
    OutlinePart,
    ParameterTable,
    actuator_table,
)
from robodyn.poses import rotation_matrix

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.stewart.model import Body, StewartModel


def outline(platform: Any, configuration: FloatArray) -> list[OutlinePart]:
    """The base, the platform and the legs at a pose (7,)."""
    legs = platform.model.legs
    base = np.array([leg.base for leg in legs])
    local = np.array([leg.platform for leg in legs])
    tips = configuration[:3] + local @ rotation_matrix(configuration).T
    return [
        OutlinePart("base", base[_around(base)], moves=False),
        OutlinePart("platform", tips[_around(local)]),
        *(OutlinePart("legs", np.array(ends), thin=True) for ends in zip(base, tips, strict=True)),
    ]


def _around(points: FloatArray) -> list[int]:
    """Indices of points (n, 3) in the order of their angle about the middle, closed."""
    off = points - points.mean(axis=0)
    order = np.argsort(np.arctan2(off[:, 1], off[:, 0])).tolist()
    return [*order, order[0]]


def parameter_tables(platform: Any) -> list[ParameterTable]:
    """The bodies, equal legs once; the geometry, friction and limits of each leg; its actuators."""
    tables = [_bodies(platform.model), _legs(platform.model)]
    if any(actuator != Actuator() for actuator in platform.actuators):
        tables.append(actuator_table(platform.joint_names, platform.actuators))
    return tables


def _bodies(model: StewartModel) -> ParameterTable:
    bodies = [("platform", model.platform)]
    for part in ("lower", "upper"):
        each = [getattr(leg, part) for leg in model.legs]
        if all(_same(each[0], other) for other in each[1:]):
            bodies.append((f"{part} part of every leg", each[0]))
        else:
            bodies += [(f"{part} part of leg {i}", body) for i, body in enumerate(each, start=1)]
    return ParameterTable(
        "Bodies",
        ("body", "mass [kg]", "centre of mass [m]", "inertia about it, by rows [kg m²]"),
        [(name, body.mass, body.com, body.inertia) for name, body in bodies],
        "the platform in its own frame; parts of a leg in axes along it (x from base to platform, "
        "y along universal axis × x), the lower part from its universal joint, the upper part "
        "from its spherical joint",
    )


def _same(a: Body, b: Body) -> bool:
    return bool(a.mass == b.mass and (a.com == b.com).all() and (a.inertia == b.inertia).all())


def _legs(model: StewartModel) -> ParameterTable:
    rows = []
    for i, leg in enumerate(model.legs, start=1):
        damping, limits = leg.damping, leg.limits
        friction = np.array([damping.universal, damping.prismatic, damping.spherical])
        rows.append((str(i), leg.base, leg.platform, leg.universal_axis, friction,
                     np.asarray(limits.length), limits.velocity, limits.effort))  # fmt: skip
    head = ("leg", "base joint [m]", "platform joint [m]", "universal axis",
            "friction u, p, s [N m s, N s/m]", "length [m]", "speed [m/s]",
            "force [N]")  # fmt: skip
    return ParameterTable(
        "Legs",
        head,
        rows,
        "base joint and universal axis in the base frame, platform joint in the platform's frame; "
        "length between a leg's two joints, force positive where it pushes them apart",
    )
