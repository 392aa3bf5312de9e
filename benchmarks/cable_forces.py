# SPDX-License-Identifier: Apache-2.0

"""Forces of eight cables against linear programs and Gouttefarde's algorithm, and their time.

`python -m benchmarks.cable_forces [POSES [SEED]]`: random poses and wrenches; with no poses, the
time of a call alone.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

import robodyn as rd
from benchmarks.timing import Contender, compare

sys.path.insert(0, str(Path(__file__).parents[1] / "test/robodyn/solvers/tree"))


def corners(N, low, high):
    """Corners (k, 2) of {y: low <= N y <= high}, one after the other; empty if there are none.

    Gouttefarde, Lamaury, Reichert and Bruckmann (IEEE T-RO 31, 2015): along a line, collecting the
    inequalities that are met, on along the next one that would be lost, until round.
    """
    rows, sides = np.vstack([N, -N]), np.concatenate([low, -high])  # rows @ y >= sides
    count, i, j = len(rows), 0, 1
    y = np.linalg.solve(rows[[i, j]], sides[[i, j]])
    met = rows @ y >= sides - 1e-9 * (1.0 + np.abs(sides))
    met[[i, j]] = True
    way = np.array([-rows[i, 1], rows[i, 0]])
    way = way if rows[j] @ way >= 0.0 else -way
    found, since = [], set()
    for _ in range(20 * count):
        if met.all():
            if found and np.linalg.norm(y - found[0]) < 1e-7 * (1.0 + np.linalg.norm(y)):
                return np.array(found)
            found.append(y)
        rates, gaps = rows @ way, sides - rows @ y
        ahead = np.where(np.abs(rates) > 1e-12, gaps / np.where(rates == 0.0, 1.0, rates), -1.0)
        lost = met & (rates < -1e-12)
        gained = ~met & (rates > 1e-12) & (ahead > 0.0)
        lost[[i, i + count // 2 if i < count // 2 else i - count // 2]] = False
        step = ahead[lost].min() if lost.any() else np.inf
        soon = gained & (ahead <= step)
        if soon.any():
            met |= soon
            since = set()
        if not np.isfinite(step):
            return np.empty((0, 2))  # unbounded cannot be: limits are on both sides
        stop = int(np.flatnonzero(lost & (ahead == step))[0])
        y = y + max(step, 0.0) * way
        if not met.all() and stop in since:
            return np.empty((0, 2))  # round, and still unmet
        since.add(stop)
        along = np.array([-rows[stop, 1], rows[stop, 0]])
        i, way = stop, along if rows[i] @ along >= 0.0 else -along
    return np.empty((0, 2))


def nearest(points):
    """The point (2,) of a convex polygon nearest to the origin."""
    ahead = np.roll(points, -1, 0)
    turns = np.sign(points[:, 0] * ahead[:, 1] - points[:, 1] * ahead[:, 0])
    if len(points) > 2 and abs(turns.sum()) == len(points):
        return np.zeros(2)
    along = ahead - points
    square = np.maximum((along**2).sum(-1), 1e-300)
    fraction = np.clip(-(points * along).sum(-1) / square, 0.0, 1.0)
    ends = points + fraction[:, None] * along
    return ends[np.argmin((ends**2).sum(-1))]


def compared(m, low, high, count, seed):
    """Verdicts that differ from those of linear programs and of the polygon, and distances."""
    rng, rest, pose = np.random.default_rng(seed), np.zeros(6), m.body_pose(m.home)
    least = m.without_actuators()
    reported = {"hold": 0, "other verdict than the program": 0, "than the polygon": 0}
    closest, furthest, balance = np.inf, 0.0, 0.0
    one = np.ones((8, 1))
    sides = np.block([[np.eye(8), one], [-np.eye(8), one]])
    ends = np.concatenate([np.full(8, high), np.full(8, -low)])
    for _ in range(count):
        turn = np.array([*rng.uniform(-0.15, 0.15, 3), 1.0])
        at = [*(pose[:3] + rng.uniform(-0.9, 0.9, 3)), *turn / np.linalg.norm(turn)]
        q = m.configuration_at(np.array(at), m.home)
        wrench = rng.uniform(-1, 1, 6) * [200, 200, 200, 25, 25, 25]
        A, found = m.joint_jacobian(q), m.inverse_dynamics(q, rest, rest, wrench)
        asked = m.free_efforts(q, rest, rest, wrench)
        start = least.inverse_dynamics(q, rest, rest, wrench)
        inside = bool((found >= low - 1e-9).all() and (found <= high + 1e-9).all())
        balance = max(balance, float(np.abs(A.T @ found - asked).max()))
        # the most room that all cables can have within their limits: negative if none hold
        answer = linprog(
            -np.eye(9)[8], sides, ends, np.hstack([A.T, np.zeros((6, 1))]), asked, (None, None)
        )
        room = -answer.fun
        closest = min(closest, abs(room))
        reported["hold"] += inside
        reported["other verdict than the program"] += inside != (room >= 0.0)
        N = np.linalg.svd(A.T)[2][6:].T
        polygon = corners(N, low - start, high - start)
        reported["than the polygon"] += inside != bool(len(polygon))
        if inside and len(polygon):
            furthest = max(furthest, float(np.abs(found - start - N @ nearest(polygon)).max()))
    return reported, closest, furthest, balance


if __name__ == "__main__":
    from test_cables import LEAST, MOST, written

    count, seed = ([int(a) for a in sys.argv[1:]] + [0, 0])[:2]
    with tempfile.TemporaryDirectory() as folder:
        m = rd.load(written(Path(folder)))
    if count:
        counts, closest, furthest, balance = compared(m, LEAST, MOST, count, seed)
        sys.stdout.write(
            f"{count} poses: {', '.join(f'{n} {what}' for what, n in counts.items())}; the "
            f"closest verdict by {closest:.1e} N; forces within {furthest:.1e} N of the polygon's "
            f"nearest point, balance {balance:.1e} N\n"
        )
    rest = np.zeros(6)
    q = np.array([m.configuration_at(m.body_pose(m.home) + np.array([x, 0.1, 0.2, 0, 0, 0, 0]))
                  for x in np.linspace(-0.4, 0.4, 100)])  # fmt: skip
    free = m.without_actuators()
    for row in compare([
        Contender("one state, within limits", lambda: m.inverse_dynamics(q[50], rest, rest)),
        Contender("one state, least squares", lambda: free.inverse_dynamics(q[50], rest, rest)),
        Contender("100 states", lambda: m.inverse_dynamics(q, rest, rest), 100),
        Contender("100 states, least squares", lambda: free.inverse_dynamics(q, rest, rest), 100),
    ]):  # fmt: skip
        sys.stdout.write(f"{row.name}: {row.median:.2f} us ({row.low:.2f} to {row.high:.2f})\n")
