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


"""What a mechanism answers about itself: words, joints, bodies, tracking, terms of an effort."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.coordinates import Unit
    from robodyn.mechanisms.common.description import EffortUnit, MovingBody, Nouns
    from robodyn.mechanisms.common.effort_terms import EffortTerms
    from robodyn.mechanisms.common.joint_states import DrivenMotion, JointStates
    from robodyn.mechanisms.common.motion import Motion
    from robodyn.mechanisms.common.tracking import Tracking


class Described(Protocol):
    """What messages, tables and reports say of a mechanism."""

    @property
    def name(self) -> str:
        """What the mechanism is called."""

    @property
    def kind(self) -> str:
        """The name under which its kind is registered: `stewart`, `serial` ..."""

    @property
    def source(self) -> str:
        """Where the description came from; empty if it was made in a program."""

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
        """[kg] of what a payload is compared with: a platform, or all links of an arm."""

    @property
    def characteristic_length(self) -> float:
        """[m] that makes the condition number independent of units; 1 where none is natural."""

    @property
    def size(self) -> float:
        """[m] a length of the order of the whole mechanism, positive."""

    @property
    def default_path(self) -> str:
        """Name of a paper's path for the mechanism of that paper; empty for all others."""

    def differences(self, other: Any) -> list[str]:
        """What differs from another mechanism's model, a line for each field; empty if equal."""

    def warm_up(self) -> None:
        """Call once what is compiled for this kind alone; what all kinds have is called elsewhere.

        See `robodyn.warmup.warm_up`.
        """


class Jointed(Protocol):
    """The joints of a mechanism, `n` of them driven.

    A mechanism may measure a driven joint otherwise than its URDF does (a leg by its length):
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
        """Those of them that are not driven."""

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
    """What an analysis of a motion asks of a mechanism."""

    @property
    def tracking(self) -> Tracking:
        """What counts as tracking error, and when the mechanism has lost its path."""

    @property
    def formulations(self) -> tuple[str, ...]:
        """Formulations of the inverse dynamics that `effort_terms` knows; `exact` is the first.

        Where `massless` is one of them, `inverse_dynamics` takes it as the keyword `formulation`.
        """

    def effort_terms(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        acceleration: FloatArray,
        wrench: FloatArray | None = None,
        formulation: str = "exact",
    ) -> EffortTerms:
        """Efforts (N, n) of a motion and the terms they are made of, NaN where there are none.

        Raises:
            InvalidInput: an unknown formulation.
        """

    def determinant(self, configuration: ArrayLike, /) -> FloatArray | None:
        """A number (...) that changes sign where no efforts are enough; None if they always are."""
