# SPDX-License-Identifier: Apache-2.0

"""Small matrices, singular values and batches of rotations against NumPy and SciPy."""

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation

from robodyn.errors import InvalidInput
from robodyn.numerics import (
    broadcasting,
    cubics,
    jacobi,
    linear,
    matrices,
    rotations_batch,
    runge_kutta,
    turns,
)
from robodyn.numerics.singular_values import extreme_ratio

close = np.testing.assert_allclose


def rows(matrix):
    return tuple(map(tuple, matrix))


def test_matrices_are_those_of_numpy(rng):
    A, B = rng.normal(size=(2, 3, 3))
    a, b = rng.normal(size=(2, 3))
    cross = np.cross(np.eye(3), a).T  # [a x]
    for found, expected in (
        (matrices.apply(rows(A), tuple(a)), A @ a),
        (matrices.apply_transposed(rows(A), tuple(a)), A.T @ a),
        (matrices.product(rows(A), rows(B)), A @ B),
        (matrices.plus(rows(A), rows(B)), A + B),
        (matrices.transpose(rows(A)), A.T),
        (matrices.column(rows(A), 1), A[:, 1]),
        (matrices.add_outer(rows(A), 0.7, tuple(a), tuple(b)), A + 0.7 * np.outer(a, b)),
        (matrices.skew(tuple(a)), -cross),
        (matrices.cross_rows(tuple(a), rows(A)), -cross @ A),
        (matrices.symmetric_rows((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)),
         [[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]]),
    ):  # fmt: skip
        close(found, expected, rtol=1e-13, atol=1e-14)
    flat = np.zeros(11)
    matrices.store_matrix(flat, 1, rows(A))
    np.testing.assert_array_equal(matrices.matrix(flat, 1), A)


def test_a_point_mass_adds_what_steiner_says(rng):
    """The rotational energy of mass at a is that of its speed: w'I w = m |w x a|^2."""
    mass, a, w = 2.5, rng.normal(size=3), rng.normal(size=3)
    inertia = np.array(matrices.add_point_mass(rows(np.zeros((3, 3))), mass, tuple(a)))
    assert w @ inertia @ w == pytest.approx(mass * np.sum(np.cross(w, a) ** 2))
    close(inertia, inertia.T, rtol=1e-14)


def test_a_spatial_inertia_about_another_point_has_the_same_energy(rng):
    """Blocks of a rigid body: A about the point, B = [m c x], M = m E, moved by r."""
    mass, com, r = 3.0, rng.normal(size=3), rng.normal(size=3)
    spread = np.diag(rng.uniform(1.0, 2.0, 3))

    def blocks(at):
        c = np.array(matrices.skew(tuple(com + at)))
        return spread - mass * c @ c, mass * c

    A, B = blocks(0.0)
    M = mass * np.eye(3)
    moved = matrices.shift_reference_point(rows(A), rows(B), rows(M), tuple(r))
    for found, expected in zip(moved, blocks(r), strict=True):
        close(found, expected, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 3), (4, 6), (6, 6), (2, 9)])
def test_jacobi_finds_the_ratio_of_singular_values(rng, shape):
    A = rng.normal(size=shape) * 10.0 ** rng.uniform(-3.0, 3.0, (shape[0], 1))
    values = np.linalg.svd(A, compute_uv=False)
    for count in range(1, shape[0] + 1):
        found = jacobi.ratio_of_rows(A.copy(), count)
        assert found == pytest.approx(values[0] / values[count - 1], rel=1e-9)


def test_neither_rotation_nor_unit_nor_transposition_changes_the_ratio(rng):
    A, Q, R = rng.normal(size=(3, 5, 5))
    Q, R = np.linalg.qr(Q)[0], np.linalg.qr(R)[0]
    ratio = jacobi.ratio_of_rows(A.copy(), 5)
    for other in (Q @ A, A @ R, 1e3 * A, A.T):
        found = jacobi.ratio_of_rows(np.ascontiguousarray(other), 5)
        assert found == pytest.approx(ratio, rel=1e-10)


