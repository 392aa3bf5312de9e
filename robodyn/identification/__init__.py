# SPDX-License-Identifier: Apache-2.0

"""Identification of a mechanism's parameters from recordings of its motion."""

from robodyn.identification.filters import choose_filters
from robodyn.identification.friction import (
    COULOMB,
    RUBBING,
    Term,
    candidates,
    dissipates,
    friction_columns,
    prandtl_deflection,
)
from robodyn.identification.motors import motors_of
from robodyn.identification.samples import samples_of
from robodyn.identification.signals import (
    Series,
    at_instants,
    common_instants,
    longest_run,
    segments_of,
    series_of,
    widest_step,
)

__all__ = [
    "COULOMB",
    "RUBBING",
    "Series",
    "Term",
    "at_instants",
    "candidates",
    "choose_filters",
    "common_instants",
    "dissipates",
    "friction_columns",
    "longest_run",
    "motors_of",
    "prandtl_deflection",
    "samples_of",
    "segments_of",
    "series_of",
    "widest_step",
]  # fmt: skip
