# SPDX-License-Identifier: Apache-2.0

"""Arguments of entry points from Python, and sine and cosine of vectors."""

import math

import numpy as np
import pytest

from robodyn.numerics import array_arguments as given
from robodyn.numerics.compiler import entry_kernel
from robodyn.numerics.trigonometry import sine_cosine


@entry_kernel
def weigh(rows, vector, perhaps, out):
    """Products of rows and a vector, plus what there may be."""
    a, b, c, d = (
        given.borrowed_array(rows),
        given.borrowed_array(vector),
        given.borrowed_array(perhaps),
        given.borrowed_array(out),
    )
    for i in range(a.shape[0]):
        d[i] = 0.0
        for j in range(a.shape[1]):
            d[i] += a[i, j] * b[j]
        if c.shape[0] != given.ABSENT:
            d[i] += c[i]
    return a.shape[1] == b.shape[0]


@pytest.fixture(scope="module")
def entry():
    kinds = (given.ROWS_OF_ANY_STRIDE, given.VECTOR, given.VECTOR_OR_NONE, given.VECTOR_OUT)
    return given.direct(weigh, *kinds)


def test_arrays_are_read_where_they_are(rng, entry):
    vector, more = rng.normal(size=(2, 5))
    whole = rng.normal(size=(20, 10))
    fixed = rng.normal(size=(5, 5))
    fixed.flags.writeable = False
    repeated = np.broadcast_to(rng.normal(size=5), (5, 5))
    for rows in (whole[:5, :5], whole[::-4, ::2], whole[:5, 9:4:-1], fixed, fixed.T, repeated):
        for perhaps in (None, more):
            out = np.full(5, np.nan)
            assert entry(rows, vector, perhaps, out)
            expected = rows @ vector + (0.0 if perhaps is None else more)
            np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-14)


def test_whatever_else_is_a_type_error(rng, entry):
    rows, vector, out = rng.normal(size=(5, 5)), rng.normal(size=5), np.empty(5)
    fixed = out.copy()
    fixed.flags.writeable = False
    unaligned = np.zeros(41, dtype=np.uint8)[1:].view(np.float64)

    class Other(np.ndarray):
        pass

    strange = [None, 1.0, "x", [1.0] * 5, object(), np.float64(1.0), np.ndarray, unaligned]
    strange += [vector.astype(kind) for kind in (">f8", "f4", "i8", "c16", "O", "bool")]
    strange += [vector.view(Other), vector[None], np.array(1.0), rng.normal(size=10)[::2]]
    for wrong in strange:
        with pytest.raises(TypeError):
            entry(rows, wrong, None, out)
    for wrong in (None, vector, rows.astype("f4"), rows[None]):
        with pytest.raises(TypeError):
            entry(wrong, vector, None, out)
    for wrong in (fixed, None, rows):
        with pytest.raises(TypeError):
            entry(rows, vector, None, wrong)
    for arguments in ((rows, vector, None), (rows, vector, None, out, out)):
        with pytest.raises(TypeError):
            entry(*arguments)


def test_entries_lean_on_nothing_that_this_python_lacks(monkeypatch, entry):
    assert given.layout_is_known()
    monkeypatch.setattr(given, "layout_is_known", lambda: False)
    with pytest.raises(TypeError, match="laid out"):
        given.direct(weigh, given.VECTOR)(np.zeros(3))


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1.0, 1e3, 7e5, 9e5, 1e15, 1e300])
def test_sine_and_cosine_to_one_unit_in_the_last_place(rng, size):
    for angle in (0.0, *rng.normal(size=200) * size):
        near = round(angle / (math.pi / 2)) * (math.pi / 2) if size < 1e6 else angle
        for at in (angle, near):
            sine, cosine = sine_cosine(at)
            assert abs(sine - math.sin(at)) <= math.ulp(math.sin(at))
            assert abs(cosine - math.cos(at)) <= math.ulp(math.cos(at))
