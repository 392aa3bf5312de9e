# SPDX-License-Identifier: Apache-2.0

"""Clearances between the legs and the payload of a machine, and its overall dimensions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.designing.requirements import Requirements
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model.model import Model
from robodyn.model.zero_configuration import ZeroConfigurationTree
from robodyn.planning.paths.clearance import segment_distances
from robodyn.poses import rotation_matrix
from robodyn.presentation import presentation


class RequiredSpace(NamedTuple):
    """Clearances, footprint radius and heights [m] that a machine needs in its motions.

    Attributes:
        leg_clearance: smallest distance of two legs' center lines; NaN without straight legs
            between base and body.
        payload_clearance: smallest distance of the payload's sphere from a leg's center line; NaN
            without such legs.
        footprint_radius: distance of the farthest joint on the base from the base frame's z axis.
        highest, lowest: largest and smallest height of joints on the base, the body and the
            payload.
    """

    leg_clearance: float
    payload_clearance: float
    footprint_radius: float
    highest: float
    lowest: float


def required_space(m: Mechanism, requirements: Requirements, poses: FloatArray) -> RequiredSpace:
    """Compute the space that a machine needs at poses (K, 7) of its body, base frame.

    Returns:
        Smallest clearances over all poses, radius of the footprint, and lowest and highest point.
    """
    feet, tips = presentation.leg_ends(m, m.home)
    base = feet if len(feet) else _base_points(m)
    rotation, origin = rotation_matrix(poses), poses[:, :3]
    home = m.body_pose(m.home)
    inside = (tips - home[:3]) @ rotation_matrix(home) if len(tips) else np.zeros((1, 3))
    on_body = np.einsum("kij,lj->kli", rotation, inside) + origin[:, None]
    heights = [base[:, 2], on_body[..., 2].ravel()]
    payload, radius = requirements.payload, requirements.payload_radius
    center = None
    if payload is not None and radius:
        center = rotation @ payload.com + origin
        heights += [center[:, 2] - radius, center[:, 2] + radius]
    height = np.concatenate(heights)
    legs = payload_distance = np.nan
    if len(tips):
        segments = np.stack([np.broadcast_to(feet, on_body.shape), on_body], axis=-2)
        first, second = np.triu_indices(len(tips), 1)
        legs = float(segment_distances(segments[:, first], segments[:, second]).min())
        if center is not None:
            point = np.stack([center, center], axis=-2)[:, None]
            payload_distance = float(segment_distances(point, segments).min()) - radius
    footprint = float(np.hypot(base[:, 0], base[:, 1]).max())
    return RequiredSpace(
        legs, payload_distance, footprint, float(height.max()), float(height.min())
    )


def _base_points(m: Mechanism) -> FloatArray:
    """Return the positions (k, 3) [m] of the joints on the base, in the base frame."""
    if not isinstance(m.model, Model):
        return np.zeros((1, 3))
    tree = ZeroConfigurationTree(m.model)
    root = tree.body[m.frames[0]] if m.frames[0] in tree.body else m.frames[0]
    seats = [
        tree.relative(joint.parent, root) @ joint.at.matrix
        for joint in m.model.joints
        if tree.body[joint.parent] == root and joint.moves and joint.kind != "floating"
    ]
    return np.array([seat[:3, 3] for seat in seats]).reshape(-1, 3) if seats else np.zeros((1, 3))
