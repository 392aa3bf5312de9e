"""
Stiffness and vibration
=======================

Legs with a stiffness of 100 N/um carry a motion platform with a tool. The example computes
its natural frequencies and the frequency response from floor vibration to the platform.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

platform = rd.load("motion_platform").with_payload(300.0, [0.0, 0.0, 0.4])
platform = platform.with_drive_stiffness(1.0e8, damping=2.0e4)

modes = platform.modes(platform.home)
names = ("surge", "sway", "heave", "roll", "pitch", "yaw")
for frequency, ratio, shape in zip(
    modes.frequencies, modes.damping_ratios, modes.body_shapes, strict=True
):
    # the largest component of the mode shape; 1 rad counts as 1 m
    largest = names[int(np.abs(shape).argmax())]
    print(f"{frequency:6.1f} Hz, damping ratio {ratio:.3f}, mostly {largest}")

sag = platform.deflection(platform.home, [0.0, 2000.0, -5000.0, 0.0, 0.0, 0.0])
print("a force of 5.4 kN moves the body by", (1e6 * sag[:3]).round(1), "um")

hertz = np.geomspace(2.0, 200.0, 400)
response = np.abs(rd.frequency_response(platform, platform.home, hertz, input="base"))
for axis in (0, 2):
    plt.loglog(hertz, response[:, axis, axis], label=names[axis])
plt.xlabel("frequency [Hz]")
plt.ylabel("body motion relative to floor motion")
plt.legend()
plt.show()
