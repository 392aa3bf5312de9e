# SPDX-License-Identifier: Apache-2.0

"""Functions of a mechanism of any kind: motions, links, energy, derivatives, conditioning."""

from robodyn.algorithms import comparison, conditioning, motions, travel
from robodyn.algorithms.description import Nouns
from robodyn.algorithms.estimation import (
    Encoders,
    needs_estimator,
    quantisation_deviation,
    state_estimator,
)
from robodyn.algorithms.geometry import geometry_of
from robodyn.algorithms.motion import Motion
from robodyn.algorithms.motors import Drives

__all__ = [
    "Drives", "Encoders", "Motion", "Nouns", "comparison", "conditioning", "geometry_of", "motions",
    "needs_estimator", "quantisation_deviation", "state_estimator", "travel",
]  # fmt: skip
