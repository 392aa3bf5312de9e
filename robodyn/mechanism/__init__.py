# SPDX-License-Identifier: Apache-2.0

"""Mechanism, the interface of all kinds of mechanisms, and the declaration of a kind."""

from robodyn.mechanism.kind import ReadOptions
from robodyn.mechanism.numpy_dynamics import NumpyDynamics
from robodyn.mechanism.option_names import as_launch_argument, as_parameter, on_command_line

__all__ = ["NumpyDynamics", "ReadOptions", "as_launch_argument", "as_parameter", "on_command_line"]
