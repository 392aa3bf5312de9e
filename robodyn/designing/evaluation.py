# SPDX-License-Identifier: Apache-2.0

"""Results of evaluating a machine against requirements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.analysis.bisection import bisect
from robodyn.arrays import FloatArray, short_repr
from robodyn.designing.body_motions import BodyMotion, SineMotion
from robodyn.designing.clearances import RequiredSpace
from robodyn.designing.machine_motion import MachineMotion
from robodyn.designing.requirements import Requirements
from robodyn.mechanism.mechanism import Mechanism
from robodyn.poses import AXES

# Relative change of a dimension for sensitivities.
CHANGE = 1e-3
# For a motion that is impossible: the smallest fraction to try, and the number of bisections.
SMALLEST, HALVINGS = 1e-3, 12
NO_POSES = np.empty((0, 6))


@dataclass(frozen=True)
class MotionEvaluation:
    """Demands of one motion on each of the n drives.

    The poses at rest are a motion named `poses`.

    Attributes:
        name: name of the motion.
        duration: [s] of a cycle, or of a recorded motion; 0 for poses.
        reached: fraction of its instants at which the body can have the pose and efforts exist.
        positions: (n, 2) [m or rad] lowest and highest position of each drive.
        speed: (n,) [m/s or rad/s] largest speed.
        peak_effort, rms_effort: (n,) [N or N m] at the joint, with rotors, screws and gears.
        peak_power, mean_power: (n,) [W] at the motor; the mean is that of a cycle.
        regenerated: (n,) [J per cycle] that the drive feeds back.
        peak_torque, rms_torque: (n,) [N m] of the motor; NaN for a prismatic joint without a
            screw's lead.
        motor_speed: (n,) [rad/s]; NaN for the same joints.
        rms_current: (n,) [A]; NaN without a torque constant.
        supply_peak, supply_mean: [W] of all drives on a common supply without recovery.
        braking: [J per cycle] that all drives together feed back into the supply or a brake
            resistor.
        joint_angles: [rad] largest angle from home, by name of a passive joint, or of a leg and its
            end.
        condition_number: largest condition number of the Jacobian.
        crosses: whether the motion passes through a singularity.
        space: space that the machine needs.
    """

    name: str
    duration: float
    reached: float
    positions: FloatArray
    speed: FloatArray
    peak_effort: FloatArray
    rms_effort: FloatArray
    peak_power: FloatArray
    mean_power: FloatArray
    regenerated: FloatArray
    peak_torque: FloatArray
    rms_torque: FloatArray
    motor_speed: FloatArray
    rms_current: FloatArray
    supply_peak: float
    supply_mean: float
    braking: float
    joint_angles: dict[str, float]
    condition_number: float
    crosses: bool
    space: RequiredSpace


@dataclass(frozen=True)
class DriveRequirements:
    """Limits that all motions and poses demand of each of the n drives.

    Margins are included unless stated otherwise.

    Attributes:
        shortest, longest: (n,) [m or rad] ends of the travel; for a leg of variable length the
            shortest is its closed length.
        stroke: (n,) [m or rad] difference between the ends.
        speed: (n,) [m/s or rad/s].
        peak_effort: (n,) [N or N m].
        continuous_effort: (n,) [N or N m] to compare with a continuous rating: the largest root
            mean square of a motion, with duty cycle and ambient temperature.
        peak_power, mean_power: (n,) [W] at the motor, without margins.
        supply_peak, supply_mean: [W] of all drives together, without margins.
        braking: [J per cycle] largest energy that is fed back.
    """

    shortest: FloatArray
    longest: FloatArray
    stroke: FloatArray
    speed: FloatArray
    peak_effort: FloatArray
    continuous_effort: FloatArray
    peak_power: FloatArray
    mean_power: FloatArray
    supply_peak: float
    supply_mean: float
    braking: float


@dataclass(frozen=True)
class Verdict:
    """Result of the check of one requirement.

    Attributes:
        requirement: `reach`, `shortest`, `longest`, `speed`, `effort`, `condition_number`,
            `singularity`, or the name of a limit.
        value: value in the worst motion and drive, margins included.
        limit: limit for the value; plus or minus infinity if there is none.
        unit: unit of both.
        excess: excess of the value over the limit, relative to a typical size; at most 0 if the
            requirement is met.
        motion, joint: motion and joint of that value; empty if they do not matter.
        text: sentence that states value, limit and excess.
    """

    requirement: str
    value: float
    limit: float
    unit: str
    excess: float
    motion: str
    joint: str
    text: str

    @property
    def satisfied(self) -> bool:
        """Whether the requirement is met."""
        return self.excess <= 0.0


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Result of an evaluation of a machine against requirements.

    Attributes:
        mechanism: mechanism with the payload.
        requirements: requirements that were checked.
        motions: one for each motion of the requirements, and one for the poses at rest.
        needed: limits that all motions together demand of each drive.
        verdicts: one for each requirement that applies.
        pose_accuracy: (6,) [m, rad] standard deviations of the body's position and orientation
            about x, y and z of the base frame, the largest at home and at the extreme poses; None
            if the requirements state no accuracy.
        natural_frequencies: (nv,) [Hz] lowest frequency of each mode at home and at the extreme
            poses; None if a drive is rigid.
        stiffness: [N/m] smallest translational stiffness of the body at the same poses; None if
            a drive is rigid.
        found: motion of the drives in each motion.
        again: function that evaluates other mechanisms and requirements in the same way.
        variants: for each dimension by name, its value and a function that creates the machine,
            without the payload, for another value; see `sensitivities`.
    """

    mechanism: Mechanism
    requirements: Requirements
    motions: tuple[MotionEvaluation, ...]
    needed: DriveRequirements
    verdicts: tuple[Verdict, ...]
    pose_accuracy: FloatArray | None
    natural_frequencies: FloatArray | None
    stiffness: float | None
    found: tuple[MachineMotion, ...] = field(repr=False)
    again: Callable[[Mechanism, Requirements], Evaluation] = field(repr=False)
    variants: Mapping[str, tuple[float, Callable[[float], Mechanism]]] = field(default_factory=dict)

    __repr__ = short_repr

    @property
    def satisfied(self) -> bool:
        """Whether every requirement is met."""
        return all(verdict.satisfied for verdict in self.verdicts)

    @property
    def excess(self) -> float:
        """Sum of the excesses of all verdicts; 0 if every requirement is met."""
        return float(sum(max(verdict.excess, 0.0) for verdict in self.verdicts))

    @cached_property
    def violations(self) -> tuple[str, ...]:
        """Sentences about requirements that are not met, each with a possible remedy."""
        return tuple(
            verdict.text + self._feasible_fraction(verdict.motion) + self._sensitivity_hint(verdict)
            for verdict in self.verdicts
            if not verdict.satisfied
        )

    @cached_property
    def possible(self) -> dict[str, float]:
        """Largest scale factor of each motion, by name, at which all requirements are met.

        It is at most 1. All displacements of the motion are multiplied by it, at unchanged
        frequencies; 0 if the requirements are not met even by a very small motion.
        """
        found = {}
        for motion in self.requirements.motions:

            def holds(fraction: float, motion: BodyMotion = motion) -> bool:
                scaled = (motion.scale(fraction),)
                alone = replace(self.requirements, payload=None, poses=NO_POSES, motions=scaled)
                return self.again(self.mechanism, alone).satisfied

            inside = 0.0 if holds(SMALLEST) else -1.0
            if inside < 0.0 or holds(1.0):
                found[motion.name] = inside + 1.0
            else:
                found[motion.name] = float(bisect(holds, inside, 1.0, HALVINGS)[0])
        return found

    @cached_property
    def quantities(self) -> dict[str, float]:
        """Values, by name, of the quantities whose sensitivities can be computed.

        Each is the value for the worst drive and motion.
        """
        need, rows = self.needed, self.motions
        names = "stroke", "speed", "peak_effort", "continuous_effort", "peak_power", "supply_peak"
        found = {name: float(np.max(getattr(need, name))) for name in names}
        found |= {each.requirement: each.value for each in self.verdicts}
        found["condition_number"] = max(row.condition_number for row in rows)
        found["joint_angle"] = max(max(r.joint_angles.values(), default=0.0) for r in rows)
        if self.pose_accuracy is not None:
            found["position_error"] = float(self.pose_accuracy[:3].max())
            found["angle_error"] = float(self.pose_accuracy[3:].max())
        if self.stiffness is not None:
            found["stiffness"] = self.stiffness
        return found

    @cached_property
    def sensitivities(self) -> dict[str, dict[str, float]]:
        """Derivatives of `quantities` w.r.t. dimensions, by dimension and quantity.

        They are computed by central differences. A quantity is the
        maximum over drives and motions, so its derivative may jump where another drive becomes the
        largest.
        """
        found = {}
        for name, (value, create) in self.variants.items():
            step = CHANGE * max(abs(value), 1e-3)
            low, high = (
                self.again(create(end), self.requirements).quantities
                for end in (value - step, value + step)
            )
            both = [key for key in self.quantities if key in low and key in high]
            found[name] = {key: (high[key] - low[key]) / (2.0 * step) for key in both}
        return found

    def _feasible_fraction(self, name: str) -> str:
        """Describe the feasible fraction of a motion; empty if it is 0 or 1."""
        fraction = self.possible.get(name, 1.0)
        if not SMALLEST < fraction < 1.0:
            return ""
        motion = next(each for each in self.requirements.motions if each.name == name)
        parts = [f"{100.0 * fraction:.0f} % of it"]
        if isinstance(motion, SineMotion):
            parts = [
                f"{fraction * sine.amplitude:.3g} {'m' if sine.axis < 3 else 'rad'} of "
                f"{AXES[sine.axis]} at {sine.frequency:g} Hz"
                for sine in motion.sines
            ]
        return f"; {', '.join(parts)} {'is' if len(parts) == 1 else 'are'} possible"

    def _sensitivity_hint(self, verdict: Verdict) -> str:
        """Describe the dimension with the largest effect on a verdict; empty if unknown."""
        requirement = verdict.requirement
        sense = -1.0 if verdict.value > verdict.limit else 1.0
        gains = {
            name: slopes[requirement] * self.variants[name][0] * sense
            for name, slopes in self.sensitivities.items()
            if np.isfinite(slopes.get(requirement, np.nan))
        }
        best = max(gains, key=lambda name: abs(gains[name]), default="")
        if not best or gains[best] == 0.0:
            return ""
        change = "increasing" if gains[best] > 0.0 else "reducing"
        fraction = 0.1 * abs(gains[best])
        return f"; {change} {best} helps most ({fraction:.3g} {verdict.unit} per 10 %)"

    def to_dict(self) -> dict[str, Any]:
        """Convert the evaluation to dictionaries, lists, strings and numbers for JSON."""
        return {
            "model": self.mechanism.name,
            "requirements": self.requirements.source,
            "satisfied": self.satisfied,
            "violations": list(self.violations),
            "verdicts": [asdict(each) | {"satisfied": each.satisfied} for each in self.verdicts],
            "joints": list(self.mechanism.joint_names),
            "units": list(self.mechanism.drives.units),
            "needed": asdict(self.needed),
            "motions": [asdict(row) | {"space": row.space._asdict()} for row in self.motions],
            "pose_accuracy": self.pose_accuracy,
            "natural_frequencies": self.natural_frequencies,
            "stiffness": self.stiffness,
            "sensitivities": self.sensitivities,
        }