def test_jacobi_is_accurate_for_graded_rows(rng):
    """Rows that differ by 1e100: their ratio is exact to rounding, as SVD's is not."""
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    scales = np.array([1e-100, 1.0, 1e50, 1e100])
    assert jacobi.ratio_of_rows(scales[:, None] * Q, 4) == pytest.approx(1e200, rel=1e-13)


def test_a_dependent_row_has_no_ratio(rng):
    A = rng.normal(size=(3, 6))
    A[2] = 0.0
    assert jacobi.ratio_of_rows(A.copy(), 3) == np.inf
    assert np.isfinite(jacobi.ratio_of_rows(A.copy(), 2))
    np.testing.assert_array_equal(
        extreme_ratio(np.array([[4.0, 2.0], [1.0, 0.0], [0.0, 0.0]])), [2.0, np.inf, np.inf]
    )


@pytest.mark.parametrize("n", [1, 2, 6])
def test_elimination_solves_several_sides_at_once(rng, n):
    A, b = rng.normal(size=(n, n)), rng.normal(size=(n, 4))
    x = b.copy()
    assert linear.solve_columns(A.copy(), x, 3)
    close(x[:, :3], np.linalg.solve(A, b[:, :3]), rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(x[:, 3] if n == 1 else np.sort(x[:, 3]), np.sort(b[:, 3]))
    assert not linear.solve_columns(np.zeros((n, n)), b.copy(), 3)


def test_a_lenient_factor_bridges_a_dependent_row():
    """A positive semidefinite matrix: strict elimination refuses it, a lenient one solves it."""
    root = np.array([[1.0, 2.0], [2.0, 4.0]])
    A = root @ root.T
    assert not linear.factor_definite(A.copy(), 2, False)
    factor, x = A.copy(), A @ [1.0, 1.0]
    assert linear.factor_definite(factor, 2, True)
    linear.solve_factored(factor, 2, x)
    close(A @ x, A @ [1.0, 1.0], rtol=1e-6)


def test_a_runge_kutta_step_is_of_fourth_order():
    """Of x' = -x the step is the series of exp to the fourth power; the error falls as dt^5."""

    def step(dt):
        x, rates, out = np.ones(1), np.zeros((4, 1)), np.zeros(1)
        for stage in range(4):
            runge_kutta.put_stage(x, rates, stage, dt, 1, out)
            rates[stage] = -out
        runge_kutta.put_step(x, rates, dt, 1, out)
        return out[0]

    for dt in (0.5, 0.1):
        assert step(dt) == pytest.approx(1 - dt + dt**2 / 2 - dt**3 / 6 + dt**4 / 24, rel=1e-15)
    assert (step(0.1) - np.exp(-0.1)) / (step(0.05) - np.exp(-0.05)) == pytest.approx(32, rel=0.02)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.1e6])
def test_a_state_that_ran_away_is_seen(bad):
    assert runge_kutta.is_within(np.array([0.0, -9.9e5, 9.9e5]))
    assert not runge_kutta.is_within(np.array([0.0, bad]))


def test_full_turns_are_taken_off(rng):
    angles = rng.uniform(-50.0, 50.0, 200)
    short = np.array([turns.shortest_turn(angle) for angle in angles])
    assert np.abs(short).max() <= np.pi
    close(np.exp(1j * short), np.exp(1j * angles), atol=1e-12)
    close(angles - turns.full_turns(angles), short, atol=1e-13)
    for untouched in (np.pi, -np.pi, 2e9, np.inf):
        assert turns.shortest_turn(untouched) == untouched
        assert turns.full_turns(np.array(untouched)) == 0.0
    assert np.isnan(turns.shortest_turn(np.nan))


