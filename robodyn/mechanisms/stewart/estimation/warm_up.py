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

"""Call what an estimator uses, so that it is compiled or loaded before time matters."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import RobodynError
from robodyn.mechanisms.stewart.estimation.platform_estimator import PlatformEstimator

if TYPE_CHECKING:
    from robodyn.mechanisms.stewart.platform import StewartPlatform


def warm_up_estimating(platform: StewartPlatform) -> None:
    """Estimate a platform at home once from its legs' lengths and rates."""
    rest = np.zeros(6)
    # an unsuitable home is reported by whoever uses it
    with suppress(RobodynError):
        estimator = PlatformEstimator(platform)
        estimate = estimator.update(0, platform.joint_positions(platform.home), rest)
        if estimate is not None:
            estimator.twist_covariance_in_body(estimate)
            platform.leg_joint_states(estimate.pose, rest)
