# SPDX-License-Identifier: Apache-2.0


"""How a mechanism describes itself: wording, joints, bodies, tracking, terms of an effort."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from robodyn.actuators import Actuator
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.coordinates import Unit
    from robodyn.mechanisms.common.description import EffortUnit, MovingBody, Nouns
    from robodyn.mechanisms.common.effort_terms import EffortTerms
    from robodyn.mechanisms.common.joint_states import DrivenMotion, JointStates
    from robodyn.mechanisms.common.motion import Motion
    from robodyn.mechanisms.common.singularities import Singularity
    from robodyn.mechanisms.common.tracking import Tracking


class Described(Protocol):
    """Names, bodies and lengths of a mechanism, for messages, tables and reports."""

    @property
    def name(self) -> str:
        """Name of the mechanism."""

    @property
    def kind(self) -> str:
        """The name under which its kind is registered: `stewart`, `serial` ..."""

    @property
    def source(self) -> str:
        """File or model the description was read from; empty if it was built in code."""

    @property
    def frames(self) -> tuple[str, str]:
        """Names of the base frame, and of the frame of the platform or the arm's tip."""

    @property
    def nouns(self) -> Nouns:
        """Words for messages, labels and tables."""

    @property
    def gravity_vector(self) -> FloatArray:
        """(3,) [m/s^2] base frame."""

    @property
    def bodies(self) -> Sequence[MovingBody]:
        """The bodies that move, with their masses and inertias."""

    @property
    def joint_friction(self) -> Sequence[dict[str, Any]]:
        """Friction of each driven joint or leg, by name; numbers or arrays."""

    @property
    def moving_mass(self) -> float:
        """[kg] the mass that a payload is compared with: a platform, or all links of an arm."""

    @property
    def characteristic_length(self) -> float:
        """[m] that makes the condition number independent of units; 1 where none is natural."""

    @property
    def size(self) -> float:
        """[m] a length of the order of the whole mechanism, positive."""

    @property
    def default_path(self) -> str:
        """Name of the path of a paper's or a bundled mechanism; empty for all others."""

    def differences(self, other: Any) -> list[str]:
        """Differences from another mechanism's model, one line per field; empty if equal."""

    def warm_up(self) -> None:
        """Call once the compiled functions that only this kind has, so that they are loaded.

        See `robodyn.warmup.warm_up`.
        """


class Jointed(Protocol):
    """The joints of a mechanism, `n` of them driven.

    A mechanism may measure a driven joint differently from its URDF (a leg by its length):
    position = joint_signs * URDF position + joint_offsets.
    """

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The driven joints, in the order of every effort array."""

    @property
    def all_joint_names(self) -> tuple[str, ...]:
        """All joints of `joint_states`, passive ones included."""

    @property
    def passive_joint_names(self) -> tuple[str, ...]:
        """The joints of `all_joint_names` that are not driven."""

    @property
    def joint_units(self) -> tuple[Unit, ...]:
        """(n,) `m` or `rad` of the driven joints' positions."""

    @property
    def effort_units(self) -> tuple[EffortUnit, ...]:
        """(n,) `N` or `N m` of the driven joints."""

    @property
    def joint_signs(self) -> FloatArray:
        """(n,) 1 or -1; see the class."""

    @property
    def joint_offsets(self) -> FloatArray:
        """(n,) [m or rad]; see the class."""

    @property
    def effort_limits(self) -> FloatArray:
        """(n,) [N or N m], infinite where the model gives none."""

    @property
    def position_limits(self) -> FloatArray:
        """(n, 2) [m or rad] of the driven joints, infinite where the model gives none."""

    @property
    def velocity_limits(self) -> FloatArray:
        """(n,) [m/s or rad/s] of the driven joints, infinite where the model gives none."""

    @property
    def actuators(self) -> Sequence[Actuator]:
        """(n,) what drives each joint, as described; ideal where the description is silent."""

    def motor_torques(self, efforts: ArrayLike, rates: ArrayLike | None = None) -> FloatArray:
        """(..., n) [N m] at the motors for efforts of the joints; see `common.actuated_joints`."""

    def efforts_of(self, motor_torques: ArrayLike, rates: ArrayLike | None = None) -> FloatArray:
        """(..., n) [N or N m] of the joints for torques of the motors."""

    def motor_currents(self, efforts: ArrayLike, rates: ArrayLike | None = None) -> FloatArray:
        """(..., n) [A] of the motors for efforts of the joints."""

    def efforts_of_currents(
        self, currents: ArrayLike, rates: ArrayLike | None = None
    ) -> FloatArray:
        """(..., n) [N or N m] of the joints for currents of the motors."""

    def joint_positions(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., n) [m or rad] positions of the driven joints."""

    def joint_velocities(self, configuration: ArrayLike, velocity: ArrayLike, /) -> FloatArray:
        """(..., n) [m/s or rad/s] rates of the driven joints."""

    def driven_motion(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, /
    ) -> DrivenMotion:
        """Positions, rates and accelerations (..., n) of the driven joints."""

    def joint_states(
        self, configuration: ArrayLike, velocity: ArrayLike | None = None, /
    ) -> JointStates:
        """Names, positions and velocities of all joints, as the URDF measures them."""

    def assemble(self, driven: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
        """The configuration (..., nq) with these positions (..., n) of the driven joints.

        `guess` is a configuration near it, by default home.

        Raises:
            NoSolution: none was found.
        """

    def motion_of_joints(
        self,
        positions: ArrayLike,
        velocities: ArrayLike,
        accelerations: ArrayLike | None = None,
        guess: ArrayLike | None = None,
    ) -> Motion:
        """The mechanism's motion of its driven joints' (..., n): the inverse of `driven_motion`.

        Along the last batch dimension each configuration is found from the one before it, the
        first from the guess. Accelerations are zero where not given.

        Raises:
            NoSolution: no configuration has these positions.
            SingularConfiguration: the rates do not determine the motion.
        """


class Examined(Protocol):
    """What the analysis of a motion needs from a mechanism."""

    @property
    def tracking(self) -> Tracking:
        """How tracking error is measured, and when the mechanism has lost its path."""

    @property
    def formulations(self) -> tuple[str, ...]:
        """Formulations of the inverse dynamics that `effort_terms` knows; `exact` is the first.

        Where `massless` is one of them, `inverse_dynamics` takes it as the keyword `formulation`.
        """

    def loops_found(self) -> dict[str, Any]:
        """What was found of closed loops, JSON-able; empty where the kind itself settles it.

        Tree coordinates, closures with their equations and rank, mobility, idle freedoms, joints
        that move while all driven ones are locked, and condition numbers at home.
        """

    def effort_terms(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        acceleration: FloatArray,
        wrench: FloatArray | None = None,
        formulation: str = "exact",
    ) -> EffortTerms:
        """Efforts (N, n) of a motion and the terms that add up to them; NaN where no efforts exist.

        Raises:
            InvalidInput: an unknown formulation.
        """

    def determinant(self, configuration: ArrayLike, /) -> FloatArray | None:
        """A number (...) that changes sign where no efforts suffice; None if they always do."""

    def side(self, configuration: ArrayLike, /) -> FloatArray | None:
        """A number (...) that changes sign on a path only at a singularity; None if not known.

        Two configurations where it has opposite signs are joined by no path without a singularity.
        """

    @property
    def singularities(self) -> Sequence[Singularity]:
        """The ways in which it can be singular, each with numbers that tell where."""
