# SPDX-License-Identifier: Apache-2.0

"""Weighted least squares with a weak prior, and estimation of unknown noise.

It also finds the combinations of parameters that the measurements do not determine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import NoSolution
from robodyn.identification.calibration.problem import Problem, ResidualDerivatives

# Thresholds of the robust losses, relative to the noise: 95 % of the efficiency of least squares
# without gross errors (Holland and Welsch 1977).
LOSSES = {"linear": 1.0, "soft_l1": 1.345, "huber": 1.345, "cauchy": 2.385}
# Initial noise [m, rad] if it is unknown, relative to the mechanism's size.
FIRST = 1e-3
ROUNDS = 12
# Smallest redundancy of a residual that the unknowns absorb almost entirely.
LEAST_RESIDUAL_SHARE = 0.05
# Relative coefficients below this are omitted from the name of an unseen combination.
FRACTION = 0.05
TERMS = 6


@dataclass(frozen=True)
class Noise:
    """Standard deviations of measurement noise by group, and of the joints' readings.

    Groups are `position` [m], `orientation` [rad] and `passive` [rad]; the readings have n standard
    deviations.
    """

    groups: Mapping[str, float]
    joints: FloatArray


@dataclass(frozen=True)
class CalibrationFit:
    """Result of the least-squares fit of a calibration.

    Attributes:
        unknowns: (U,) scaled unknowns, see `Problem`.
        evaluated: residuals and derivatives at these unknowns.
        noise: given or estimated noise.
        whitened: (N r, U) derivatives of the whitened predicted values with respect to the scaled
            unknowns, see `whiten_derivatives`.
        converged: whether the iteration met its tolerances.
    """

    unknowns: FloatArray
    evaluated: ResidualDerivatives
    noise: Noise
    whitened: FloatArray
    converged: bool

    @cached_property
    def root(self) -> FloatArray:
        """Matrix square root (U, U) of the covariance of the scaled unknowns.

        The covariance includes the prior. The root is computed by a singular value decomposition,
        because squaring an ill-conditioned matrix would lose its small singular values.
        """
        values, rows = right_singular(self.whitened)
        return np.asarray(rows.T / np.sqrt(1.0 + values**2))

    @property
    def covariance(self) -> FloatArray:
        """Covariance (U, U) of the scaled unknowns, including the prior."""
        return np.asarray(self.root @ self.root.T)


def fit(
    problem: Problem,
    noise: Noise,
    estimate: bool,
    loss: str = "linear",
    report_progress: Callable[[float], None] | None = None,
) -> CalibrationFit:
    """Find the most probable values of a calibration's unknowns by least squares.

    If `estimate` is set, the noise of each group of measurements is estimated from the residuals.

    The noise of a group follows from its residuals and the redundancy of its equations (variance
    components; Foerstner 1979); this estimate alternates with the fit.

    Args:
        problem: residuals as a function of the unknowns.
        noise: initial noise.
        estimate: whether to estimate the noise.
        loss: `linear`, `soft_l1`, `huber` or `cauchy`.
        report_progress: called with the progress from 0 to 1.

    Returns:
        The scaled unknowns, with their residuals, noise and covariance.

    Raises:
        NoSolution: no parameters near the nominal ones give all samples a pose.
    """
    at = np.zeros(problem.count)
    for turn in range(ROUNDS):
        found = _solve(problem, noise, at, loss)
        at = found.unknowns
        if report_progress is not None:
            report_progress((turn + 1) / ROUNDS)
        if not estimate:
            return found
        better = _estimate_noise(problem, found, loss)
        changes = [abs(better.groups[name] / noise.groups[name] - 1.0) for name in noise.groups]
        noise = better
        if max(changes, default=0.0) < 0.01:
            break
    return found


def _solve(problem: Problem, noise: Noise, start: FloatArray, loss: str) -> CalibrationFit:
    from scipy.optimize import least_squares

    # residuals and their derivatives are evaluated in turn
    @lru_cache(maxsize=1)
    def at(unknowns: bytes) -> ResidualDerivatives | None:
        return problem.evaluate(np.frombuffer(unknowns))

    first = at(start.tobytes())
    if first is None:
        raise NoSolution(
            "some of the joint readings cannot be reached by the model: check their units, their "
            "order and the model",
            residual=np.inf,
        )
    weights = weights_of(problem, noise, first)
    if problem.count == 0:
        return CalibrationFit(start, first, noise, np.zeros((problem.equations, 0)), True)

    def residuals(unknowns: FloatArray) -> FloatArray:
        found = at(unknowns.tobytes())
        if found is None:  # the step is rejected
            return np.full(problem.equations + problem.count, np.inf)
        data = np.einsum("nij,nj->ni", weights, found.residual).reshape(-1)
        return np.concatenate([data, -unknowns])

    def jacobian(unknowns: FloatArray) -> FloatArray:
        found = at(unknowns.tobytes())
        assert found is not None  # only accepted steps are differentiated
        return np.concatenate([-whiten_derivatives(weights, found), -np.eye(problem.count)])

    solved = least_squares(
        residuals, start, jacobian, method="trf", x_scale="jac", loss=loss,
        f_scale=LOSSES[loss],        xtol=1e-10, ftol=1e-10, gtol=1e-10, max_nfev=200,
    )  # fmt: skip
    final = problem.evaluate(solved.x)
    assert final is not None  # as above
    rows = whiten_derivatives(weights_of(problem, noise, final), final)
    return CalibrationFit(solved.x, final, noise, rows, bool(solved.success))


def whiten_derivatives(weights: FloatArray, found: ResidualDerivatives) -> FloatArray:
    """Compute derivatives (N r, U) of whitened predicted values w.r.t. the unknowns.

    `weights` (N, r, r) are the matrices of `weights_of`, and `found` contains the derivatives for r
    values of each of N samples and U scaled unknowns.
    """
    return np.asarray((weights @ found.jacobian).reshape(-1, found.jacobian.shape[2]))


def weights_of(problem: Problem, noise: Noise, found: ResidualDerivatives) -> FloatArray:
    """Compute matrices (N, r, r) that whiten the r residuals of each of N samples.

    Each matrix times a sample's residuals gives independent values of standard deviation 1. Errors
    of the driven joints' readings displace the predicted pose, so their noise adds to that of the
    tracker.
    """
    own = np.array([noise.groups[name] for name in problem.groups])
    by_joint = found.by_joint * noise.joints
    covariance = by_joint @ by_joint.swapaxes(1, 2) + np.diag(own**2)
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)))


def _estimate_noise(problem: Problem, found: CalibrationFit, loss: str) -> Noise:
    """Estimate the noise of each group of measurements from its residuals."""
    weights = weights_of(problem, found.noise, found.evaluated)
    white = np.einsum("nij,nj->ni", weights, found.evaluated.residual)
    shape = (*white.shape, problem.count)
    leverage = ((found.whitened @ found.root) ** 2).sum(axis=1).reshape(shape[:2])
    names = np.array(problem.groups)
    better = {}
    for name, sigma in found.noise.groups.items():
        of = names == name
        free = max(float((1.0 - leverage[:, of]).sum()), 1.0)
        part = white[:, of]
        total = float((part**2).sum())
        if loss != "linear":
            # with outliers the median of the magnitudes, each divided by its redundancy
            left = np.sqrt(np.maximum(1.0 - leverage[:, of], LEAST_RESIDUAL_SHARE))
            total, free = (float(np.median(np.abs(part) / left)) / 0.6745) ** 2, 1.0
        better[name] = max(sigma * float(np.sqrt(total / free)), 1e-15)
    return Noise(better, found.noise.joints)


@dataclass(frozen=True)
class Visibility:
    """Singular values and undetermined directions of a calibration's parameters.

    Attributes:
        singular_values: (p,) of the identification Jacobian, largest first. Its columns are
            multiplied by the parameters' tolerances, its rows are divided by the noise, and the
            frames are eliminated. The measurements reduce the standard deviation along a direction
            with the value s by a factor of sqrt(1 + s^2).
        unseen: (k, p) directions in scaled parameters whose singular value is below one, each row
            with as few parameters as possible.
        condition: ratio of the largest singular value to the smallest that is at least 1.
    """

    singular_values: FloatArray
    unseen: FloatArray

    @property
    def condition(self) -> float:
        """Ratio of the largest singular value to the smallest that is at least 1."""
        seen = self.singular_values[self.singular_values >= 1.0]
        return float(seen[0] / seen[-1]) if len(seen) else float("inf")


def visibility(whitened: FloatArray, count: int) -> Visibility:
    """Compute how well measurements determine the first `count` unknowns.

    The other unknowns are nuisance parameters, which are eliminated.

    Args:
        whitened: (N r, U) derivatives of the whitened predicted values with respect to the scaled
            unknowns.
        count: number of unknowns that are parameters of the mechanism; these come first.

    Returns:
        Singular values, and directions that the measurements do not determine.
    """
    parameters, others = whitened[:, :count], whitened[:, count:]
    if others.shape[1]:
        u, s, _ = np.linalg.svd(others, full_matrices=False)
        basis = u[:, s > 1e-12 * s.max(initial=0.0)]
        parameters = parameters - basis @ (basis.T @ parameters)
    values, rows = right_singular(parameters)
    return Visibility(values, _sparse_basis(rows[values < 1.0]))


def right_singular(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute the singular values and right singular vectors of a matrix (rows, U).

    Returns:
        The U singular values, largest first (0 for those beyond the number of rows), and the
        vectors as rows of a matrix (U, U).
    """
    count = matrix.shape[1]
    square = np.zeros((count, count))
    upper = np.linalg.qr(matrix, mode="r")
    square[: len(upper)] = upper
    _, values, vectors = np.linalg.svd(square)
    return np.asarray(values), np.asarray(vectors)