def test_a_motion_is_unwrapped_as_numpy_does_it(rng):
    smooth = np.cumsum(rng.uniform(-2.0, 2.0, (50, 2)), axis=0)
    cut = np.mod(smooth + np.pi, 2.0 * np.pi) - np.pi
    close(turns.unwrap(cut), np.unwrap(cut, axis=0), atol=1e-12)
    # steps of more than half a turn can be followed if they are about known
    fast = smooth + 5.0 * np.arange(50)[:, None]
    cut = np.mod(fast + np.pi, 2.0 * np.pi) - np.pi
    found = turns.unwrap(cut, np.full((49, 2), 5.0))
    close(found - found[0], fast - fast[0], atol=1e-11)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_states_broadcast_as_numpy_does(rng, shape):
    a, b = rng.normal(size=(*shape, 2)), rng.normal(size=4)
    leading, (first, second) = broadcasting.flatten(a=a, b=b)
    assert leading == shape
    np.testing.assert_array_equal(first.reshape(*shape, 2), a)
    np.testing.assert_array_equal(second, np.broadcast_to(b, (len(second), 4)))
    batch = broadcasting.states((2, 4, 1), (a, b, None))
    for whole, part in zip((first, second, None), batch.part(0, batch.count), strict=True):
        np.testing.assert_array_equal(whole, part)


def test_states_that_do_not_broadcast_are_named():
    with pytest.raises(InvalidInput, match=r"q \(2, 3\), v \(4, 3\)"):
        broadcasting.leading_shape(q=np.zeros((2, 3)), v=np.zeros((4, 3)))
    assert broadcasting.states((3, 3), (np.zeros((2, 3)), np.zeros((4, 3)))) is None
    assert broadcasting.states((3,), ([1.0, 2.0],)) is None
    assert broadcasting.states((2,), (["a", "b"],)) is None


def test_batches_of_rotations_are_those_of_scipy(rng):
    rpy = rng.uniform(-1.5, 1.5, (20, 3))
    turned = Rotation.from_euler("xyz", rpy)  # R = Rz Ry Rx
    q, R = np.empty((20, 4)), np.empty((20, 3, 3))
    rotations_batch.quaternions_from_rpy(rpy, q)
    close(Rotation.from_quat(q).as_matrix(), turned.as_matrix(), atol=1e-14)
    poses = np.hstack([rng.normal(size=(20, 3)), q])
    rotations_batch.rotation_matrices(poses, R)
    close(R, turned.as_matrix(), atol=1e-14)
    back = np.empty((20, 4))
    rotations_batch.quaternions_from_matrices(R, back)
    assert (back[:, 3] >= 0.0).all()
    close(Rotation.from_quat(back).as_matrix(), R, atol=1e-14)


def test_a_displacement_leads_to_its_pose(rng):
    start, goal = (np.hstack([rng.normal(size=(20, 3)), Rotation.random(20, rng=rng).as_quat()])
                   for _ in range(2))  # fmt: skip
    displacement, there = np.empty((20, 6)), np.empty((20, 7))
    rotations_batch.pose_differences(start, goal, displacement)
    turn = Rotation.from_quat(goal[:, 3:]) * Rotation.from_quat(start[:, 3:]).inv()
    close(displacement, np.hstack([goal[:, :3] - start[:, :3], turn.as_rotvec()]), atol=1e-12)
    rotations_batch.advanced_poses(start, displacement, there)
    close(there[:, :3], goal[:, :3], atol=1e-14)
    close(np.abs(np.sum(there[:, 3:] * goal[:, 3:], axis=1)), 1.0, atol=1e-14)


def test_cubics_between_knots_are_hermite_splines(rng):
    t = np.sort(rng.uniform(1.0, 3.0, 15))
    x0, x1, v0, v1 = rng.normal(size=(4, 2))
    h = 2.0
    c3 = h * (v0 + v1) - 2.0 * (x1 - x0)
    c2 = (x1 - x0) - h * v0 - c3
    batch = (np.broadcast_to(each, (15, 2)) for each in (x0, v0, c2, c3))
    q, v, a = np.empty((3, 15, 2))
    cubics.cubic_motions(t, np.full(15, 1.0), np.full(15, 3.0), *batch, False, q, v, a)
    spline = CubicHermiteSpline([1.0, 3.0], [x0, x1], [v0, v1])
    for found, order in ((q, 0), (v, 1), (a, 2)):
        close(found, spline(t, order), atol=1e-12)
