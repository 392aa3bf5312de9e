"""Estimation: from what encoders read to the state of the mechanism."""

from robodyn.estimation.covariance import (
    motion_covariance,
    quantisation_deviation,
    twist_covariance_in_body,
)
from robodyn.estimation.platform_estimator import Estimate, PlatformEstimator
from robodyn.estimation.readings import leg_readings

__all__ = [
    "Estimate",
    "PlatformEstimator",
    "leg_readings",
    "motion_covariance",
    "quantisation_deviation",
    "twist_covariance_in_body",
]