def _sparse_basis(rows: FloatArray) -> FloatArray:
    """Compute a sparse basis (k, p) of the span of k vectors by complete pivoting."""
    out: FloatArray = rows.copy()
    left = list(range(len(out)))
    chosen: list[int] = []
    while left:
        sizes = np.abs(out[left])
        sizes[:, chosen] = 0.0
        row, column = np.unravel_index(int(sizes.argmax()), sizes.shape)
        pivot = left.pop(int(row))
        chosen.append(int(column))
        out[pivot] /= out[pivot, column]
        for other in range(len(out)):
            if other != pivot:
                out[other] -= out[other, column] * out[pivot]
    return out


def combination(direction: FloatArray, names: Sequence[str]) -> str:
    """Format a direction in parameter space as a sum of parameter names.

    `direction` (p,) contains the coefficients of the parameters with the given names.

    Returns:
        A string such as `leg1.offset` or `leg1.base.z + leg1.platform.z and 3 more`.
    """
    largest = np.abs(direction).max()
    order = np.argsort(-np.abs(direction), kind="stable")
    kept = [i for i in order if abs(direction[i]) > FRACTION * largest]
    parts: list[str] = []
    for i in kept[:TERMS]:
        factor = direction[i] / largest
        size = "" if abs(abs(factor) - 1.0) < 0.005 else f"{abs(factor):.2g} "
        sign = ("- " if factor < 0.0 else "+ ") if parts else ("-" if factor < 0.0 else "")
        parts.append(f"{sign}{size}{names[i]}")
    more = f" and {len(kept) - TERMS} more" if len(kept) > TERMS else ""
    return " ".join(parts) + more
