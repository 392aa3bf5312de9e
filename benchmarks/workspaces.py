# SPDX-License-Identifier: Apache-2.0

"""Volumes of the workspaces of random platforms, beside brute force.

`python -m benchmarks.workspaces [PLATFORMS [SAMPLES]]`, by default of 8 platforms with ten million
poses each. The joints of a platform are random around two hexagons, and so are the limits of its
legs. Leg lengths are by the formula itself, in NumPy, none of them by the library's kernels.
`apart` is the difference of the volumes as a share of the error stated, to which brute force adds
three standard deviations of its own, `noise`.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import robodyn as rd

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

from six_legs import six_legs, with_legs

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray

SAMPLES, CHUNK = 10_000_000, 250_000
SIGMAS = 3.0


def random_platform(seed: int) -> Any:
    """A platform whose joints and limits are drawn about those of the symmetric one."""
    random = np.random.default_rng(seed)
    platform = rd.load("stewart_symmetric")
    legs = []
    for leg in six_legs(platform).legs:
        shortest, longest = leg.limits.length
        stroke = (longest - shortest) * random.uniform(0.7, 1.2)
        first = shortest * random.uniform(0.9, 1.05)
        legs.append(
            replace(
                leg,
                base=leg.base + 0.15 * random.normal(size=3),
                platform=leg.platform + 0.08 * random.normal(size=3),
                limits=replace(leg.limits, length=(first, first + stroke)),
            )
        )
    return with_legs(platform, legs)


def turn(rpy: FloatArray) -> FloatArray:
    """Rotation matrices (..., 3, 3) of roll, pitch, yaw about fixed axes."""
    (sr, sp, sy), (cr, cp, cy) = (np.moveaxis(f(rpy), -1, 0) for f in (np.sin, np.cos))
    rows = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return np.moveaxis(np.array([np.stack(row) for row in rows]), (0, 1), (-2, -1))


def within(platform: Any, xyz: FloatArray, rpy: FloatArray) -> Any:
    """(N,) whether all legs keep to their lengths at positions and roll, pitch, yaw (N or 1, 3)."""
    kept = np.ones(max(len(xyz), len(rpy)), dtype=bool)
    R = turn(rpy)
    for leg in six_legs(platform).legs:
        shortest, longest = leg.limits.length
        reach = xyz + R @ leg.platform - leg.base
        square = (reach**2).sum(axis=-1)
        kept &= (square >= shortest**2) & (square <= longest**2)
    return kept


def by_force(platform: Any, region: Any, samples: int, seed: int) -> tuple[float, float]:
    """Volume of a region by random points in its box, and three standard deviations of it."""
    random = np.random.default_rng(seed)
    home_xyz, home_rpy = (part[None] for part in rd.rpy_from_pose(platform.home))
    inside = 0
    for _ in range(samples // CHUNK):
        points = random.uniform(region.box[:, 0], region.box[:, 1], (CHUNK, 3))
        pose = (home_xyz, points) if region.kind == "orientation" else (points, home_rpy)
        inside += int(within(platform, *pose).sum())
    count = samples // CHUNK * CHUNK
    whole, fraction = float(np.prod(np.diff(region.box, axis=1))), inside / count
    return whole * fraction, SIGMAS * whole * float(np.sqrt(fraction * (1.0 - fraction) / count))


def main() -> None:
    """Print a line for each platform and kind of workspace."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("platforms", nargs="?", type=int, default=8, help="random ones")
    parser.add_argument("samples", nargs="?", type=int, default=SAMPLES, help="by brute force")
    given = parser.parse_args()
    platforms, samples = given.platforms, given.samples
    print("| platform | kind | volume | error | brute force | noise | apart | poses | [s] |")
    print("|---|---|---|---|---|---|---|---|---|")
    for seed in range(platforms):
        platform = random_platform(seed)
        for kind in ("constant", "orientation"):
            begun = time.thread_time()
            region = rd.workspace(platform, kind, seed=seed)
            spent = time.thread_time() - begun
            volume, noise = by_force(platform, region, samples, seed + 1000)
            apart = abs(region.volume - volume) / (region.volume_error + noise)
            print(
                f"| {seed} | {kind} | {region.volume:.5g} {region.unit} | {region.volume_error:.2g}"
                f" | {volume:.5g} | {noise:.1g} | {apart:.2f} | {region.samples} | {spent:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
