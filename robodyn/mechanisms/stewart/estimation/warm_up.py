# SPDX-License-Identifier: Apache-2.0

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
            platform.joint_states(estimate.pose, rest)
