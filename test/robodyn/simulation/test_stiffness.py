# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A simulation that friction breaks names the friction, the joint and a step that would do."""

import re
from dataclasses import replace

import numpy as np
import pytest

import robodyn as rd
from robodyn.mechanisms.serial.arm import SerialArm
from robodyn.simulation import Plant


def test_a_stiff_joint_is_named_with_the_step_it_needs():
    arm = rd.load("stanford_arm")
    joints = list(arm.model.joints)
    joints[4] = replace(joints[4], damping=2e4)
    stiff = SerialArm(replace(arm.model, joints=tuple(joints)))
    plant = Plant(stiff, velocity=np.full(arm.n, 0.1), dt=1e-3)
    with pytest.raises(rd.SimulationFailed) as caught:
        plant.hold(np.zeros(arm.n), 1000)
    text = str(caught.value)
    assert arm.joint_names[4] in text
    for part in ("friction", "damping 20000", "step of 0.001 s"):
        assert part in text
    # the step that it recommends does
    step = float(re.search(r"below ([0-9.e-]+) s", text)[1])
    Plant(stiff, velocity=np.full(arm.n, 0.1), dt=0.9 * step).hold(np.zeros(arm.n), 200)
