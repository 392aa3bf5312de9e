# SPDX-License-Identifier: Apache-2.0

"""Functions of serial arms for exported libraries."""

from __future__ import annotations

import numpy as np

from robodyn.algorithms import motions
from robodyn.errors import ModelError
from robodyn.exporting.kind_functions import (
    KindFunctions,
    kind_functions_of,
    plant_model,
    position_functions,
    step_of,
)
from robodyn.exporting.marshaling import (
    LOAD,
    LOAD_ROW,
    NUMBER,
    UNLOADED,
    constant,
    marshal,
    row,
    rows_out,
    vector,
    vector_out,
)
from robodyn.solvers.serial.arm import SerialArm
from robodyn.solvers.serial.kernels import entries, lanes


@kind_functions_of.register
def _functions(m: SerialArm) -> KindFunctions:
    """Compile the `KindFunctions` of an arm.

    Raises:
        ModelError: the arm has too many joints.
    """
    n = len(m.joint_names)
    if n > lanes.MOST_JOINTS:
        raise ModelError(
            f"{m.name} has {n} joints, which cannot be exported: at most {lanes.MOST_JOINTS}"
        )
    chain, gravity, rest = (
        constant(m.solver.geometry),
        constant(m.solver.gravity),
        constant(np.zeros(n)),
    )
    q, state, state_row = vector(n), (vector(n),) * 3, (row(n),) * 3
    return KindFunctions(
        **position_functions(n, motions.wrapping_driven(m)),
        inverse=marshal(
            entries.inverse_dynamics, chain, gravity, *state, *LOAD, False, vector_out(n)
        ),
        forward=marshal(
            entries.forward_dynamics, chain, gravity, *state, *LOAD, False, vector_out(n)
        ),
        mass=marshal(entries.mass_matrix, chain, gravity, q, False, rows_out(n, n)),
        bias=marshal(
            entries.inverse_dynamics, chain, gravity, q, vector(n), rest, UNLOADED, LOAD[1], False,
            vector_out(n),
        ),
        pose=marshal(entries.tip_pose, chain, q, vector_out(7)),
        jacobian=marshal(lanes.jacobian, chain, gravity, row(n), rows_out(1, 6 * n)),
        condition=marshal(entries.condition_number, chain, q, NUMBER, False),
        step=step_of(
            m, m.solver.loop, (constant(plant_model(m).solver.packed[0]), gravity), (chain, gravity)
        ),
        derivatives=marshal(
            lanes.derivatives, chain, gravity, *state_row, row(n), *LOAD_ROW, NUMBER,
            rows_out(1, 3 * n * n),
        ),
    )  # fmt: skip
