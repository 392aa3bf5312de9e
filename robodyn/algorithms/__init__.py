# SPDX-License-Identifier: Apache-2.0

"""Functions of a mechanism of any kind: motions, links, energy, derivatives, conditioning."""

from robodyn.algorithms import comparison, conditioning, motions, stepping, travel
from robodyn.algorithms.chart import Chart
from robodyn.algorithms.description import DrivenJoint, driven_joints, gravity_vector
from robodyn.algorithms.effort_terms import effort_terms
from robodyn.algorithms.elasticity import smallest_stiffness
from robodyn.algorithms.estimation import (
    Encoders,
    needs_estimator,
    quantization_deviation,
    state_estimator,
)
from robodyn.algorithms.geometry import geometry_of
from robodyn.algorithms.linear_in_parameters import reference_regressor
from robodyn.algorithms.motion import Motion
from robodyn.algorithms.motors import Drives

__all__ = [
    "Chart", "DrivenJoint", "Drives", "Encoders", "Motion", "comparison", "conditioning",
    "driven_joints", "effort_terms", "geometry_of", "gravity_vector", "motions", "needs_estimator",
    "quantization_deviation", "reference_regressor", "smallest_stiffness", "state_estimator",
    "stepping", "travel",
]  # fmt: skip
