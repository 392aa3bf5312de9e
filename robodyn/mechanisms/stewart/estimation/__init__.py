# SPDX-License-Identifier: Apache-2.0

"""Estimation of a platform's state from its encoder readings."""

from robodyn.mechanisms.common.estimation import Estimate, quantisation_deviation
from robodyn.mechanisms.stewart.estimation.covariance import motion_covariance
from robodyn.mechanisms.stewart.estimation.platform_estimator import (
    PlatformEstimator,
    platform_estimator,
)
from robodyn.mechanisms.stewart.estimation.readings import leg_readings
from robodyn.mechanisms.stewart.estimation.warm_up import warm_up_estimating

__all__ = [
    "Estimate",
    "PlatformEstimator",
    "leg_readings",
    "motion_covariance",
    "platform_estimator",
    "quantisation_deviation",
    "warm_up_estimating",
]
