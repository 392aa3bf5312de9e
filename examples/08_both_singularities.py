"""
Two kinds of singularity
========================

A five-bar linkage has both types of singularity. At type 1, at an end of travel, a motor can turn
while the tip does not move. At type 2, the tip can move although both motors are locked, so no
motor torques can hold the tip.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd
from robodyn.solvers.tree.conditions import force_condition, motion_condition

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
            continue  # the links are too short to meet
        motion[j, i] = motion_condition(fivebar, closed)
        force[j, i] = force_condition(fivebar, closed)

figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
for axes, values, title in zip(panels, (motion, force), ("type 1", "type 2"), strict=True):
    picture = axes.pcolormesh(offsets, offsets, np.log10(values), vmax=3, shading="nearest")
    axes.set(xlabel="motor 1 from home [rad]", title=f"log10 of the condition number, {title}")
panels[0].set_ylabel("motor 2 from home [rad]")
figure.colorbar(picture, ax=panels)
plt.show()
