# SPDX-License-Identifier: Apache-2.0

"""Vectors and small linear systems against NumPy, and end stops against their definition."""

import numpy as np
import pytest

from robodyn.dynamics.kernels import end_stops
from robodyn.numerics import linear, vectors


def test_vectors_are_those_of_numpy(rng):
    a, b, x, y, z = rng.normal(size=(5, 3))
    factor = rng.normal()
    T = np.column_stack([x, y, z])
    I = rng.normal(size=(3, 3))  # noqa: E741
    I = I + I.T  # noqa: E741
    stored = np.concatenate([[0.0], I[np.triu_indices(3)]])
    A, B, columns = tuple(a), tuple(b), (tuple(x), tuple(y), tuple(z))
    for found, expected in (
        (vectors.add(A, B), a + b),
        (vectors.sub(A, B), a - b),
        (vectors.scale(factor, A), factor * a),
        (vectors.axpy(factor, A, B), factor * a + b),
        (vectors.dot(A, B), a @ b),
        (vectors.cross(A, B), np.cross(a, b)),
        (vectors.norm(A), np.linalg.norm(a)),
        (vectors.combine(*columns, A), T @ a),
        (vectors.resolve(*columns, A), T.T @ a),
        (vectors.symmetric(stored, 1, A), I @ a),
        (vectors.turn_inertia(*columns, stored, 1, A), T @ I @ T.T @ a),
        (vectors.vector(stored, 2), stored[2:5]),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)
    vectors.store(stored, 1, A)
    np.testing.assert_array_equal(stored[1:4], a)


@pytest.mark.parametrize("n", [1, 2, 6, 12])
def test_elimination_solves_what_numpy_solves(rng, n):
    matrix, rhs = rng.normal(size=(n, n)), rng.normal(size=n)
    expected = np.linalg.solve(matrix, rhs)
    solution = rhs.copy()
    assert linear.solve(matrix.copy(), solution)
    tolerance = 1e-14 * np.linalg.cond(matrix)
    np.testing.assert_allclose(solution, expected, rtol=tolerance, atol=tolerance)


def test_elimination_pivots():
    solution = np.array([2.0, 3.0])
    assert linear.solve(np.array([[0.0, 1.0], [1.0, 0.0]]), solution)
    np.testing.assert_array_equal(solution, [3.0, 2.0])


def test_elimination_refuses_singular_and_non_finite_matrices(rng):
    rank_five = rng.normal(size=(6, 5)) @ rng.normal(size=(5, 6))
    for matrix in (rank_five, np.zeros((6, 6)), np.full((6, 6), np.nan)):
        assert not linear.solve(matrix, np.ones(6))


@pytest.mark.parametrize("n", [1, 3, 6])
def test_cholesky_solves_and_reads_the_lower_triangle_only(rng, n):
    root = rng.normal(size=(n, n))
    matrix, rhs = root @ root.T + 0.1 * np.eye(n), rng.normal(size=n)
    expected = np.linalg.solve(matrix, rhs)
    matrix[np.triu_indices(n, 1)] = np.nan
    solution = rhs.copy()
    assert linear.solve_definite(matrix, n, 0.0, solution)
    np.testing.assert_allclose(solution, expected, rtol=1e-9)


@pytest.mark.parametrize("diagonal", [[1.0, -1.0], [0.0, 1.0], [np.nan, 1.0]])
def test_cholesky_refuses_what_is_not_positive_definite(diagonal):
    assert not linear.solve_definite(np.diag(diagonal), 2, 0.0, np.ones(2))


@pytest.mark.parametrize(
    ("position", "rate", "effort"),
    [
        (0.5, -9.0, 0.0),  # inside: nothing, however fast
        (0.0, 0.0, 0.0),  # on the stop
        (-0.1, 0.0, 100.0),  # a spring
        (-0.1, -2.0, 120.0),  # and a damper
        (-0.1, 20.0, 0.0),  # leaving fast: never pulls back
        (1.1, 0.0, -100.0),
        (1.1, 3.0, -130.0),
        (1.1, -20.0, 0.0),
    ],
)
def test_end_stops_push_inwards_only(position, rate, effort):
    out = np.full(2, np.nan)
    limits = np.array([[0.0, 1.0], [-np.inf, np.inf]])
    numbers, M, L = np.array([1000.0, 10.0, 0.0, 0.0, 0.0]), np.eye(2), np.eye(2)
    at = np.full(2, position), np.full(2, rate)
    assert end_stops.end_stop_efforts(*at, limits, numbers, M, L, out)
    np.testing.assert_allclose(out, [effort, 0.0], atol=1e-12)
