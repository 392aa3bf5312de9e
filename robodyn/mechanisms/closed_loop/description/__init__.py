# SPDX-License-Identifier: Apache-2.0

"""Models of mechanisms with closed loops from what describes them."""

from robodyn.mechanisms.closed_loop.description.from_urdf import closed_loop_model_from_urdf

__all__ = ["closed_loop_model_from_urdf"]
