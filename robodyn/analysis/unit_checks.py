# SPDX-License-Identifier: Apache-2.0

"""Warnings about numbers in a model that may be in grams, millimeters or degrees.

No number is rejected, because a model may have any size and density. A warning states what the
number means and why it is implausible.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.model import Link, Model
from robodyn.model.zero_configuration import ZeroConfigurationTree

# Largest plausible density [kg/m^3], that of a metal, of the ellipsoid with a body's mass and
# moments.
DENSEST = 23_000.0
# Radii of gyration below this, relative to the longest, are those of a thin rod, a plate or a
# point, which models contain on purpose.
THIN = 0.02
# Largest plausible radius of gyration, or distance of the center of mass, relative to a link's
# size.
TIMES = 4.0
# Largest plausible values: [m] of a mechanism, [rad, rad/s] of a revolute joint, [m, m/s] of a
# prismatic one.
LARGEST, TURNS, SPIN, TRAVEL, SPEED = 100.0, 4.0 * np.pi, 100.0, 50.0, 50.0


def unit_warnings(model: Model) -> list[str]:
    """Check the numbers in a model for plausible units.

    Returns:
        A message for each implausible length, inertia or limit, such as one in millimeters or
        degrees; empty if there are none.
    """
    tree, points = ZeroConfigurationTree(model), _joints_of_bodies(model)
    sizes = {
        body: float(max(np.linalg.norm(a - b) for a in at for b in at))
        for body, at in points.items()
    }
    scale = max(sizes.values(), default=0.0)
    out = []
    if scale > LARGEST:
        out.append(
            f"joints on one link are up to {scale:.4g} m apart; lengths are read in meters: are "
            "these in millimeters?"
        )
    for link in model.links:
        body = tree.body[link.name]
        if not link.mass > 0.0 or body not in points:
            continue
        frame = tree.relative(link.name, body)
        com = frame[:3, :3] @ link.com + frame[:3, 3]
        away = float(min(np.linalg.norm(com - at) for at in points[body]))
        out += _of_link(link, away, max(sizes[body], 0.5 * scale))
    for joint in model.joints:
        out += _of_joint(joint)
    return out


def _joints_of_bodies(model: Model) -> dict[str, list[FloatArray]]:
    """Return the positions (3,) [m] of the joints on each body, in its body frame.

    Closures and the tip count as joints.
    """
    tree = ZeroConfigurationTree(model)
    points: dict[str, list[FloatArray]] = {}
    seats = [
        seat
        for joint in model.joints
        if joint.moves and joint.kind != "floating"
        for seat in ((joint.parent, joint.at.matrix), (joint.child, joint.child_at.matrix))
    ]
    seats += [(link, at.matrix) for closure in model.closures for link, at, _ in closure.ends]
    if model.tip_link in tree.links:
        seats.append((model.tip_link, np.eye(4)))
    for link, frame in seats:
        body = tree.body[link]
        points.setdefault(body, []).append((tree.relative(link, body) @ frame)[:3, 3])
    return points


def _of_link(link: Link, away: float, size: float) -> Iterator[str]:
    """Yield warnings about a link's inertia.

    Args:
        link: link with a mass.
        away: distance [m] from its center of mass to its nearest joint.
        size: distance [m] between its joints, or half the size of the largest link if that is more.
    """
    where = f"link {link.name!r}"
    if size and away > TIMES * size:
        yield (
            f"{where}: its center of mass is {away:.4g} m away from its joints, which are "
            f"{size:.3g} m apart; lengths are read in meters: is it in millimeters?"
        )
    moments = np.linalg.eigvalsh(link.inertia)
    radius = float(np.sqrt(max(moments[-1], 0.0) / link.mass))
    if size and radius > TIMES * size:
        yield (
            f"{where}: {link.mass:.4g} kg with {moments[-1]:.4g} kg m^2 have a radius of gyration "
            f"of {radius:.4g} m, but its joints are {size:.3g} m apart; inertia is read in kg m^2: "
            "is it in kg mm^2, or a placeholder such as 1?"
        )
    # squared half axes of the ellipsoid
    squares = 2.5 / link.mass * (moments.sum() - 2.0 * moments)
    if squares.min() <= THIN**2 * squares.max():
        return
    volume = 4.0 / 3.0 * np.pi * float(np.sqrt(squares.prod()))
    if link.mass > DENSEST * volume:
        yield (
            f"{where}: {link.mass:.4g} kg with these moments of inertia have a density of at least "
            f"{link.mass / volume:.3g} kg/m^3, and no metal exceeds {DENSEST:g}; they are read in "
            "kg and kg m^2: is the mass in grams, or the inertia in another unit?"
        )


def _of_joint(joint: Any) -> Iterator[str]:
    ends = np.abs(joint.position)
    most = float(ends[np.isfinite(ends)].max(initial=0.0))
    where = f"joint {joint.name!r}"
    if joint.kind == "prismatic":
        if most > TRAVEL:
            yield f"{where}: its limit is {most:.4g} m; is it in millimeters, not in meters?"
        if SPEED < joint.velocity < np.inf:
            yield (
                f"{where}: its velocity limit is {joint.velocity:.4g} m/s; is it in mm/s, not in "
                "m/s?"
            )
    elif joint.moves_alone:
        if most > TURNS:
            yield (
                f"{where}: its limit is {most:.4g} rad, {most / (2.0 * np.pi):.3g} turns; is it "
                "in degrees, not in radians?"
            )
        if SPIN < joint.velocity < np.inf:
            yield (
                f"{where}: its velocity limit is {joint.velocity:.4g} rad/s, "
                f"{joint.velocity / (2.0 * np.pi):.3g} turns per second; is it in deg/s, not in "
                "rad/s?"
            )
