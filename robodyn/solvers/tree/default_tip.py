# SPDX-License-Identifier: Apache-2.0

"""Default tip of a mechanism: the end link with most degrees of freedom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import ModelError
from robodyn.model.builder import end_links
from robodyn.model.model import Model
from robodyn.solvers.tree.closing.equations import null_space
from robodyn.solvers.tree.closing.structure import closed_samples, structure_of
from robodyn.solvers.tree.tip_freedoms import NONE


def with_default_tip(model: Model) -> Model:
    """Return the model with a default tip: the end link with most degrees of freedom.

    The candidates are the links at which the tree ends, and the one at which most closures meet.
    Among equal ones, the order of preference is: the link whose origin moves in more directions,
    one in a loop, an open end, the last one.
    """
    candidates = end_links(model.joints, model.closures)
    if len(candidates) < 2:
        return model
    try:
        structure = structure_of(model)
    except ModelError:
        return model  # the mechanism's constructor raises the error
    equations, tree = structure.equations, structure.tree
    q = closed_samples(equations, structure.home)[-1]
    _, K = equations.at(q)
    basis = null_space(K)[1] * equations.columns[:, None]
    B = equations.bodies_at(q)

    ways = [[tree.body_of[link] for link in (c.parent, c.child)] for c in model.closures]
    looped = {body for ends in ways for body, _ in tree.loop_path(*ends)}

    def rank(link: str) -> tuple[int, int, bool]:
        way = tree.loop_path(0, tree.body_of[link])
        twists = tree.point_jacobian(B, way, tree.frame_at(B, link)[:3, 3]) @ basis
        twists[:3] /= equations.size
        carried = not looped.isdisjoint(body for body, _ in way)
        return _count(twists), _count(twists[:3]), carried

    # the last of the best
    tip = max(reversed(candidates), key=rank)
    return model if tip == model.tip_link else replace(model, tip_link=tip)


def _count(twists: FloatArray) -> int:
    """Return the rank of a matrix (k, mobility) of twists, with an absolute tolerance."""
    return int((np.linalg.svd(twists, compute_uv=False) > NONE).sum())
