# SPDX-License-Identifier: Apache-2.0

"""Conversion of status codes to errors that name the batch element, the leg and the cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import types

from robodyn.arrays import ArrayLike, FloatArray, IntArray
from robodyn.dynamics import batch_calls
from robodyn.errors import (
    KinematicsError,
    SingularConfiguration,
    UniversalJointSingularity,
    ZeroLegLength,
)
from robodyn.numerics.broadcasting import element
from robodyn.poses import rotation_matrix
from robodyn.solvers.stewart.kernels import layout
from robodyn.solvers.stewart.kernels.single import geometry_status
from robodyn.solvers.stewart.packing import pack_lanes


def new_status(flat: FloatArray) -> IntArray:
    """Return an array (N,) of status codes, all OK, for the N elements of a flat batch."""
    return np.full(len(flat), layout.OK, dtype=np.int64)


def raise_first(
    status: IntArray, shape: tuple[int, ...], pose: FloatArray, legs: FloatArray
) -> None:
    """Raise an error if any element of a flat batch has a status other than OK.

    The error describes the first such element. `shape` is the shape of the batch before flattening,
    `pose` (N, 7) are the poses, `legs` the packed legs.

    Raises:
        ZeroLegLength, UniversalJointSingularity, SingularConfiguration: depends on the code.
    """
    if not status.any():
        return
    first = int(np.flatnonzero(status != layout.OK)[0])
    raise error_for(int(status[first]), element(shape, first), pose[first], legs)


def each_state(
    kernel: Callable[..., None],
    numbers: tuple[FloatArray, ...],
    arguments: batch_calls.Arguments,
    values: Sequence[ArrayLike | None],
    cores: Sequence[tuple[int, ...]],
    *settings: Any,
) -> list[FloatArray]:
    """Compute the results of a compiled function for a batch of states.

    Args:
        kernel: compiled function that writes results and status codes.
        numbers: packed parameters, those of the legs first.
        arguments, values: names and shapes of the arguments, and their values.
        cores: trailing shape of each result.
        settings: further arguments for the function.

    Returns:
        The results, (..., *core) each.

    Raises:
        InvalidInput: an argument has the wrong shape or is not finite.
        KinematicsError: a state has no solution; the error is that of the first one.
    """
    shape, flat = arguments.flattened(values)
    results, status = [np.empty((len(flat[0]), *core)) for core in cores], new_status(flat[0])
    kernel(*numbers, *flat, *settings, *results, status)
    raise_first(status, shape, flat[0], numbers[0])
    return [out.reshape(*shape, *out.shape[1:]) for out in results]


def evaluate_batch(
    kernel: Any,
    numbers: tuple[FloatArray, FloatArray],
    arguments: batch_calls.Arguments,
    values: tuple[ArrayLike | None, ...],
    core: tuple[int, ...],
    *settings: Any,
    needs_frames: bool = True,
) -> FloatArray:
    """Compute results (..., *core) for a batch of states in SIMD lanes.

    Args:
        kernel: function to compile.
        numbers: packed legs and platform.
        arguments, values, core, settings: as for `evaluate_kernel`; settings are booleans.
        needs_frames: whether a leg along the fixed axis of its universal joint is an error.

    Raises:
        InvalidInput: an argument has the wrong shape or is not finite.
        KinematicsError: a state has no solution; the error is that of the first one.
    """
    count = len(arguments.items)
    inputs = batch_calls.types_of_state(values) if count > 2 else batch_calls.CONFIGURATION * count
    compiled = batch_calls.entry(kernel, *inputs, *(types.boolean for _ in settings))
    try:
        return batch_calls.evaluate_kernel(compiled, numbers, arguments, values, core, *settings)
    except batch_calls.NoSolutionAt as failure:
        pose, index = failure.state[0], failure.index
    status = geometry_status(pack_lanes(*numbers), np.array(pose), needs_frames)
    raise error_for(status, index, pose, numbers[0])


def error_for(
    code: int, index: tuple[int, ...], pose: FloatArray, legs: FloatArray
) -> KinematicsError:
    """Create the error for a status code, for the pose (7,) at batch element `index`.

    The code must not be OK. `legs` are the packed legs.
    """
    where = f" at element {list(index)}" if index else ""
    at_pose = f"pose {np.array2string(pose, precision=6)}{where}"
    if code < layout.ALONG_UNIVERSAL_AXIS:
        leg = code - layout.ZERO_LENGTH
        return ZeroLegLength(
            f"leg {leg} has zero length: its platform joint coincides with its base joint, "
            f"{at_pose}",
            leg=leg,
            value=pose,
            index=index,
        )
    if code < layout.SINGULAR:
        leg = code - layout.ALONG_UNIVERSAL_AXIS
        return UniversalJointSingularity(
            f"leg {leg} lies along the fixed axis of its universal joint, {at_pose}; "
            "turn the axis or choose another pose",
            leg=leg,
            value=pose,
            index=index,
        )
    q = legs[:, layout.TIP : layout.TIP + 3] @ rotation_matrix(pose).T
    S = pose[:3] + q - legs[:, layout.BASE : layout.BASE + 3]
    s = S / np.linalg.norm(S, axis=1, keepdims=True)
    H = np.hstack([s, np.cross(q, s)]).T  # eq. 35
    U, values, _ = np.linalg.svd(H)
    return SingularConfiguration(
        f"singular configuration, {at_pose}: smallest singular value {values[-1]:.3g}; leg "
        "forces cannot resist a wrench [force; moment] along "
        f"{np.array2string(U[:, -1], precision=4)}",
        smallest_singular_value=float(values[-1]),
        direction=U[:, -1],
        value=pose,
        index=index,
    )
