# SPDX-License-Identifier: Apache-2.0
"""Distances between a mechanism's links, computed from capsules around their shapes."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model.model import Model
from robodyn.presentation import Figure, Shape, figure_of_links, presentation


class Clearance:
    """Distances between a mechanism's links, whose shapes are enclosed in capsules.

    A capsule is a thick line segment. The capsule of a cylinder has its axis and radius. The
    capsule of a box or mesh lies along the longest side of the bounding box; its radius is half the
    diagonal of the other two sides. Pairs of links that touch at home or share a joint are
    excluded. The shapes are the model's collision bodies or, if it has none, its visual geometry.

    Args:
        mechanism: mechanism with the links.
        least: [m] required distance between any two links.

    Raises:
        InvalidInput: the distance is negative, or the mechanism has no shapes.
    """

    def __init__(self, mechanism: Mechanism, least: float) -> None:
        self._mechanism, self._figure = mechanism, _collision_figure(mechanism)
        self._least = as_scalar("clearance", least, "m", at_least=0.0)
        figure = self._figure
        if len(figure.shapes) < 2:
            raise InvalidInput(
                f"{mechanism.name}: fewer than two links have a shape to keep clear of others; "
                "describe them in the URDF, or omit clearance",
                value=len(figure.shapes),
            )
        parts = [capsule(shape) for shape in figure.shapes]
        self._ends = np.array([ends for ends, _ in parts])
        self._radii = np.array([radius for _, radius in parts])
        links = [shape.link for shape in figure.shapes]
        self._links = np.array([figure.index(link) for link in links])
        joined = {frozenset((joint.parent, joint.child)) for joint in figure.joints}
        pairs = [
            (i, j)
            for i, j in combinations(range(len(links)), 2)
            if links[i] != links[j] and frozenset((links[i], links[j])) not in joined
        ]
        self._pairs = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        if len(pairs):
            distances = self._distances(mechanism.home[None])[0]
            self._pairs = self._pairs[distances > 0.0]

    def margins(self, configurations: FloatArray) -> FloatArray:
        """Compute the margins (N,) of the clearance at configurations (N, nq).

        A margin is the smallest distance between two links minus the required one, divided by the
        mechanism's size.
        """
        if not len(self._pairs):
            return np.full(len(configurations), np.inf)
        distances = self._distances(configurations).min(axis=1)
        return np.asarray((distances - self._least) / self._mechanism.size)

    def closest(self, configuration: FloatArray) -> tuple[str, float, float, str]:
        """Find the two links that are closest to each other at a configuration (nq,).

        Returns:
            The fields `joint` (empty), `value` (distance between the links' capsules [m]), `limit`
            (required distance [m]) and `text` (which names the links) of a `BoundViolation`.
        """
        distances = self._distances(configuration[None])[0]
        pair = self._pairs[int(distances.argmin())]
        one, other = (self._figure.shapes[k].link for k in pair)
        text = (
            f"{one} and {other} are {distances.min():.4g} m apart, but the required clearance is "
            f"{self._least:.4g} m"
        )
        return "", float(distances.min()), self._least, text

    def _distances(self, configurations: FloatArray) -> FloatArray:
        """Compute distances (N, pairs) [m] of pairs of capsules; negative if they overlap."""
        frames = presentation.figure_frames(self._mechanism, self._figure, configurations)
        placed = frames[:, self._links]
        points = np.einsum("nsij,skj->nski", placed[..., :3, :3], self._ends)
        points += placed[..., None, :3, 3]
        first, second = self._pairs.T
        radii = self._radii[first] + self._radii[second]
        return np.asarray(segment_distances(points[:, first], points[:, second]) - radii)


def _collision_figure(mechanism: Mechanism) -> Figure:
    model = mechanism.model
    if not (isinstance(model, Model) and any(link.collisions for link in model.links)):
        return presentation.figure(mechanism)
    near = Path(model.source) if model.source else None
    return figure_of_links(model.links, model.joints, model.name, near, kind="collisions")


def capsule(shape: Shape) -> tuple[FloatArray, float]:
    """Compute the ends (2, 3) [m] and the radius [m] of a capsule around a shape.

    The ends are in the frame of the link.
    """
    if shape.kind == "sphere":
        center = shape.place[:3, 3]
        return np.stack([center, center]), shape.size[0]
    if shape.kind == "cylinder":
        along = 0.5 * shape.size[1] * shape.place[:3, 2]
        return shape.place[:3, 3] + np.stack([-along, along]), shape.size[0]
    if shape.mesh is not None:
        vertices = np.asarray(shape.mesh.vertices, dtype=np.float64)
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        sides, middle = high - low, 0.5 * (low + high)
    else:
        sides, middle = np.array(shape.size), np.zeros(3)
    axis = int(sides.argmax())
    radius = 0.5 * float(np.linalg.norm(np.delete(sides, axis)))
    half = np.eye(3)[axis] * max(0.5 * float(sides[axis]) - radius, 0.0)
    ends = np.stack([middle - half, middle + half])
    return ends @ shape.place[:3, :3].T + shape.place[:3, 3], radius


def segment_distances(one: FloatArray, other: FloatArray) -> FloatArray:
    """Compute the distance (...) [m] between the two line segments of each pair.

    The segments `one` and `other` (..., 2, 3) [m] are given by their end points. Source: Ericson,
    Real-Time Collision Detection, 5.1.9.
    """
    u, v = one[..., 1, :] - one[..., 0, :], other[..., 1, :] - other[..., 0, :]
    w = one[..., 0, :] - other[..., 0, :]
    a, b, c = (u * u).sum(-1), (u * v).sum(-1), (v * v).sum(-1)
    d, e = (u * w).sum(-1), (v * w).sum(-1)
    tiny = 1e-18
    determinant = a * c - b * b
    skew = determinant > 1e-12 * a * c
    s = np.where(skew, (b * e - c * d) / np.where(skew, determinant, 1.0), 0.0)
    s = np.where(a > tiny, np.clip(s, 0.0, 1.0), 0.0)
    t = np.where(c > tiny, (b * s + e) / np.maximum(c, tiny), 0.0)
    t = np.clip(t, 0.0, 1.0)
    s = np.where(a > tiny, np.clip((b * t - d) / np.maximum(a, tiny), 0.0, 1.0), 0.0)
    difference = w + s[..., None] * u - t[..., None] * v
    return np.asarray(np.linalg.norm(difference, axis=-1))
