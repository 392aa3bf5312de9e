# SPDX-License-Identifier: Apache-2.0

"""Motion cueing: classical washout, predictive cueing, and evaluation of recorded rides."""

from robodyn.motion_base.cueing.flight import Flight
from robodyn.motion_base.cueing.telemetry import DATAREFS, FORMATS, Telemetry, requests
from robodyn.motion_base.cueing.vehicle import COLUMNS

__all__ = ["COLUMNS", "DATAREFS", "FORMATS", "Flight", "Telemetry", "requests"]
