# SPDX-License-Identifier: Apache-2.0

"""A rig with one drive more than degrees of freedom."""

import pytest

import robodyn as rd
from robodyn.loading import templates


@pytest.fixture(scope="session")
def corners(tmp_path_factory):
    """Four posts under a body that heaves, pitches and rolls: the fourth follows from three."""
    file = tmp_path_factory.mktemp("corners") / "corners.yaml"
    file.write_text(templates()["four-corners"][1].write("corners", file.name))
    return rd.load(file)
