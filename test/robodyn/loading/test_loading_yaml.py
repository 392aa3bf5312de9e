# SPDX-License-Identifier: Apache-2.0

"""YAML models: the paper's numbers, defaults, and equality with what was written."""

import copy

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import UnphysicalInertia, UnphysicalInertiaWarning


def test_paper_manipulator_has_the_reference_parameters(quiet_load, golden):
    model = quiet_load("stewart_dasgupta")
    expected = golden["stewart_dasgupta"]["params"]
    found = {
        "b": [leg.base for leg in model.legs],
        "p": [leg.platform for leg in model.legs],
        "k": [leg.universal_axis for leg in model.legs],
        "md": [leg.lower.mass for leg in model.legs],
        "mu": [leg.upper.mass for leg in model.legs],
        "rd0": [leg.lower.com for leg in model.legs],
        "ru0": [leg.upper.com for leg in model.legs],
        "Id": [leg.lower.inertia for leg in model.legs],
        "Iu": [leg.upper.inertia for leg in model.legs],
        "M": model.platform.mass,
        "R0": model.platform.com,
        "Ip": model.platform.inertia,
        "Cu": [leg.damping.universal for leg in model.legs],
        "Cp": [leg.damping.prismatic for leg in model.legs],
        "Cs": [leg.damping.spherical for leg in model.legs],
        "g": model.gravity,
    }
    assert set(found) == set(expected)
    for name, value in found.items():
        np.testing.assert_allclose(value, expected[name], rtol=0, atol=1e-15, err_msg=name)


def test_paper_tensors_warn_and_are_refused_when_strict():
    with pytest.warns(UnphysicalInertiaWarning) as caught:
        rd.load("stewart_dasgupta")
    texts = [str(warning.message) for warning in caught]
    assert any("platform" in text and "0.100491" in text for text in texts)
    assert any("leg3 lower" in text and "-0.00284172" in text for text in texts)
    assert any("leg6 upper" in text and "0.00719258" in text for text in texts)
    assert {warning.filename for warning in caught} == {__file__}
    with pytest.raises(UnphysicalInertia, match="platform"):
        rd.load("stewart_dasgupta", strict=True)


@pytest.mark.filterwarnings("error::robodyn.errors.UnphysicalInertiaWarning")
def test_symmetric_platform_is_physical_and_far_from_singular():
    platform = rd.load("stewart_symmetric", strict=True)
    length = platform.inverse_kinematics(platform.home)
    low, high = platform.position_limits.T
    assert ((low < length) & (length < high)).all()
    assert platform.condition_number(platform.home, 0.8) < 1.6


def test_models_are_the_bundled_names():
    assert {"stewart_dasgupta", "stewart_symmetric"} <= set(rd.models())


def test_round_trip(model, document, yaml_file, quiet_load):
    read = quiet_load(yaml_file(document))
    assert read == model
    assert read.name == model.name


def test_defaults_are_merged_field_by_field(model, document, yaml_file, quiet_load):
    first = copy.deepcopy(document["legs"][0])
    shared = {key: first[key] for key in ("lower", "upper", "damping", "limits")}
    for leg in document["legs"]:
        for key in shared:
            del leg[key]
    document["leg_defaults"] = shared
    document["legs"][4]["lower"] = {"mass": 7.5}
    document["legs"][4]["damping"] = {"prismatic": 9.0}
    read = quiet_load(yaml_file(document)).legs
    assert read[4].lower.mass == 7.5
    np.testing.assert_array_equal(read[4].lower.com, model.legs[0].lower.com)
    assert read[4].damping.prismatic == 9.0
    assert read[4].damping.universal == model.legs[0].damping.universal
    assert read[5].lower.mass == model.legs[0].lower.mass


def test_optional_fields_have_their_defaults(document, yaml_file, quiet_load):
    for name in ("home", "gravity"):
        del document[name]
    for leg in document["legs"]:
        del leg["damping"], leg["limits"]
    model = quiet_load(yaml_file(document))
    assert model.home is None
    np.testing.assert_array_equal(model.gravity, [0, 0, -9.81])
    assert model.legs[0].limits.length == (0.0, np.inf)
    assert model.legs[0].damping.prismatic == 0.0


def test_numbers_are_those_of_yaml_1_2(yaml_file):
    from robodyn.formats import read_yaml

    text = "a: 1e-4\nb: 010\nc: 1:30\nd: yes\ne: -.5\nf: 2020-01-01\n"
    assert read_yaml(yaml_file(text)) == {
        "a": 1e-4, "b": 10.0, "c": "1:30", "d": "yes", "e": -0.5, "f": "2020-01-01",
    }  # fmt: skip


def test_anchors_and_merge_keys_work(document, yaml_file, model, quiet_load):
    # safe_dump writes an anchor for an object that stands in several places
    for leg in document["legs"]:
        leg["lower"] = document["legs"][0]["lower"]
    text = yaml_file(document).read_text()
    assert "&id" in text
    assert quiet_load(yaml_file(text)).legs[5].lower.mass == model.legs[0].lower.mass
