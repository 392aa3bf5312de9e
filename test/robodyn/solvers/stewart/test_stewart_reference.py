# SPDX-License-Identifier: Apache-2.0

"""Values made outside this project: golden.json."""

import numpy as np
import pytest
from stewart_mechanisms import GOLDEN, motion_of, platform_of, relative

from robodyn.trajectories import paper_path

PATHS = GOLDEN["stewart_dasgupta"]["paths"]
# Path III runs next to a singularity, which magnifies rounding.
TOLERANCE = {"I": 1e-9, "II": 1e-9, "III": 1e-7}


def motions(path):
    return (np.array(part) for part in zip(*map(motion_of, PATHS[path]["state"]), strict=True))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("formulation", "key"),
    [
        ("exact", "F"),
        ("massless", "F0"),
        ("dasgupta1998", "F_1998_as_printed"),
        ("pedrammehr2012", "F_2012_as_printed_eq31_40"),
    ],
)
def test_forces_along_the_papers_paths(path, formulation, key, paper_platform):
    forces = paper_platform.inverse_dynamics(*motions(path), formulation=formulation)
    assert relative(forces, PATHS[path][key]) < TOLERANCE[path]


@pytest.mark.parametrize("path", PATHS)
def test_kinematics_along_the_papers_paths(path, paper_platform):
    pose, twist, accel = motions(path)
    legs = paper_platform.leg_motion(pose, twist, accel)
    assert relative(legs.length, PATHS[path]["lengths"]) < 1e-9
    assert relative(legs.rate, PATHS[path]["Ldot"]) < 1e-9
    assert relative(legs.angular_velocity, PATHS[path]["W"]) < 1e-9
    assert relative(legs.angular_acceleration, PATHS[path]["A"]) < 1e-9
    condition = paper_platform.condition_number(pose)
    np.testing.assert_allclose(condition, PATHS[path]["cond"], rtol=TOLERANCE[path])


def cases():
    pose = GOLDEN["stewart_dasgupta"]["pose"]
    yield "dasgupta", {"params": GOLDEN["stewart_dasgupta"]["params"], **pose}
    for i, case in enumerate(GOLDEN["stewart_random"]):
        yield f"random{i}", case


@pytest.fixture(params=[case for _, case in cases()], ids=[name for name, _ in cases()])
def case(request):
    return request.param


@pytest.fixture
def machine(case):
    return platform_of(case["params"])


@pytest.fixture
def wrench(case):
    return np.concatenate([case.get("fext", [0.0] * 3), case.get("mext", [0.0] * 3)])


def test_mass_matrix_and_bias(case, machine):
    pose, twist, _ = motion_of(case["state"])
    assert relative(machine.mass_matrix(pose), case["M"]) < 1e-9
    assert relative(machine.bias(pose, twist), case["bias"]) < 1e-9


def test_forces_under_a_wrench(case, machine, wrench):
    motion = motion_of(case["state"])
    assert relative(machine.inverse_dynamics(*motion, wrench), case["F"]) < 1e-9
    if "F0" in case:
        massless = machine.inverse_dynamics(*motion, wrench, formulation="massless")
        assert relative(massless, case["F0"]) < 1e-9


def test_leg_motion(case, machine):
    legs = machine.leg_motion(*motion_of(case["state"]))
    assert relative(legs.universal_rates, case["reactions"]["urates"]) < 1e-9
    for name, key in (
        ("length", "lengths"),
        ("rate", "Ldot"),
        ("angular_velocity", "W"),
        ("angular_acceleration", "A"),
    ):
        if key in case:
            assert relative(getattr(legs, name), case[key]) < 1e-9


def test_reactions(case, machine, wrench):
    found = machine.reactions(*motion_of(case["state"]), wrench)
    expected = case["reactions"]
    assert relative(found.spherical_force, expected["Fs"]) < 1e-9
    assert relative(found.prismatic_force, expected["Fc"]) < 1e-9
    assert relative(found.prismatic_moment, expected["Mp_at_base_point"]) < 1e-9
    assert relative(found.universal_force, expected["Fu"]) < 1e-9
    assert relative(found.universal_moment, expected["Mu_vec"]) < 1e-9


def test_jacobian_and_energy(paper_platform):
    case = GOLDEN["stewart_dasgupta"]["pose"]
    pose, twist, _ = motion_of(case["state"])
    assert relative(paper_platform.jacobian(pose), case["H"]) < 1e-9
    assert relative(np.array(paper_platform.energy(pose, twist)), case["kinetic_potential"]) < 1e-9


def test_energy_at_the_start_and_end_of_a_free_motion(paper_platform):
    case = GOLDEN["stewart_energy"]
    start = sum(paper_platform.energy(*motion_of(case["start"])[:2]))
    end = sum(paper_platform.energy(*motion_of(case["end"])[:2]))
    assert start == pytest.approx(case["E0"], rel=1e-9)
    # what the actuators' constant forces add, less the friction
    assert end - start == pytest.approx(case["work"] - case["dissipated"], rel=1e-8)


def test_statements_of_the_1998_paper_on_its_first_path(paper_platform):
    path = paper_path("I")
    motion = path.sample(np.linspace(0.0, 6.0, 6001))
    total = paper_platform.inverse_dynamics(*motion)
    condition = paper_platform.condition_number(motion.configuration)
    assert condition.min() == pytest.approx(34.7, abs=0.05)
    assert condition.max() == pytest.approx(47.2, abs=0.05)
    signs = np.flatnonzero(np.diff(np.sign(total[:, 4:]), axis=0).any(axis=1)) * 1e-3
    np.testing.assert_allclose(signs, [3.018, 4.341], atol=2e-3)
    printed = paper_platform.inverse_dynamics(*motion, formulation="dasgupta1998")
    massless = paper_platform.inverse_dynamics(*motion, formulation="massless")
    fraction = np.abs((printed - massless) / printed)[:, :4].max(axis=0)
    np.testing.assert_allclose(fraction, [0.276, 0.202, 0.184, 0.405], atol=6e-4)
    assert np.abs(total).max() == pytest.approx(1434.07, abs=0.01)
