# SPDX-License-Identifier: Apache-2.0

"""Functions for PyTorch have the library's values and derivatives, forward and backward."""

import numpy as np
import pytest

import robodyn as rd

torch = pytest.importorskip("torch", reason="PyTorch is not installed (the extra `torch`)")
from torch.autograd import gradcheck  # noqa: E402

from robodyn import torch as of_torch  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.slow]
MODELS = ("stanford_arm", "stewart_symmetric", "delta")


def state_of(name, rng):
    m = rd.load(name).without_dry_friction()
    nv = m.coordinates.velocity_size
    x, v = 0.05 * m.size * rng.normal(size=(2, nv)), 0.3 * rng.normal(size=(2, nv))
    efforts = m.inverse_dynamics(m.advance(np.tile(m.home, (2, 1)), x), v, np.zeros((2, nv)))
    return m, *(torch.tensor(each, requires_grad=True) for each in (x, v, efforts))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("question", ["forward_dynamics", "inverse_dynamics", "step"])
def test_gradcheck_passes_backward_and_forward(name, question, rng):
    m, x, v, load = state_of(name, rng)
    f = of_torch.step(m, 1e-3, 5) if question == "step" else getattr(of_torch, question)(m)
    scale = 1.0
    if question == "inverse_dynamics":
        load = torch.tensor(rng.normal(size=v.shape), requires_grad=True)
    else:
        scale = float(load.detach().abs().max())
        load = (load / scale).detach().requires_grad_()

    def scaled(x, v, part):
        return f(x, v, scale * part)

    assert gradcheck(scaled, (x, v, load), rtol=1e-5, atol=1e-5, check_forward_ad=True)
    found = f(x[0], v[0], scale * load[0])
    at = m.advance(m.home, x[0].detach().numpy())
    if question != "step":
        expected = getattr(m, question)(at, v[0].detach(), scale * load[0].detach())
        np.testing.assert_array_equal(found.detach(), expected)


def test_transforms_and_batches_agree(rng):
    m, x, v, efforts = state_of("delta", rng)
    f = of_torch.forward_dynamics(m)
    many = x.detach()[0] + 0.01 * torch.tensor(rng.normal(size=(5, 3)))
    v, efforts = v.detach()[0], efforts.detach()[0]
    jacobian = torch.func.vmap(torch.func.jacrev(f), (0, None, None))(many, v, efforts)
    forward = torch.func.vmap(torch.func.jacfwd(f), (0, None, None))(many, v, efforts)
    np.testing.assert_allclose(jacobian, forward, rtol=1e-12)
    one = torch.func.jacrev(f)(many[3], v, efforts)
    np.testing.assert_array_equal(jacobian[3], one)
    d = m.forward_dynamics_derivatives(m.advance(m.home, many[3].numpy()), v, efforts)
    np.testing.assert_array_equal(one, d.configuration)
    single = f(many.float(), v.float(), efforts.float())
    assert single.dtype is torch.float32
