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
