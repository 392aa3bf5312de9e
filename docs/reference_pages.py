# SPDX-License-Identifier: Apache-2.0

"""The API reference: every public name of `robodyn`, and the classes that their answers are."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import robodyn as rd

if TYPE_CHECKING:
    from pathlib import Path

SECTIONS = {
    "Mechanisms": (
        "load",
        "save",
        "models",
        "StewartPlatform",
        "SerialArm",
        "ClosedLoop",
        "Actuator",
        "EndStops",
    ),
    "Trajectories": (
        "plan_line",
        "plan_joints",
        "plan_straight",
        "load_path",
        "paper_path",
        "pose_from_rpy",
        "rpy_from_pose",
    ),
    "Control and simulation": (
        "simulate",
        "simulate_many",
        "BatchPlant",
        "PayloadVariants",
        "Plant",
        "Sensor",
        "ComputedTorque",
        "Feedforward",
        "GravityCompensation",
        "ConstantEffort",
        "Impedance",
        "WrenchObserver",
        "InertialEstimator",
    ),
    "Motion cueing": ("ClassicalWashout", "ride", "read_vehicle", "VehicleMotion"),
    "Analysis": ("analyze", "check_limits", "sweep"),
    "Design": ("load_requirements", "Requirements", "evaluate", "design", "load_catalog"),
    "Kinds of mechanism": ("Kind", "kinds", "register_kind"),
    "Planning": ("time_optimal", "plan_path", "optimize_redundancy", "workspace"),
    "Identification": (
        "read_recording",
        "Recording",
        "identify",
        "identify_payload",
        "Payload",
        "exciting_trajectory",
    ),
    "Calibration": ("Measurements", "read_measurements", "calibrate", "calibration_poses"),
    "Threads": ("get_threads", "set_threads"),
}
# Results of the functions and methods above
ANSWERS = (
    "robodyn.algorithms.motion.Motion",
    "robodyn.algorithms.motion.JointStates",
    "robodyn.algorithms.motion.DrivenMotion",
    "robodyn.solvers.stewart.joints.LegMotion",
    "robodyn.solvers.stewart.dynamics.Reactions",
    "robodyn.algorithms.linear_model.ForwardDynamicsDerivatives",
    "robodyn.algorithms.linear_model.InverseDynamicsDerivatives",
    "robodyn.algorithms.linear_model.Linearization",
    "robodyn.motion_base.cueing.washout.Cue",
    "robodyn.Ride",
    "robodyn.Trajectory",
    "robodyn.Violation",
    "robodyn.SimulationResult",
    "robodyn.SimulationResults",
    "robodyn.Study",
    "robodyn.TimeOptimal",
    "robodyn.PlannedPath",
    "robodyn.RedundancyResult",
    "robodyn.PoseRegion",
    "robodyn.TipRegion",
    "robodyn.Identification",
    "robodyn.Calibration",
    "robodyn.CalibrationPoses",
)
# Settings of the functions above, a field for each option
SETTINGS = (
    "robodyn.TimeOptimalSettings",
    "robodyn.PathSettings",
    "robodyn.RedundancySettings",
    "robodyn.WorkspaceSettings",
    "robodyn.SimulationSettings",
    "robodyn.SweepSettings",
    "robodyn.WashoutParameters",
    "robodyn.CalibrationSettings",
    "robodyn.PoseSettings",
)
# Modules of extras, imported by their own names
MODULES = {
    "robodyn.gym": ("Task", "MechanismVectorEnv", "MechanismEnv", "Reach", "Track"),
    "robodyn.jax": ("forward_dynamics", "inverse_dynamics", "step"),
    "robodyn.torch": ("forward_dynamics", "inverse_dynamics", "step"),
    "robodyn.casadi": ("forward_dynamics", "inverse_dynamics", "displacement_rate"),
}
MECHANISM = "robodyn.Mechanism"
OTHERS = "More"
ERRORS = "Errors"


def write_reference(file: Path) -> None:
    """Write the page; a public name that no section lists stands under its last heading."""
    listed = {name for names in SECTIONS.values() for name in names}
    listed.update(name.removeprefix("robodyn.") for name in (*ANSWERS, *SETTINGS, MECHANISM))
    left = [name for name in rd.__all__ if name not in listed]
    errors = [name for name in left if _is_error(name)]
    sections = SECTIONS | {
        OTHERS: tuple(name for name in left if name not in errors),
        ERRORS: tuple(errors),
    }
    parts = [
        "# API reference\n",
        "Shapes, units and frames stand with each argument, or with the class where all its "
        "methods share them. Leading dimensions `...` are a batch: everything broadcasts over "
        "them. What every mechanism answers comes last.\n",
    ]
    for title, names in sections.items():
        names = [name for name in names if hasattr(rd, name)]
        if names:
            parts += [f"## {title}\n", *(_entry(name) for name in names)]
    for module, names in MODULES.items():
        parts += [f"## {module}\n"]
        for name in names:
            kind = "autoclass" if name[0].isupper() else "autofunction"
            members = (":members:",) if name == "Task" else ()
            parts.append(_directive(kind, f"{module}.{name}", *members))
    options = (":members:", ":inherited-members: tuple")
    parts += ["## What they return\n"]
    parts += [_directive("autoclass", name, *options) for name in ANSWERS]
    parts += ["## What they are asked for\n"]
    parts += [_directive("autoclass", name) for name in SETTINGS]
    parts += [
        "## Every mechanism\n",
        _directive(
            "autoclass",
            MECHANISM,
            ":members:",
            ":inherited-members:",
        ),
    ]
    text = "\n".join(parts)
    if not file.exists() or file.read_text() != text:
        file.write_text(text)


def _is_error(name: str) -> bool:
    value = getattr(rd, name)
    return inspect.isclass(value) and issubclass(value, Exception)


def _entry(name: str) -> str:
    if _is_error(name):
        return _directive("autoclass", f"robodyn.{name}", ":show-inheritance:")
    if inspect.isclass(getattr(rd, name)):
        return _directive("autoclass", f"robodyn.{name}", ":members:", ":inherited-members:")
    return _directive("autofunction", f"robodyn.{name}")


def _directive(kind: str, name: str, *options: str) -> str:
    lines = "".join(f"   {option}\n" for option in options)
    return f"```{{eval-rst}}\n.. {kind}:: {name}\n{lines}```\n"
