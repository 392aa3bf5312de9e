# SPDX-License-Identifier: Apache-2.0

"""The PUMA 560 in the Robotics Toolbox for Python, where it is installed."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
import yaml

try:
    import roboticstoolbox
except ImportError:
    roboticstoolbox = None


def puma() -> Any:
    """Without motors and friction; None where the toolbox is not installed."""
    if roboticstoolbox is None:
        return None
    text = files("robodyn").joinpath("bundled/puma560.yaml").read_text()
    description = yaml.safe_load(text)
    links = [
        roboticstoolbox.RevoluteDH(
            d=link.get("d", 0.0),
            a=link.get("a", 0.0),
            alpha=float(link.get("alpha", 0.0)),
            m=link["mass"],
            r=link["com"],
            I=np.array(link["inertia"]),
        )
        for link in description["links"]
    ]
    return roboticstoolbox.DHRobot(links, gravity=description["gravity"])
