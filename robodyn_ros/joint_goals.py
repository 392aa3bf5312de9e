# SPDX-License-Identifier: Apache-2.0

"""What goals ask for: joint positions of some of the joints, the others staying where they are."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import InvalidInput
from robodyn_ros import messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sensor_msgs.msg import JointState

    from robodyn.arrays import FloatArray


def joint_goal(message: JointState, names: Sequence[str], present: FloatArray) -> FloatArray:
    """Positions (n,) of the joints `names`: those given, and the present ones of all others.

    Raises:
        InvalidInput: no joint or an unknown one is named, lists of different length, not finite.
    """
    given = list(message.name)
    if not given:
        raise InvalidInput(f"no joint is named, expected some of {', '.join(names)}", value=given)
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 1, cutoff=0.0)[0]
            raise InvalidInput(
                f"no joint {name!r}, did you mean {near!r}? The joints are {', '.join(names)}",
                value=name,
            )
    asked = [name for name in names if name in given]
    goal = np.array(present, dtype=np.float64)
    goal[[names.index(name) for name in asked]] = messages.joint_values(message, asked, "position")
    return goal
