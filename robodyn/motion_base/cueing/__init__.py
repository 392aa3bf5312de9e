# SPDX-License-Identifier: Apache-2.0

"""Motion cueing: washout, prediction of limits, and evaluation of recorded rides."""

from robodyn.motion_base.cueing.flight import Flight
from robodyn.motion_base.cueing.frequency_response import CHANNELS, FREQUENCIES, frequency_response
from robodyn.motion_base.cueing.perception import CANALS, OTOLITHS
from robodyn.motion_base.cueing.plan import NODES
from robodyn.motion_base.cueing.telemetry import DATAREFS, FORMATS, Telemetry, requests
from robodyn.motion_base.cueing.vehicle import COLUMNS

__all__ = [
    "CANALS", "CHANNELS", "COLUMNS", "DATAREFS", "FORMATS", "FREQUENCIES", "NODES", "OTOLITHS",
    "Flight", "Telemetry", "frequency_response", "requests",
]  # fmt: skip
