# SPDX-License-Identifier: Apache-2.0

"""Models of mechanisms: frozen data, checked once on construction."""

from robodyn.model.body import Body, Link
from robodyn.model.builder import Drives, ModelBuilder
from robodyn.model.closure import Closure
from robodyn.model.comparison import differences
from robodyn.model.joint import Joint, Mimic
from robodyn.model.model import Model
from robodyn.model.placement import Placement
from robodyn.model.spring import NO_SPRING, LinearSpring, PointSpring

__all__ = [
    "NO_SPRING", "Body", "Closure", "Drives", "Joint", "LinearSpring", "Link", "Mimic", "Model",
    "ModelBuilder", "Placement", "PointSpring", "differences",
]  # fmt: skip
