# SPDX-License-Identifier: Apache-2.0

"""Design of machines: requirements, evaluation of a machine, and search for one."""

from robodyn.designing.body_motions import rows_of
from robodyn.designing.families import FAMILIES

__all__ = ["FAMILIES", "rows_of"]
