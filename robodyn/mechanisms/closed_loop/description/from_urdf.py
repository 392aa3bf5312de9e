# SPDX-License-Identifier: Apache-2.0

"""Mechanisms with closed loops from a URDF."""

from __future__ import annotations

from robodyn.formats.urdf_text import UrdfDocument
from robodyn.mechanisms.closed_loop.default_tip import with_default_tip
from robodyn.mechanisms.common.urdf_model import tree_from_urdf
from robodyn.mechanisms.kind import ReadOptions
from robodyn.model.model import Model


def closed_loop_model_from_urdf(document: UrdfDocument, options: ReadOptions) -> Model:
    """Return the model of a URDF; its tip is the one that is named, or else chosen by freedoms.

    Raises:
        ModelError: as `model_from_urdf`.
        UnphysicalInertia: with `strict=True`.
    """
    model = tree_from_urdf(document, options)
    named = options.tip_link or document.settings.tip_link
    return model if named else with_default_tip(model)
