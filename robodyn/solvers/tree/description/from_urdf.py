# SPDX-License-Identifier: Apache-2.0

"""Mechanisms with closed loops from URDF."""

from __future__ import annotations

from robodyn.mechanism.kind import ReadOptions
from robodyn.model.builder import ModelBuilder
from robodyn.model.model import Model
from robodyn.parsing.description import check_links
from robodyn.solvers.tree.default_tip import with_default_tip


def closed_loop_model_from_urdf(builder: ModelBuilder, options: ReadOptions) -> Model:
    """Return the model of a URDF with closed loops.

    By default, its tip is the link with most degrees of freedom.

    Raises:
        ModelError: as for `ModelBuilder.model`.
        UnphysicalInertia: with `strict=True`.
    """
    model = builder.model(options.tip_link, spelling=options.spelling)
    check_links(model, strict=options.strict)
    named = options.tip_link or builder.tip_link
    return model if named else with_default_tip(model)
