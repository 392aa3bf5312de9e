# SPDX-License-Identifier: Apache-2.0

"""Design of machines: requirements, evaluation of a machine, and search for one."""

from robodyn.designing.body_motions import rows_of
from robodyn.designing.design import OBJECTIVES
from robodyn.designing.families import FAMILIES
from robodyn.designing.search import Descent, Point, spread

__all__ = ["FAMILIES", "OBJECTIVES", "Descent", "Point", "rows_of", "spread"]
