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

import ast
import importlib
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn.version import __version__ as __version__

if TYPE_CHECKING:
    from robodyn.actuators import Actuator as Actuator
    from robodyn.analysis.frequency_response import frequency_response as frequency_response
    from robodyn.analysis.limits import Violation as Violation
    from robodyn.analysis.limits import check_limits as check_limits
    from robodyn.base_motion import BaseMotion as BaseMotion
    from robodyn.base_motion import BaseMotionFilter as BaseMotionFilter
    from robodyn.control import ComputedTorque as ComputedTorque
    from robodyn.control import ConstantEffort as ConstantEffort
    from robodyn.control import Feedforward as Feedforward
    from robodyn.control import GravityCompensation as GravityCompensation
    from robodyn.control.impedance import Impedance as Impedance
    from robodyn.control.wrench_observer import WrenchObserver as WrenchObserver
    from robodyn.designing.catalog import load_catalog as load_catalog
    from robodyn.designing.design import Design as Design
    from robodyn.designing.design import design as design
    from robodyn.designing.evaluate import evaluate as evaluate
    from robodyn.designing.evaluation import Evaluation as Evaluation
    from robodyn.designing.requirements import Requirements as Requirements
    from robodyn.designing.requirements import load_requirements as load_requirements
    from robodyn.dynamics.end_stops import EndStops as EndStops
    from robodyn.dynamics.payload_variants import PayloadVariants as PayloadVariants
    from robodyn.errors import InfeasibleTrajectory as InfeasibleTrajectory
    from robodyn.errors import InvalidInput as InvalidInput
    from robodyn.errors import KinematicsError as KinematicsError
    from robodyn.errors import ModelError as ModelError
    from robodyn.errors import ModelNotFound as ModelNotFound
    from robodyn.errors import NoPath as NoPath
    from robodyn.errors import NoSolution as NoSolution
    from robodyn.errors import PathError as PathError
    from robodyn.errors import RobodynError as RobodynError
    from robodyn.errors import SimulationFailed as SimulationFailed
    from robodyn.errors import SingularConfiguration as SingularConfiguration
    from robodyn.errors import UnderActuated as UnderActuated
    from robodyn.exporting.export import ExportSettings as ExportSettings
    from robodyn.exporting.export import export as export
    from robodyn.identification.calibration.calibrate import calibrate as calibrate
    from robodyn.identification.calibration.measurements import Measurements as Measurements
    from robodyn.identification.calibration.measurements import (
        read_measurements as read_measurements,
    )
    from robodyn.identification.calibration.poses import CalibrationPoses as CalibrationPoses
    from robodyn.identification.calibration.poses import calibration_poses as calibration_poses
    from robodyn.identification.calibration.result import Calibration as Calibration
    from robodyn.identification.calibration.settings import (
        CalibrationSettings as CalibrationSettings,
    )
    from robodyn.identification.calibration.settings import PoseSettings as PoseSettings
    from robodyn.identification.excitation import exciting_trajectory as exciting_trajectory
    from robodyn.identification.identify import identify as identify
    from robodyn.identification.payload import Payload as Payload
    from robodyn.identification.payload import identify_payload as identify_payload
    from robodyn.identification.reading import read_recording as read_recording
    from robodyn.identification.recording import Recording as Recording
    from robodyn.identification.result import Identification as Identification
    from robodyn.loading.load import load as load
    from robodyn.loading.registry import kinds as kinds
    from robodyn.loading.registry import register_kind as register_kind
    from robodyn.loading.save import save as save
    from robodyn.mechanism.functions import centroidal_momentum_matrix as centroidal_momentum_matrix
    from robodyn.mechanism.functions import link_names as link_names
    from robodyn.mechanism.functions import with_gravity as with_gravity
    from robodyn.mechanism.functions import with_parameters as with_parameters
    from robodyn.mechanism.kind import Kind as Kind
    from robodyn.mechanism.mechanism import Mechanism as Mechanism
    from robodyn.motion_base.base.inertial_estimator import InertialEstimator as InertialEstimator
    from robodyn.motion_base.cueing.parameters import PredictiveParameters as PredictiveParameters
    from robodyn.motion_base.cueing.parameters import WashoutParameters as WashoutParameters
    from robodyn.motion_base.cueing.predictive import PredictiveCueing as PredictiveCueing
    from robodyn.motion_base.cueing.ride import Ride as Ride
    from robodyn.motion_base.cueing.ride import ride as ride
    from robodyn.motion_base.cueing.vehicle import VehicleMotion as VehicleMotion
    from robodyn.motion_base.cueing.vehicle import read_vehicle as read_vehicle
    from robodyn.motion_base.cueing.washout import ClassicalWashout as ClassicalWashout
    from robodyn.parsing.source import models as models
    from robodyn.planning.paths.plan_path import plan_path as plan_path
    from robodyn.planning.paths.planned_path import PlannedPath as PlannedPath
    from robodyn.planning.paths.redundancy import Optimized as Optimized
    from robodyn.planning.paths.redundancy import RedundancySettings as RedundancySettings
    from robodyn.planning.paths.redundancy import optimize_redundancy as optimize_redundancy
    from robodyn.planning.paths.settings import PathSettings as PathSettings
    from robodyn.planning.time_optimal.motion import TimeOptimal as TimeOptimal
    from robodyn.planning.time_optimal.settings import TimeOptimalSettings as TimeOptimalSettings
    from robodyn.planning.time_optimal.time_optimal import time_optimal as time_optimal
    from robodyn.planning.workspace.pose_region import PoseRegion as PoseRegion
    from robodyn.planning.workspace.requirements import WorkspaceSettings as WorkspaceSettings
    from robodyn.planning.workspace.tip_region import TipRegion as TipRegion
    from robodyn.planning.workspace.workspace import workspace as workspace
    from robodyn.poses import matrix_from_pose as matrix_from_pose
    from robodyn.poses import pose_from_matrix as pose_from_matrix
    from robodyn.poses import pose_from_rpy as pose_from_rpy
    from robodyn.poses import rpy_from_pose as rpy_from_pose
    from robodyn.report.study import Study as Study
    from robodyn.report.study import analyze as analyze
    from robodyn.simulation import simulate_many as simulate_many
    from robodyn.simulation.batch_plant import BatchPlant as BatchPlant
    from robodyn.simulation.many import SimulationResults as SimulationResults
    from robodyn.simulation.plant import Plant as Plant
    from robodyn.simulation.result import SimulationResult as SimulationResult
    from robodyn.simulation.sensor import Sensor as Sensor
    from robodyn.simulation.settings import SimulationSettings as SimulationSettings
    from robodyn.simulation.simulate import simulate as simulate
    from robodyn.solvers.serial.arm import SerialArm as SerialArm
    from robodyn.solvers.stewart.platform import StewartPlatform as StewartPlatform
    from robodyn.solvers.tree.loop import ClosedLoop as ClosedLoop
    from robodyn.solvers.tree.transmission import Transmission as Transmission
    from robodyn.solvers.tree.transmission import transmission as transmission
    from robodyn.sweeps.settings import SweepSettings as SweepSettings
    from robodyn.sweeps.sweep import sweep as sweep
    from robodyn.threads import get_threads as get_threads
    from robodyn.threads import set_threads as set_threads
    from robodyn.trajectories import load_path as load_path
    from robodyn.trajectories import paper_path as paper_path
    from robodyn.trajectories import plan_joints as plan_joints
    from robodyn.trajectories import plan_line as plan_line
    from robodyn.trajectories.base import Trajectory as Trajectory
    from robodyn.trajectories.straight import plan_straight as plan_straight


def _modules_of_names() -> dict[str, str]:
    """Return the module of each public name, from the imports for type checkers above."""
    source = ast.parse(Path(__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(source) if isinstance(node, ast.ImportFrom)]
    return {name.asname: str(node.module) for node in imports for name in node.names if name.asname}


HOME_OF = _modules_of_names()

__all__ = sorted(HOME_OF.keys() - {"__version__"})


def __getattr__(name: str) -> Any:
    if name not in HOME_OF:
        raise AttributeError(f"module 'robodyn' has no attribute {name!r}")
    value = getattr(importlib.import_module(HOME_OF[name]), name)
    guards = importlib.import_module("robodyn.arguments")
    if isinstance(value, types.FunctionType):
        value = guards.guarded(value)
        value.__module__ = __name__  # module in which `pickle` finds it
    elif not issubclass(value, Exception):
        guards.guard_methods(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOME_OF})
