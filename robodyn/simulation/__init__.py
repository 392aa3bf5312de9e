# SPDX-License-Identifier: Apache-2.0

"""Simulation: the plant, and its closed loop with a controller."""

from robodyn.dynamics.end_stops import EndStops
from robodyn.simulation.brakes import Brakes
from robodyn.simulation.compiled import is_compiled
from robodyn.simulation.many import SimulationResults, simulate_many
from robodyn.simulation.pacing import Pacer
from robodyn.simulation.plant import Plant
from robodyn.simulation.result import Event, SimulationResult
from robodyn.simulation.sensor import Sensor
from robodyn.simulation.simulate import find_events, simulate
from robodyn.simulation.task import SimulationTask

__all__ = [
    "Brakes", "EndStops", "Event", "Pacer", "Plant", "Sensor", "SimulationResult",
    "SimulationResults", "SimulationTask", "find_events", "is_compiled", "simulate",
    "simulate_many",
]  # fmt: skip
