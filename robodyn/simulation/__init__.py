# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Simulation: a plant that efforts move, and the loop that a controller closes around it."""

from robodyn.mechanisms.common.end_stops import EndStops
from robodyn.simulation.brakes import Brakes
from robodyn.simulation.many import SimulationResults, simulate_many
from robodyn.simulation.pacing import Pacer
from robodyn.simulation.plant import Plant
from robodyn.simulation.result import Event, SimulationResult
from robodyn.simulation.sensor import Sensor
from robodyn.simulation.simulate import simulate

__all__ = [
    "Brakes",
    "EndStops",
    "Event",
    "Pacer",
    "Plant",
    "Sensor",
    "SimulationResult",
    "SimulationResults",
    "simulate",
    "simulate_many",
]
