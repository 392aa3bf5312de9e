"""Simulation: a plant that efforts move, and the loop that a controller closes around it."""

from robodyn.simulation.pacing import Pacer
from robodyn.simulation.plant import EndStops, Plant
from robodyn.simulation.result import Event, SimulationResult
from robodyn.simulation.sensor import Sensor
from robodyn.simulation.simulate import simulate

__all__ = ["EndStops", "Event", "Pacer", "Plant", "Sensor", "SimulationResult", "simulate"]
