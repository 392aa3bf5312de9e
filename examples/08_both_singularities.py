"""
Two kinds of singularity
========================

A five-bar linkage shows both. At an end of travel (type 1) the motors turn and the tip stands
still; at type 2 the tip moves although both motors are locked, so that no torque can hold it.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

fivebar = rd.load("fivebar")
home = fivebar.home
start = fivebar.joint_positions(home)
offsets = np.linspace(-1.2, 1.2, 49)

motion, force = np.full((2, 49, 49), np.nan)
for i, first in enumerate(offsets):
    for j, second in enumerate(offsets):
        try:
            closed = fivebar.assemble(start + np.array([first, second]), guess=home)
        except rd.NoSolution:
            continue  # the links do not reach each other
        motion[j, i] = fivebar.motion_condition(closed)
        force[j, i] = fivebar.force_condition(closed)

figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
for axes, values, title in zip(panels, (motion, force), ("type 1", "type 2"), strict=True):
    picture = axes.pcolormesh(offsets, offsets, np.log10(values), vmax=3, shading="nearest")
    axes.set(xlabel="motor 1 from home [rad]", title=f"log10 of the condition number, {title}")
panels[0].set_ylabel("motor 2 from home [rad]")
figure.colorbar(picture, ax=panels)
plt.show()
