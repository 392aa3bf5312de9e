# SPDX-License-Identifier: Apache-2.0

"""robodyn: the dynamics of parallel and serial robots.

```python
import robodyn as rd

m = rd.load("stewart_dasgupta")
traj = rd.paper_path("I")
forces = m.inverse_dynamics(*traj.sample(3.0))
```

Names are imported on first use, so importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

from robodyn.version import __version__ as __version__

# Public names by module; robodyn/__init__.pyi lists them for type checkers.
_NAMES = {
    "actuators": "Actuator",
    "analysis.frequency_response": "frequency_response",
    "analysis.limits": "Violation check_limits",
    "base_motion": "BaseMotion BaseMotionFilter",
    "control": "ComputedTorque ConstantEffort Feedforward GravityCompensation",
    "control.impedance": "Impedance",
    "control.wrench_observer": "WrenchObserver",
    "designing.catalog": "load_catalog",
    "designing.design": "Design design",
    "designing.evaluate": "evaluate",
    "designing.evaluation": "Evaluation",
    "designing.requirements": "Requirements load_requirements",
    "dynamics.end_stops": "EndStops",
    "dynamics.payload_variants": "PayloadVariants",
    "errors": "InfeasibleTrajectory InvalidInput KinematicsError ModelError ModelNotFound NoPath "
    "NoSolution PathError RobodynError SimulationFailed SingularConfiguration UnderActuated",
    "exporting.export": "ExportSettings export",
    "identification.calibration.calibrate": "calibrate",
    "identification.calibration.measurements": "Measurements read_measurements",
    "identification.calibration.poses": "CalibrationPoses calibration_poses",
    "identification.calibration.result": "Calibration",
    "identification.calibration.settings": "CalibrationSettings PoseSettings",
    "identification.excitation": "exciting_trajectory",
    "identification.identify": "identify",
    "identification.payload": "Payload identify_payload",
    "identification.reading": "read_recording",
    "identification.recording": "Recording",
    "identification.result": "Identification",
    "loading.load": "load",
    "loading.registry": "kinds register_kind",
    "loading.save": "save",
    "mechanism.functions": "centroidal_momentum_matrix link_names with_gravity with_parameters",
    "mechanism.kind": "Kind",
    "mechanism.mechanism": "Mechanism",
    "motion_base.base.inertial_estimator": "InertialEstimator",
    "motion_base.cueing.parameters": "PredictiveParameters WashoutParameters",
    "motion_base.cueing.predictive": "PredictiveCueing",
    "motion_base.cueing.ride": "Ride ride",
    "motion_base.cueing.vehicle": "VehicleMotion read_vehicle",
    "motion_base.cueing.washout": "ClassicalWashout",
    "parsing.source": "models",
    "planning.paths.plan_path": "plan_path",
    "planning.paths.planned_path": "PlannedPath",
    "planning.paths.redundancy": "Optimized RedundancySettings optimize_redundancy",
    "planning.paths.settings": "PathSettings",
    "planning.time_optimal.motion": "TimeOptimal",
    "planning.time_optimal.settings": "TimeOptimalSettings",
    "planning.time_optimal.time_optimal": "time_optimal",
    "planning.workspace.pose_region": "PoseRegion",
    "planning.workspace.requirements": "WorkspaceSettings",
    "planning.workspace.tip_region": "TipRegion",
    "planning.workspace.workspace": "workspace",
    "poses": "matrix_from_pose pose_from_matrix pose_from_rpy rpy_from_pose",
    "report.study": "Study analyze",
    "simulation": "simulate_many",
    "simulation.batch_plant": "BatchPlant",
    "simulation.many": "SimulationResults",
    "simulation.plant": "Plant",
    "simulation.result": "SimulationResult",
    "simulation.sensor": "Sensor",
    "simulation.settings": "SimulationSettings",
    "simulation.simulate": "simulate",
    "solvers.serial.arm": "SerialArm",
    "solvers.stewart.platform": "StewartPlatform",
    "solvers.tree.loop": "ClosedLoop",
    "solvers.tree.transmission": "Transmission transmission",
    "sweeps.settings": "SweepSettings",
    "sweeps.sweep": "sweep",
    "threads": "get_threads set_threads",
    "trajectories": "load_path paper_path plan_joints plan_line",
    "trajectories.base": "Trajectory",
    "trajectories.straight": "plan_straight",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'robodyn' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"robodyn.{_MODULES[name]}"), name)
    guards = importlib.import_module("robodyn.arguments")
    if isinstance(value, types.FunctionType):
        value = guards.with_checked_arguments(value)
        value.__module__ = __name__  # module in which `pickle` finds it
        globals()[name] = value
    # also guard classes of results, whose names a program may never use
    for other in _MODULES.keys() - globals().keys():
        module = sys.modules.get(f"robodyn.{_MODULES[other]}")
        found = None if module is None else vars(module).get(other)
        if isinstance(found, type):
            globals()[other] = found
            if not issubclass(found, Exception):
                guards.check_method_arguments(found)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
