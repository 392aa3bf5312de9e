# SPDX-License-Identifier: Apache-2.0

"""The report's operation counts, from the kernels themselves."""

import numpy as np
import pytest

import robodyn as rd
from benchmarks.operation_counting import count_operations
from benchmarks.operations import GIVEN, PROJECTION, REPORT_ROWS, REPORT_TOTAL, count_arm
from robodyn.dynamics.kernels.base_motion import base_at_rest
from robodyn.dynamics.kernels.state import State
from robodyn.numerics.linear import solve_definite
from robodyn.solvers.serial.kernels import newton_euler as serial_newton_euler
from robodyn.solvers.serial.kernels.layout import WORK_SIZE

SIZES = range(2, 13)
# Where the report's rows do not follow from its equations: measured less printed, of n joints.
DIFFERENCES = {
    "newton_euler": {
        "alpha_i": lambda n: (2 * n, 0),
        "f_i": lambda n: (3, 0),
        "r_i x R f": lambda n: (-6, -3),
        "R n": lambda n: (-9, -6),
        "add n": lambda n: (0, -3 * n - 6),
    },
    "modified_newton_euler": {
        "alpha_i": lambda n: (2 * n, 0),
        "a_i": lambda n: (9, 6),
        "r_i x R f": lambda n: (-6, -3),
        "R n": lambda n: (-9, -6),
        "add n": lambda n: (0, -6 * n - 6),
    },
    "lagrange": {
        "bracket J": lambda n: (
            8 * n * (n + 1),
            sum(16 * q - 16 + 17 * q * (q + 1) // 2 - q + 48 for q in range(1, n + 1))
            - round(16 / 3 * n**3 + 80 / 3 * n),
        ),
        "trace": lambda n: (0, n),
        "gravity": lambda n: (n, n),
    },
}


@pytest.mark.parametrize("method", REPORT_ROWS)
def test_rows_follow_the_report_or_differ_as_stated(method):
    for n in SIZES:
        tally = count_arm(method, n)
        for row, formulas in REPORT_ROWS[method].items():
            printed = [formula(n) for formula in formulas]
            extra = DIFFERENCES[method].get(row, lambda n: (0, 0))(n)
            measured = [tally.multiplications[row], tally.additions[row]]
            assert measured == [p + e for p, e in zip(printed, extra, strict=True)], (row, n)


@pytest.mark.slow
@pytest.mark.parametrize("method", REPORT_ROWS)
def test_rows_and_differences_add_up_to_table_1(method):
    for n in SIZES:
        measured = np.array(count_arm(method, n).total(without=(GIVEN, PROJECTION)))
        stated = sum(np.array(extra(n)) for extra in DIFFERENCES[method].values())
        assert (measured - stated).tolist() == [formula(n) for formula in REPORT_TOTAL[method]]


@pytest.mark.slow
def test_the_recursions_are_linear_and_lagrange_is_cubic():
    counts = {
        method: np.array([sum(count_arm(method, n).total()) for n in SIZES])
        for method in REPORT_ROWS
    }
    for method in ("newton_euler", "modified_newton_euler"):
        assert not np.diff(counts[method], 2).any()
    assert np.diff(counts["lagrange"], 3).min() > 0
    assert not np.diff(counts["lagrange"], 4).any()
    assert (counts["modified_newton_euler"] < counts["newton_euler"]).all()


def test_counting_runs_the_equations_that_run(arm, state, rng):
    """The counted run returns what the compiled kernel does."""
    wrench, tau = rng.normal(size=6), np.zeros(arm.n)
    chain = rd.SerialArm(arm.model).solver.chain()
    work = np.zeros((arm.n, WORK_SIZE))
    rest = base_at_rest(np.array([0.0, 0.0, -9.81]))
    whole = State(*state, wrench, True, wrench, False)
    arguments = (chain, rest, whole, work, tau)
    _, after = count_operations(serial_newton_euler.newton_euler, *arguments)
    expected = arm.inverse_dynamics(*state, wrench)
    assert np.abs(after[-1] - expected).max() < 1e-11 * max(1.0, np.abs(expected).max())


def test_square_roots_and_divisions_are_counted():
    """Cholesky's factorization and two triangular solutions of order 3, by hand."""
    matrix, rhs = np.diag([4.0, 5.0, 6.0]) + 1.0, np.ones(3)
    tally, after = count_operations(solve_definite, matrix, 3, 0.0, rhs)
    assert tally.functions == {"sqrt": 3}
    # the factor's 4 products, 3 quotients and 3 multiples, 3 bounds of pivots; then the solutions
    assert tally.total() == (4 + 3 + 3 + 3 + 12, 4 + 6)
    assert np.allclose(after[3], np.linalg.solve(matrix, rhs))
