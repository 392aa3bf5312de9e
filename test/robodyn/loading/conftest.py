# SPDX-License-Identifier: Apache-2.0

"""Random mechanisms, new ones each run (`--seed` replays one)."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import yaml
from six_legs import Damping, Leg, LegLimits, SixLegs, six_legs

import robodyn as rd
from robodyn.errors import UnphysicalInertiaWarning
from robodyn.model import Body
from robodyn.poses import pose_from_rpy


@pytest.fixture(scope="session")
def golden():
    return json.loads((Path(__file__).parents[2] / "reference" / "golden.json").read_text())


@pytest.fixture
def model(rng):
    return random_model(rng)


@pytest.fixture
def quiet_load():
    def quietly(source, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnphysicalInertiaWarning)
            return six_legs(rd.load(source, **options))

    return quietly


@pytest.fixture
def document(model):
    """The YAML document of a model, with axes that are not normalized."""
    found = model.document()
    for leg in found["legs"]:
        leg["universal_axis"] = (2.5 * np.array(leg["universal_axis"])).tolist()
    return found


@pytest.fixture
def yaml_file(tmp_path):
    def write(document, name="machine.yaml"):
        path = tmp_path / name
        path.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
        return path

    return write


def random_body(rng, scale):
    """A cloud of point masses: physical by construction."""
    points = rng.normal(size=(6, 3)) * scale
    masses = rng.uniform(0.1, 1.0, 6)
    com = masses @ points / masses.sum()
    arms = points - com
    inertia = sum(
        m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arms, strict=True)
    )
    return Body(float(masses.sum()), com, inertia)


def random_model(rng):
    legs = []
    for index in range(6):
        angle = np.pi / 3 * (index + rng.uniform(-0.3, 0.3))
        ring = np.array([np.cos(angle), np.sin(angle), 0.0])
        shortest = rng.uniform(0.1, 0.4)
        legs.append(
            Leg(
                base=ring + 0.1 * rng.normal(size=3),
                platform=0.6 * ring + 0.1 * rng.normal(size=3),
                # Not upright, so that no leg of a pose above the base lies along it.
                universal_axis=np.append(rng.normal(size=2), rng.uniform(-0.2, 0.2)) + 0.3 * ring,
                lower=random_body(rng, 0.2),
                upper=random_body(rng, 0.2),
                damping=Damping(*rng.uniform(0.0, 2.0, 3).tolist()),
                limits=LegLimits(
                    (shortest, shortest + rng.uniform(1.0, 3.0)),
                    *rng.uniform(1.0, 900.0, 2).tolist(),
                ),
            )
        )
    return SixLegs(
        name="random_machine",
        platform=random_body(rng, 0.5),
        legs=tuple(legs),
        home=pose_from_rpy(rng.normal(size=3) * 0.1 + [0, 0, 1.0], rng.normal(size=3) * 0.3),
    )
