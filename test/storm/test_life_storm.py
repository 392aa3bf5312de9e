# SPDX-License-Identifier: Apache-2.0

"""Random lives of mechanisms under their exported controllers, in C: no limit is broken.

The platform's home lies close to a singularity, where large efforts nearly cancel each other.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from partial_export import write_controller

import robodyn as rd

sys.path.append(str(Path(__file__).parents[1] / "robodyn" / "exporting"))
from controlled import SOURCE, fivebar_folder

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc)")
LIVES, AT_ONCE = 100, 20
# Farthest that a joint may be from a way to rest for which there are efforts [rad or m]; it may end
# at an end stop, which throws the joint back a little.
OFF_THE_WAY = 0.004


@pytest.fixture(scope="module", params=["stewart_dasgupta", "fivebar"])
def lives(request, tmp_path_factory):
    """A program that lives lives: their numbers by column."""
    name = request.param
    if name == "fivebar":
        folder = fivebar_folder(tmp_path_factory)
    else:
        folder = write_controller(rd.load(name), name, tmp_path_factory.mktemp("lives")).folder
    made = folder / "lives"
    defined = [f"-DNAME={name}", f"-DUPPER={name.upper()}", f'-DHEADER="{name}_controller.h"']
    files = [str(SOURCE.with_name("lives.c")), str(folder / f"lib{name}.a"), "-lm", "-o", str(made)]
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", f"-I{folder}"]
    subprocess.run(["cc", *flags, *defined, *files], check=True)

    def live(first, count):
        done = subprocess.run(
            [made, str(first), str(count)], capture_output=True, text=True, check=True, timeout=600
        )
        return np.array([line.split() for line in done.stdout.splitlines()], dtype=np.float64).T

    return live


def broken(lived):
    """The numbers of lives in which a limit was broken."""
    seeds, speed, beyond, strong, crossed, fell, _, apart = lived
    bad = (speed > 1.3) | (beyond > 0.01) | (apart > OFF_THE_WAY)
    return seeds[bad | (strong + crossed + fell > 0.0)].tolist()


def test_lives_under_the_exported_controller_break_no_limit(lives, rng, storm):
    lived = np.concatenate(
        [lives(rng.integers(1, 2**31), AT_ONCE) for _ in storm(LIVES // AT_ONCE)], axis=1
    )
    assert broken(lived) == []
    followed = lived[6]
    assert (followed > 0.5).mean() > 0.1  # it does not refuse everything
    assert followed.max() == 1.0


def test_no_life_begins_where_loops_open_on_the_way_from_home(lives):
    """The loops could be closed there, but in another assembly: of two lives, one is not begun."""
    crossed, fell = lives(20263018, 2)[4:6]
    assert crossed.max() == fell.max() == 0.0


@pytest.mark.parametrize("seed", [20261296, 20262303, 20262760, 700000730, 700000813, 700000898])
def test_a_mechanism_near_a_singularity_can_always_stop(lives, seed):
    """The efforts for braking grow by up to 30 % in a period on the way to a singularity."""
    assert broken(lives(seed, 1)) == []


@pytest.mark.parametrize("seed", [31000007, 31000233])
def test_efforts_for_braking_are_those_of_the_middle_of_a_period(lives, seed):
    """Those of its beginning let the mechanism leave the way on which it can stop."""
    assert broken(lives(seed, 1)) == []


@pytest.mark.parametrize("seed", [50000202, 50001466])
def test_a_way_to_rest_leads_past_no_singularity(lives, seed):
    """A long way may cross two singularities, and end on the side on which it began."""
    assert broken(lives(seed, 1)) == []


def test_a_brake_away_from_a_singularity_keeps_rates(lives):
    """The body's velocity, for which joints are slow there, makes them faster on the way."""
    assert lives(300149, 1)[1] < 1.3
