# SPDX-License-Identifier: Apache-2.0

"""Simulation loops compiled for calls from Python, for one mechanism or a batch of many."""

from __future__ import annotations

from typing import Any

from robodyn.dynamics.kernels.batch_simulation import batch_loops
from robodyn.dynamics.kernels.elastic_drives import ElasticPlant, elastic_loop
from robodyn.dynamics.kernels.integration import PackedPlant
from robodyn.dynamics.kernels.simulation import Functions, hybrid_loop, smooth_loop
from robodyn.numerics.array_arguments import borrowed_array, stack_all
from robodyn.numerics.compiler import entry_of, inner
from robodyn.numerics.simd.access import rows_of
from robodyn.numerics.simd.tables import new_tables


def loop_entries(
    module: str,
    functions: Functions,
    joint_positions: Any,
    shapes: Any,
    mechanism_of: Any = borrowed_array,
    model_of: Any = borrowed_array,
) -> tuple[Any, Any, Any]:
    """Create the simulation functions of a kind of mechanism for calls from Python.

    They are `simulate` (smooth steps), `simulate_hybrid` (with stiction) and `simulate_elastic`
    (elastic drives). Each takes the packed plant: arrays of its mechanism, then table, friction,
    options and stops of `PackedPlant`, and the drives of an `ElasticPlant`; arrays of the
    controller's model; the arrays of a `PackedRollout`; the control law; and the first and last
    row. It returns what `integration.run` returns.

    Args:
        module: name of the module to which the functions belong.
        functions: `simulation.Functions` of the kind.
        joint_positions: as for `elastic_loop`.
        shapes: shapes(mechanism, model) of the scratch memory, see `stack_all`.
        mechanism_of, model_of: functions that return a mechanism, or a controller's model, from the
            tuple of its arrays.

    Returns:
        The three functions, in this order.
    """
    loop_with_drives = elastic_loop(functions, joint_positions)

    @inner
    def plant_of(arrays: Any) -> Any:
        table, friction, options, stops = borrowed_array(arrays[-4:])
        return PackedPlant(mechanism_of(arrays[:-4]), table, friction, options, stops)

    def entry(loop: Any, name: str) -> Any:
        def simulate(plant: Any, model: Any, arrays: Any, law: int, first: int, last: int) -> Any:
            own, known = plant_of(plant), model_of(model)
            work = stack_all(shapes(own.mechanism, known))
            return loop(own, known, work, borrowed_array(arrays), law, first, last)

        return entry_of(simulate, module, name)

    def simulate_elastic(
        plant: Any, model: Any, arrays: Any, law: int, first: int, last: int
    ) -> Any:
        own, known = plant_of(plant[:-1]), model_of(model)
        work = stack_all(shapes(own.mechanism, known))
        moved = ElasticPlant(own, own.friction, own.options, borrowed_array(plant[-1]))
        return loop_with_drives(moved, known, work, borrowed_array(arrays), law, first, last)

    return (
        entry(smooth_loop(functions), "simulate"),
        entry(hybrid_loop(functions), "simulate_hybrid"),
        entry_of(simulate_elastic, module),
    )


@inner
def always_fits(structure: Any, rows: Any) -> bool:
    """Return True: the default of `fits` in `lane_entries`."""
    return True


def lane_entries(
    module: str, functions: Functions, unpack: Any, shapes: Any, fits: Any = always_fits
) -> tuple[Any, Any]:
    """Create a kind's batched simulation functions for calls from Python.

    They are `advance` (smooth steps) and `advance_hybrid` (with stiction); see `batch_loops`.

    Args:
        module: name of the module to which the functions belong.
        functions: `simulation.Functions` of the kind.
        unpack: as for `batch_loops`.
        shapes: shapes(structure, rows) of the scratch memory, see `new_tables`, from the structure
            and the first rows of numbers.
        fits: fits(structure, rows) -> whether this memory fits on the stack; otherwise, the
            functions advance no mechanism.

    Returns:
        The two functions, in this order.
    """
    smooth, hybrid = batch_loops(functions, unpack)

    def entry(steps: Any, name: str) -> Any:
        def advance(
            structure: Any, numbers: Any, settings: Any, efforts: Any, loads: Any, q: Any, v: Any,
            left: Any, first: int, last: int,
        ) -> int:  # fmt: skip
            arrays = borrowed_array((numbers, settings, efforts, loads, q, v, left))
            rows = rows_of(arrays[0], 0)
            if not fits(structure, rows):
                return 0
            return int(steps(structure, arrays, new_tables(shapes(structure, rows)), first, last))

        return entry_of(advance, module, name)

    return entry(smooth, "advance"), entry(hybrid, "advance_hybrid")
