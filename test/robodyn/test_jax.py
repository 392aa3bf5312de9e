# SPDX-License-Identifier: Apache-2.0

"""Functions for JAX have the library's values and derivatives under its transforms."""

import jax
import numpy as np
import pytest
from jax.test_util import check_grads

import robodyn as rd
import robodyn.jax as of_jax

pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.slow]
MODELS = ("stanford_arm", "stewart_symmetric", "delta")
STEP = 1e-3


@pytest.fixture(autouse=True, scope="module")
def double_precision():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def state_of(name, rng, reference=None):
    """A smooth mechanism, and x, v and efforts that are in equilibrium but for the velocity."""
    m = rd.load(name).without_dry_friction()
    nv = m.coordinates.velocity_size
    x, v = 0.05 * m.size * rng.normal(size=nv), 0.3 * rng.normal(size=nv)
    start = m.home if reference is None else reference
    q = m.advance(start, x)
    return m, x, v, m.inverse_dynamics(q, v, np.zeros(nv))


# of a central difference of order 6, at 1, 2 and 3 steps
WEIGHTS = np.array([0.75, -0.15, 1.0 / 60.0])


def differences(f, given, number):
    """Derivatives of order 6 of a function of vectors by one of them, all places in one batch."""
    count = len(given[number])
    size = STEP * max(1.0, np.abs(given[number]).max())
    moves = np.multiply.outer(np.array([1, 2, 3, -1, -2, -3]) * size, np.eye(count))
    moved = [np.broadcast_to(each, (6, count, len(each))) for each in given]
    moved[number] = moved[number] + moves
    forth, back = np.split(np.asarray(f(*moved)), 2)
    return np.tensordot(WEIGHTS, forth - back, 1).T / size


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("question", ["forward_dynamics", "inverse_dynamics"])
def test_values_are_the_librarys_and_jacobians_those_of_differences(name, question, rng):
    m, x, v, efforts = state_of(name, rng)
    load = efforts if question == "forward_dynamics" else rng.normal(size=len(v))
    f = getattr(of_jax, question)(m)
    expected = getattr(m, question)(m.advance(m.home, x), v, load)
    np.testing.assert_array_equal(f(x, v, load), expected)
    blocks = jax.jit(jax.jacobian(f, argnums=(0, 1, 2)))(x, v, load)
    for k, block in enumerate(blocks):
        slopes = differences(f, (x, v, load), k)
        np.testing.assert_allclose(block, slopes, rtol=0.0, atol=1e-8 * np.abs(slopes).max())


@pytest.mark.parametrize("name", MODELS)
def test_a_hundred_steps_are_the_plants_and_have_its_derivatives(name, rng):
    m, x, v, efforts = state_of(name, rng)
    f = of_jax.step(m, 1e-3, 100)
    plant = rd.Plant(m, m.advance(m.home, x), v, dt=1e-3, end_stops=None, limit_efforts=False)
    plant.hold(efforts, 100)
    found = f(x, v, efforts)
    np.testing.assert_array_equal(found[0], m.difference(m.home, plant.configuration))
    np.testing.assert_array_equal(found[1], plant.velocity)
    blocks = jax.jacobian(f, argnums=(0, 1, 2))(x, v, efforts)
    for part in range(2):
        for k in range(3):
            slopes = differences(lambda *given, part=part: f(*given)[part], (x, v, efforts), k)
            scale = np.abs(slopes).max()
            np.testing.assert_allclose(blocks[part][k], slopes, rtol=0.0, atol=1e-6 * scale)


@pytest.mark.parametrize("name", MODELS)
def test_jaxs_own_check_passes_in_both_modes(name, rng):
    m, x, v, efforts = state_of(name, rng)
    scale = np.abs(efforts).max()

    def accelerated(x, v, part):
        return of_jax.forward_dynamics(m)(x, v, scale * part)

    check_grads(accelerated, (x, v, efforts / scale), order=1, eps=1e-4, rtol=1e-4)


def test_derivatives_of_steps_from_another_reference(rng):
    """Rotation vectors from a reference that is turned, and steps chained one by one."""
    m = rd.load("stewart_symmetric").without_dry_friction()
    reference = m.advance(m.home, np.array([0.02, 0.0, 0.03, 0.1, -0.15, 0.2]))
    m, x, v, efforts = state_of("stewart_symmetric", rng, reference)
    once = of_jax.step(m, 1e-3, 1, reference)

    def chained(x, v, efforts):
        for _ in range(3):
            x, v = once(x, v, efforts)
        return jax.numpy.concatenate([x, v], axis=-1)

    together = of_jax.step(m, 1e-3, 3, reference)
    np.testing.assert_allclose(
        chained(x, v, efforts), np.concatenate(together(x, v, efforts)), rtol=0.0, atol=1e-13
    )
    by_x = jax.jacobian(chained)(x, v, efforts)
    np.testing.assert_allclose(by_x[:6], jax.jacobian(together)(x, v, efforts)[0], atol=1e-11)
    slopes = differences(chained, (x, v, efforts), 0)
    np.testing.assert_allclose(by_x, slopes, rtol=0.0, atol=1e-9)


def test_batches_by_vmap_and_by_leading_dimensions_agree(rng):
    m, x, v, efforts = state_of("delta", rng)
    many = x + 0.01 * rng.normal(size=(4, 5, 3))
    f = of_jax.forward_dynamics(m)
    expected = f(many, v, efforts)
    assert expected.shape == (4, 5, 3)
    mapped = jax.jit(jax.vmap(jax.vmap(f, (0, None, None)), (0, None, None)))(many, v, efforts)
    np.testing.assert_array_equal(mapped, expected)
    by = jax.vmap(jax.vmap(jax.jacobian(f), (0, None, None)), (0, None, None))(many, v, efforts)
    np.testing.assert_array_equal(by[2, 3], jax.jacobian(f)(many[2, 3], v, efforts))
    summed = jax.grad(lambda v: f(many, v, efforts).sum())(v)
    each = jax.vmap(jax.grad(lambda v, x: f(x, v, efforts).sum()), (None, 0))
    np.testing.assert_allclose(summed, each(v, many.reshape(20, 3)).sum(axis=0), rtol=1e-12)


def test_jax_functions_reject_invalid_arguments():
    m = rd.load("delta")
    with pytest.raises(rd.InvalidInput, match="steps is 0"):
        of_jax.step(m, 1e-3, 0)
    with pytest.raises(rd.InvalidInput, match="dt"):
        of_jax.step(m, 0.0)
    with pytest.raises(rd.RobodynError):
        of_jax.forward_dynamics(m, np.zeros(3))
