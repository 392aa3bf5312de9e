# SPDX-License-Identifier: Apache-2.0

"""Links, momentum, center of mass and energy against Pinocchio's, single calls and batches."""

from functools import partial

import numpy as np
import pytest

import robodyn as rd

pytest.importorskip("pinocchio")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(params=["arm", "humanoid"])
def both(request):
    from benchmarks import links  # which has no other engine than Pinocchio

    if request.param == "arm":
        m = links.arm()
        return links.Both(m, m.model.tip_link)
    return links.Both(rd.load(links.humanoid_urdf()), "left_arm7")


def test_values_are_those_of_pinocchio(both):
    from benchmarks.links import agree, values

    rows = both.contenders()
    assert len(rows) >= 7
    for row in rows:
        agree(*values(row))


def test_a_batch_has_the_values_of_its_states(both, rng):
    m, link, nv = both.m, both.link, both.m.coordinates.velocity_size
    q = m.advance(m.home, rng.uniform(-0.5, 0.5, (2, 3, nv)))
    v, a = rng.normal(size=(2, 2, 3, nv))
    for name, given in {
        "link_pose": (q, link),
        "link_jacobian": (q, link),
        "link_acceleration": (q, v, a, link),
        "momentum": (q, v),
        "center_of_mass": (q,),
        "centroidal_momentum_matrix": (q,),
        "body_pose": (q,),
        "jacobian": (q,),
        "energy": (q, v),
    }.items():
        call = getattr(m, name, None) or partial(getattr(rd, name), m)
        batch = call(*given)
        batch = np.stack(batch, axis=-1) if name == "energy" else batch
        for k in np.ndindex(2, 3):
            state = [part[k].copy() if isinstance(part, np.ndarray) else part for part in given]
            one = np.asarray(call(*state))
            scale = max(1.0, np.abs(one).max())
            np.testing.assert_allclose(batch[k], one, rtol=0.0, atol=1e-12 * scale)


@pytest.mark.parametrize("name", ["link_pose", "link_jacobian", "center_of_mass", "body_pose"])
def test_a_single_call_refuses_what_is_no_configuration(both, name):
    m, more = both.m, (both.link,) if name.startswith("link") else ()
    for wrong in (both.q[:-1], np.append(both.q, 0.0), np.full_like(both.q, np.nan)):
        with pytest.raises(rd.errors.InvalidInput):
            getattr(m, name)(wrong, *more)
