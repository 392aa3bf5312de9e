# SPDX-License-Identifier: Apache-2.0

"""All input is checked, and a rejection states the value found and the expected one."""

import numpy as np
import pytest

from robodyn.checks import as_array, as_exact, as_pose, as_scalar
from robodyn.errors import InvalidInput

IDENTITY = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    "value",
    [
        "1 2 3",
        ["1", "2", "3"],
        [1.0, 2.0, "three"],
        [[1.0, 2.0, 3.0], [1.0]],
        [1j, 2.0, 3.0],
        np.array([1j, 2.0, 3.0]),
        {"x": 1.0},
        [10**400, 0, 0],
        np.array(["2020-01-01"] * 3, dtype="datetime64[D]"),
        object(),
    ],
)
def test_values_that_are_no_real_numbers_are_refused(value):
    with pytest.raises(InvalidInput, match=r"force must be numbers of shape \(\.\.\., 3\) \[N\]"):
        as_array("force", value, (3,), "N")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, None])
def test_the_first_number_that_is_not_finite_is_named(bad):
    value = [[0.0, 0.0, 0.0], [0.0, 0.0, bad]]
    with pytest.raises(InvalidInput, match=rf"force\[1, 2\] is {bad or np.nan}") as caught:
        as_array("force", value, (3,), "N")
    assert caught.value.value is value


@pytest.mark.parametrize("shape", [(2,), (3, 2), ()])
def test_trailing_dimensions_are_checked(shape):
    with pytest.raises(InvalidInput, match=r"expected \(\.\.\., 3\)"):
        as_array("force", np.zeros(shape), (3,))


@pytest.mark.parametrize("shape", [(3,), (5, 3), (0, 3), (2, 4, 3)])
def test_leading_dimensions_are_free(shape):
    assert as_array("force", np.ones(shape, dtype=int), (3,)).shape == shape


def test_exact_shapes_take_no_batch():
    assert as_exact("force", [1, 2, 3], (3,)).dtype == np.float64
    with pytest.raises(InvalidInput, match=r"shape \(1, 3\), expected \(3,\) \[N\] without batch"):
        as_exact("force", [[1, 2, 3]], (3,), "N")


@pytest.mark.parametrize("value", [[1.0], [[1.0], [2.0, 3.0]], "1", None, np.nan, [], 1j])
def test_a_scalar_is_one_finite_number(value):
    with pytest.raises(InvalidInput, match="mass"):
        as_scalar("mass", value, "kg")


def test_bounds_of_a_scalar():
    assert as_scalar("mass", np.float32(2.0), above=1.0, at_least=2.0) == 2.0
    with pytest.raises(InvalidInput, match=r"mass is 0.0, must be above 0.0 \[kg\]"):
        as_scalar("mass", 0, "kg", above=0.0)
    with pytest.raises(InvalidInput, match=r"mass is -1\.0, must be"):
        as_scalar("mass", -1, at_least=0.0)


@pytest.mark.parametrize("length", [0.0, 1.0 + 1e-5, 2.0, 1e200])
def test_a_quaternion_must_have_unit_length(length):
    with pytest.raises(InvalidInput, match=r"goal: the quaternion \(x, y, z, w\) has length"):
        as_pose("goal", [*IDENTITY[:6], length])


def test_rounding_in_a_quaternion_is_taken_out():
    pose = as_pose("goal", [[*IDENTITY[:6], 1.0 + 5e-7], IDENTITY])
    np.testing.assert_array_equal(pose, [IDENTITY, IDENTITY])


def test_checks_leave_what_they_check_alone():
    given = np.array([*IDENTITY[:6], 1.0 + 5e-7])
    as_pose("goal", given)[:] = 7.0
    assert given[0] == 0.0
    assert given[6] == 1.0 + 5e-7
