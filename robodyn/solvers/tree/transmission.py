# SPDX-License-Identifier: Apache-2.0

"""Linkages between motors and joints inside larger mechanisms: ankles, waists, palletizers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.errors import InvalidInput, SingularConfiguration
from robodyn.model.model import Model
from robodyn.solvers.tree.closing.kinematics import tangent
from robodyn.solvers.tree.loop import ClosedLoop

# Largest step of a joint or motor between two closed configurations [rad, m].
STEP = 0.1
# Rate, relative to the others, below which it counts as zero.
ZERO_RATE = 1e-8
# Condition number above which a map counts as singular.
SINGULAR = 1e10
# Number of configurations around home for the check of the map, and their distance [rad, m].
SAMPLES, SPREAD, SEED = 3, 0.05, 26


def transmission(mechanism: Any, motors: Sequence[str], joints: Sequence[str]) -> Transmission:
    """Return the map between motors and the joints that they move through a linkage.

    Args:
        mechanism: mechanism with closed loops.
        motors: names of n driven joints.
        joints: names of n joints whose positions the motors determine, independently of the rest of
            the mechanism.

    Returns:
        The map.

    Raises:
        InvalidInput: the mechanism is of another kind, a joint is unknown, the numbers of joints
            and motors differ, or the motors do not determine the joints; the error names them.
    """
    return Transmission(mechanism, motors, joints)


class Transmission:
    """Map between motors and joints of a linkage; see `transmission`.

    All other independent joints of the mechanism stay at home. Positions (..., n) [rad or m] of the
    joints determine the state of the linkage: the one that is reached continuously from home.

    Attributes:
        motors, joints: names of the motors and the joints.
    """

    def __init__(self, mechanism: Any, motors: Sequence[str], joints: Sequence[str]) -> None:
        if not isinstance(mechanism, ClosedLoop):
            raise InvalidInput(
                f"{mechanism.name} is of the kind {mechanism.kind!r}, expected a mechanism with "
                "closed loops: without loops, each motor is a joint itself",
                value=mechanism.kind,
            )
        self._loop, self._model = mechanism, mechanism.model
        self.motors, self.joints = tuple(motors), tuple(joints)
        known = [
            name for name in mechanism.all_joint_names if name in mechanism.structure.rate_names
        ]
        for name in (*self.motors, *self.joints):
            if name not in known:
                raise InvalidInput(
                    f"{mechanism.name} has no joint {name!r} with a position of its own; its "
                    f"joints are {', '.join(map(repr, known))}",
                    value=name,
                )
        count = len(self.motors)
        if not count or len(self.joints) != count or len({*motors, *joints}) != 2 * count:
            raise InvalidInput(
                f"motors are {self.motors} and joints {self.joints}, expected the same number of "
                "both, each name once",
                value=(self.motors, self.joints),
            )
        self._rows = {
            side: [mechanism.structure.rate_names.index(name) for name in names]
            for side, names in (("motors", self.motors), ("joints", self.joints))
        }
        self._others = self._resting()
        self._check()

    def configuration(self, positions: ArrayLike) -> FloatArray:
        """Compute the mechanism's configuration at positions of the joints.

        Args:
            positions: (..., n) [rad or m].

        Returns:
            Configuration (..., nq).

        Raises:
            NoSolution: the linkage does not reach these positions.
        """
        return self._moved(self.joints, "positions", positions)

    def motor_positions(self, positions: ArrayLike) -> FloatArray:
        """Convert joint positions to motor positions.

        Args:
            positions: (..., n) [rad or m] of the joints.

        Returns:
            Motor positions (..., n) [rad or m].

        Raises:
            NoSolution: the linkage does not reach these positions.
        """
        return self._positions_of(self.configuration(positions), self.motors)

    def joint_positions(self, motor_positions: ArrayLike) -> FloatArray:
        """Convert motor positions to joint positions.

        Args:
            motor_positions: (..., n) [rad or m].

        Returns:
            Joint positions (..., n) [rad or m].

        Raises:
            NoSolution: the linkage does not close at these positions.
        """
        q = self._moved(self.motors, "motor_positions", motor_positions)
        return self._positions_of(q, self.joints)

    def jacobian(self, positions: ArrayLike) -> FloatArray:
        """Compute the Jacobian of the motors with respect to the joints.

        Args:
            positions: (..., n) [rad or m] of the joints.

        Returns:
            J (..., n, n): rates of the motors = J @ rates of the joints.

        Raises:
            SingularConfiguration: the motors do not move all of the joints in this position.
        """
        return np.asarray(self._jacobians(self.configuration(positions))[0])

    def motor_rates(self, positions: ArrayLike, rates: ArrayLike) -> FloatArray:
        """Convert joint rates to motor rates.

        Args:
            positions: (..., n) [rad or m] of the joints.
            rates: (..., n) [rad/s or m/s] of the joints.

        Returns:
            Motor rates (..., n) [rad/s or m/s].
        """
        return _times(self.jacobian(positions), self._n("rates", rates))

    def joint_rates(self, positions: ArrayLike, motor_rates: ArrayLike) -> FloatArray:
        """Convert motor rates to joint rates.

        Args:
            positions: (..., n) [rad or m] of the joints.
            motor_rates: (..., n) [rad/s or m/s].

        Returns:
            Joint rates (..., n) [rad/s or m/s].
        """
        return _solve(self.jacobian(positions), self._n("motor_rates", motor_rates))

    def motor_efforts(self, positions: ArrayLike, efforts: ArrayLike) -> FloatArray:
        """Convert joint efforts to equivalent motor efforts.

        Args:
            positions: (..., n) [rad or m] of the joints.
            efforts: (..., n) [N m or N] at the joints.

        Returns:
            Motor efforts (..., n) [N m or N].
        """
        J = np.swapaxes(self.jacobian(positions), -1, -2)
        return _solve(J, self._n("efforts", efforts))

    def joint_efforts(self, positions: ArrayLike, motor_efforts: ArrayLike) -> FloatArray:
        """Convert motor efforts to equivalent joint efforts.

        Args:
            positions: (..., n) [rad or m] of the joints.
            motor_efforts: (..., n) [N m or N].

        Returns:
            Joint efforts (..., n) [N m or N].
        """
        J = np.swapaxes(self.jacobian(positions), -1, -2)
        return _times(J, self._n("motor_efforts", motor_efforts))

    def inertia(self, positions: ArrayLike, *, load: bool = False) -> FloatArray:
        """Compute the inertia matrix of linkage and rotors, reflected to the joints.

        Args:
            positions: (..., n) [rad or m] of the joints.
            load: whether to include bodies that the joints carry directly.

        Returns:
            Inertia matrix (..., n, n) [kg m^2, kg m or kg].
        """
        q = self.configuration(positions)
        _, U = self._jacobians(q)
        M = (self._loop if load else self._unloaded).mass_matrix(q)
        return np.asarray(np.swapaxes(U, -1, -2) @ M @ U)

    @cached_property
    def _unloaded(self) -> ClosedLoop:
        """The mechanism without the mass of the links in `_carried_links`.

        The joints carry these links, but the linkage between motors and joints does not.
        """
        return ClosedLoop(_without(self._model, self._carried_links()))

    def _carried_links(self) -> set[str]:
        """Return the names of links that the joints carry, but the motor linkage does not."""
        loop, above = self._loop, {joint.child: joint for joint in self._model.joints}
        moved = np.abs(self._rate_matrices(loop.home)[0]).max(axis=1) > ZERO_RATE
        linkage = {loop.structure.rate_names[row].split(".")[0] for row in np.flatnonzero(moved)}
        linkage -= set(self.joints)
        found = set()
        for link in self._model.links:
            walk, names = link.name, set()
            while walk in above:
                names.add(above[walk].name)
                walk = above[walk].parent
            if names & set(self.joints) and not names & linkage:
                found.add(link.name)
        return found

    def _resting(self) -> list[int]:
        """Return indices of rates that, with the motor rates, determine all other rates."""
        S = tangent(self._loop, self._loop.home)
        rows = self._rows["motors"]
        if np.linalg.matrix_rank(S[rows], tol=ZERO_RATE) < len(rows):
            raise InvalidInput(
                f"motors {', '.join(map(repr, self.motors))} do not move independently of each "
                "other; leave out those that follow others",
                value=self.motors,
            )
        free = [
            self._loop.structure.rate_names.index(name) for name in self._loop.independent_joints
        ]
        named = self._rows["joints"]
        first = [row for row in (*free, *range(len(S))) if row not in named]
        for row in (*first, *named):
            chosen = [*rows, row]
            if len(rows) < S.shape[1]:
                rank = np.linalg.matrix_rank(S[chosen], tol=ZERO_RATE)
                rows = chosen if rank == len(chosen) else rows
        return rows[len(self.motors) :]

    def _check(self) -> None:
        """Raise an error if the motors do not determine the joints, at home and around it."""
        rng, loop = np.random.default_rng(SEED), self._loop
        for _ in range(SAMPLES):
            q = loop.advance(loop.home, rng.uniform(-SPREAD, SPREAD, loop.mobility) * loop.size)
            _, others = self._rate_matrices(q)
            loose = np.abs(others[self._rows["joints"]]) > ZERO_RATE * max(
                1.0, np.abs(others).max(initial=0.0)
            )
            for n in np.flatnonzero(loose.any(axis=1)):
                by = loop.structure.rate_names[self._others[int(np.argmax(loose[n]))]]
                how = "by itself" if by == self.joints[n] else f"with {by!r}"
                raise InvalidInput(
                    f"joint {self.joints[n]!r} moves {how} while the motors "
                    f"{', '.join(map(repr, self.motors))} rest; expected a joint that they "
                    "determine",
                    value=self.joints[n],
                )

    def _rate_matrices(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the Jacobians of all joint rates w.r.t. motor rates and other rates.

        They are (rates, n) and (rates, k). The k other rates complete the n motor rates to
        independent rates of the mechanism; see `_others`.
        """
        S, count = tangent(self._loop, q), len(self.motors)
        all_of = S @ np.linalg.inv(S[[*self._rows["motors"], *self._others]])
        return all_of[:, :count], all_of[:, count:]

    def _jacobians(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the Jacobians from joint rates to motor rates and to independent rates.

        They are (..., n, n) and (..., mobility, n).
        """
        S = tangent(self._loop, q)
        rows = S[..., [*self._rows["motors"], *self._others], :]
        self._refuse_singular(rows, q)
        U = np.linalg.inv(rows)[..., : len(self.motors)]
        back = S[..., self._rows["joints"], :] @ U
        self._refuse_singular(back, q)
        J = np.linalg.inv(back)
        return J, U @ J

    def _refuse_singular(self, matrices: FloatArray, q: FloatArray) -> None:
        """Raise an error if any of the matrices (..., k, k) is singular."""
        for index in np.ndindex(matrices.shape[:-2]):
            _, values, right = np.linalg.svd(matrices[index])
            if not values[-1] * SINGULAR > values[0]:
                raise SingularConfiguration(
                    f"{self._loop.name}: the linkage between the motors "
                    f"{', '.join(map(repr, self.motors))} and the joints "
                    f"{', '.join(map(repr, self.joints))} is singular at these positions",
                    smallest_singular_value=float(values[-1]),
                    direction=right[-1],
                    value=q[index],
                    index=index,
                )

    def _moved(self, names: tuple[str, ...], what: str, target: ArrayLike) -> FloatArray:
        """Find configurations (..., nq) for positions (..., n) of named joints.

        Each configuration is reached from home in small steps.
        """
        goals, loop = self._n(what, target), self._loop
        held = [loop.structure.rate_names[row] for row in self._others]
        rest = dict(zip(held, self._positions_of(loop.home, tuple(held)), strict=True))
        start = self._positions_of(loop.home, names)
        out = np.empty((*goals.shape[:-1], loop.home.size))
        for index in np.ndindex(goals.shape[:-1]):
            q = loop.home
            count = max(1, int(np.ceil(np.abs(goals[index] - start).max() / STEP)))
            for part in np.arange(1, count + 1) / count:
                at = start + part * (goals[index] - start)
                q = loop.assemble(rest | dict(zip(names, at, strict=True)), q)
            out[index] = q
        return out

    def _positions_of(self, q: FloatArray, names: tuple[str, ...]) -> FloatArray:
        tree = self._loop.structure.tree
        return np.asarray(q[..., [tree.position_of[name] for name in names]])

    def _n(self, name: str, value: ArrayLike) -> FloatArray:
        return as_array(name, value, (len(self.motors),), f"{len(self.motors)} joints or motors")


def _times(J: FloatArray, vectors: FloatArray) -> FloatArray:
    return np.asarray((J @ vectors[..., None])[..., 0])


def _solve(J: FloatArray, vectors: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.solve(J, vectors[..., None])[..., 0])


def _without(model: Model, links: set[str]) -> Model:
    """Return a model in which the given links are massless."""
    bare = (
        replace(link, mass=0.0, inertia=np.zeros((3, 3))) if link.name in links else link
        for link in model.links
    )
    return replace(model, links=tuple(bare))
