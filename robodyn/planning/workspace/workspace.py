# SPDX-License-Identifier: Apache-2.0
"""Workspaces: the region of a body's positions or orientations, and its volume.

For a platform, inverse kinematics takes a microsecond per pose. The volume is computed by
stratified sampling, its error from the scatter within the strata, and the boundary from margins on
a grid. For the tip of an arm or a closed loop, the region is filled from within, see `tip_region`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from robodyn.arrays import ArrayLike, Unpack
from robodyn.checks import as_array, as_exact, as_integer, as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.workspace.pose_region import PoseRegion, orientations_of
from robodyn.planning.workspace.requirements import (
    Requirements,
    WorkspaceOptions,
    WorkspaceSettings,
)
from robodyn.planning.workspace.tip_region import TipRegion
from robodyn.poses import rpy_from_pose
from robodyn.sweeps.schedulers import check_scheduler

Kind = Literal["constant", "reachable", "dexterous", "orientation"]
KINDS: tuple[str, ...] = get_args(Kind)
KINDS_OF_TIPS = ("reachable", "orientation")
DEFAULT = WorkspaceSettings()


def workspace(
    mechanism: Mechanism,
    kind: Kind | Literal[""] = "",
    *,
    settings: WorkspaceSettings = DEFAULT,
    scheduler: Any = None,
    progress: Callable[[float], None] | None = None,
    **options: Unpack[WorkspaceOptions],
) -> PoseRegion | TipRegion:
    """Compute the region of positions or orientations that a mechanism can reach.

    Every point of the region satisfies the requirements in `settings`, such as joint limits.

    ```python
    region = rd.workspace(m, "dexterous", orientations=0.2, condition_limit=30.0)
    region.volume, region.volume_error
    region.save("dexterous.stl")
    ```

    Args:
        mechanism: mechanism of any kind.
        kind: for a platform, `constant` (positions at one orientation, the default), `reachable`
            (positions at which any of several orientations is possible), `dexterous` (positions at
            which all of them are possible), or `orientation` (roll, pitch and yaw at one position).
            For other mechanisms, `reachable` (positions of the tip) or `orientation` (roll, pitch
            and yaw of the tip at any position, the default for mechanisms that only rotate). If a
            tip rotates about only one or two axes, the region is a range or an area of those
            angles.
        settings: all other settings.
        scheduler: address of a `dask.distributed` scheduler, or a `Client`, that computes large
            samples.
        progress: called with the completed fraction, from 0 to 1.
        options: keyword arguments that override fields of `settings`.

    Returns:
        The region, with its volume, the volume's error and its boundary.

    Raises:
        InvalidInput: shapes are wrong, numbers are out of range, or the region is unbounded.
        MissingExtra, ClusterError: as for `rd.sweep` with a scheduler.
        TypeError: an option is not a field of the settings.
    """
    check_scheduler(scheduler)
    settings = replace(settings, **options)
    kind = kind or ("constant" if mechanism.coordinates.is_pose else _default_tip_kind(mechanism))
    known = KINDS if mechanism.coordinates.is_pose else KINDS_OF_TIPS
    if kind not in known:
        raise InvalidInput(
            f"kind is {kind!r}, expected one of {', '.join(known)} for {mechanism.name}",
            value=kind,
        )
    settings = replace(
        settings,
        error=as_scalar("error", settings.error, above=0.0),
        resolution=as_integer("resolution", settings.resolution, at_least=4),
        bounds=None if settings.bounds is None else _check_box(settings.bounds),
    )
    needs = Requirements(mechanism, settings)
    xyz, rpy, report_progress = settings.xyz, settings.rpy, progress or (lambda _: None)
    if not mechanism.coordinates.is_pose:
        turns = _tip_freedoms(mechanism)[1]
        if kind == "orientation" and not turns:
            raise InvalidInput(
                f"the tip of {mechanism.name} does not rotate; use the kind 'reachable', the set "
                "of its positions",
                value=kind,
            )
        if xyz is not None or rpy is not None:
            raise InvalidInput(
                f"xyz and rpy apply to platforms only; {mechanism.name} is moved by its "
                "joints, which determine the orientation of its tip",
                value=xyz if rpy is None else rpy,
            )
        if settings.budget != np.inf:
            settings = replace(
                settings, budget=as_scalar("budget", settings.budget, "s", above=0.0)
            )
        return TipRegion(needs, kind, settings, report_progress)
    at, turned = rpy_from_pose(mechanism.home)
    if kind == "orientation":
        place = at if xyz is None else as_exact("xyz", xyz, (3,), "m")
        return PoseRegion(needs, kind, place[None], settings, scheduler, report_progress)
    if kind == "constant":
        angles = (turned if rpy is None else as_exact("rpy", rpy, (3,), "rad"))[None]
    else:
        if settings.orientations is None:
            raise InvalidInput(
                f"a {kind} workspace requires several orientations: give an angle, or (k, 3) roll, "
                "pitch and yaw",
                value=None,
            )
        angles = orientations_of(settings.orientations)
    return PoseRegion(needs, kind, angles, settings, scheduler, report_progress)


def _tip_freedoms(mechanism: Mechanism) -> tuple[int, int]:
    """Count the independent translations and rotations of the tip at home."""
    J = mechanism.jacobian(mechanism.home)
    moves, turns = (
        np.linalg.matrix_rank(part, tol=1e-6) for part in (J[:3] / mechanism.size, J[3:])
    )
    return int(moves), int(turns)


def _default_tip_kind(mechanism: Mechanism) -> Kind:
    moves, turns = _tip_freedoms(mechanism)
    return "orientation" if (turns == 3 > moves or not moves) else "reachable"


def _check_box(bounds: ArrayLike) -> Any:
    box = as_array("bounds", bounds, (2,))
    if box.shape != (3, 2) or not (box[:, 0] < box[:, 1]).all():
        raise InvalidInput(
            f"bounds is {np.asarray(bounds).tolist()}, expected shape (3, 2) with lower < upper",
            value=bounds,
        )
    return box
