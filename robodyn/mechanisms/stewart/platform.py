# SPDX-License-Identifier: Apache-2.0

"""The Stewart platform: public interface to the kinematics and dynamics of a 6-UPS mechanism.

Every method checks its arguments, broadcasts over leading dimensions and passes one flat batch to a
compiled kernel. Vectors are in the base frame, about the platform's reference point. Equations are
of Dasgupta and Mruthyunjaya (1998), corrected as docs/stewart.md says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numba import types

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.mechanisms.common.compiled_run import BatchSteps, Kernels
from robodyn.mechanisms.common.estimation import Encoders, Estimator
from robodyn.mechanisms.common.geometry import Geometry
from robodyn.mechanisms.common.kernels.integration import NO_COMMAND
from robodyn.mechanisms.common.kernels.sticking import RATE
from robodyn.mechanisms.stewart.geometry import PlatformGeometry
from robodyn.mechanisms.stewart.kernels.batch_simulation import FRICTION, TABLE, advance
from robodyn.mechanisms.stewart.kernels.integration import simulate
from robodyn.mechanisms.stewart.packing import pack_groups
from robodyn.mechanisms.stewart.presentation import PlatformPresentation
from robodyn.mechanisms.stewart.status import error_for
from robodyn.numerics.array_arguments import MATRIX, MATRIX_OUT, VECTOR, direct
from robodyn.threads import once


class StewartPlatform(PlatformPresentation):
    """A 6-UPS Stewart platform; the model is frozen, methods are pure functions of it.

    A pose is (..., 7) x y z [m], quaternion x y z w, platform frame in base frame; a twist (..., 6)
    the velocity of the platform's reference point [m/s], then the angular velocity [rad/s]; an
    acceleration (..., 6) its time derivative; a wrench (..., 6) what the surroundings exert on the
    platform, force [N] and moment about the reference point [N m]; all in the base frame. Forces of
    the legs are (..., 6) [N], positive when they push.

    All methods raise InvalidInput for arrays of the wrong shape or not finite. Where the equations
    have no solution they raise a KinematicsError naming the element and the leg: ZeroLegLength,
    UniversalJointSingularity, SingularConfiguration.

    Attributes:
        model: the description it was built from.
        base_joint: of each leg, `universal`, or `spherical` for a 6-SPS leg, whose passive spin is
            neglected; such a leg must be symmetric about its axis.
    """

    needs_estimator = True
    # of packed lanes
    _loop = Kernels(simulate, (VECTOR,))

    def __repr__(self) -> str:
        return f"StewartPlatform({self.name!r})"

    def with_model_values(self, values: Mapping[str, float]) -> StewartPlatform:
        """The same platform, its joints' distances from the z axes scaled by two factors.

        Raises:
            ModelError: there is no such platform.
        """
        base, platform = values["base_scale"], values["platform_scale"]
        if base == 1.0 and platform == 1.0:
            return self
        level = np.array([[base, base, 1.0], [platform, platform, 1.0]])
        return self.with_legs(
            replace(leg, base=leg.base * level[0], platform=leg.platform * level[1])
            for leg in self.six_legs.legs
        )

    def geometry(self) -> Geometry:
        """Joint centres, zeros of the legs' lengths and universal axes."""
        return PlatformGeometry(self)

    def state_estimator(self, initial_pose: ArrayLike | None, encoders: Encoders) -> Estimator:
        """Pose and twist from readings of the legs; the search begins at a pose (7,), or at home.

        Raises:
            InvalidInput: as for `PlatformEstimator`.
        """
        from robodyn.mechanisms.stewart.estimation import PlatformEstimator

        return PlatformEstimator(self, initial_pose, encoders)

    def batch_steps(
        self, rows: Sequence[Any], dt: float, *, limit_motors: bool
    ) -> BatchSteps | None:
        """Steps of many platforms in the lanes of vectors; see the base class."""
        tables = [row.motor_table for row in rows]
        columns = max(table.shape[1] for table in tables) if limit_motors else 2
        watched = any(row.friction.is_watched(dt) for row in rows)
        if watched or (limit_motors and any(table.shape[1] != columns for table in tables)):
            return None
        numbers = np.zeros((len(rows), TABLE + 6 * columns))
        for packed, row, table in zip(numbers, rows, tables, strict=True):
            dry = row.friction.is_dry
            legs, body = (row._smooth if dry else row)._numbers
            packed[:FRICTION] = np.concatenate([legs.ravel(), body])
            if dry:
                packed[FRICTION:TABLE] = row.friction.rows[:, :RATE].ravel()
            packed[TABLE:] = table[:, :columns].ravel()
        rough = any(row.friction.is_dry for row in rows)
        return BatchSteps(_batch_entry(), pack_groups(numbers), columns, rough)

    def _why_no_step(self, status: int, configuration: FloatArray) -> str:
        if status == NO_COMMAND:
            return "the forces are not finite"
        return str(error_for(status, (), configuration, self._legs))


@once
def _batch_entry() -> Any:
    return direct(
        advance, MATRIX, VECTOR, MATRIX, MATRIX, *(MATRIX_OUT,) * 3, types.intp, types.intp
    )
