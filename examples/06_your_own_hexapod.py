"""
From a data sheet to a hexapod that moves
=========================================

A platform needs no URDF: joint centers, masses and strokes in a YAML file or a dictionary suffice
(`robodyn new hexapod` writes a commented file). This example defines a desk-sized hexapod with six
joints on the base and six on the platform.
"""

import math
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import robodyn as rd


def joints(radius, spread, first, height=0.0):
    """Return three pairs of points [m] on a circle, the first pair centered at `first` degrees."""
    angles = [first + 120.0 * pair + side * spread / 2 for pair in range(3) for side in (-1, 1)]
    return [
        [radius * math.cos(math.radians(a)), radius * math.sin(math.radians(a)), height]
        for a in angles
    ]


base, top = joints(0.2, 30.0, 0.0), joints(0.12, 30.0, 60.0)
top = top[-1:] + top[:-1]  # each leg connects to the adjacent platform joint
legs = "\n".join(
    f"  - {{base: {b}, platform: {p}, universal_axis: {[-b[1], b[0], 0.0]}}}"
    for b, p in zip(base, top, strict=True)
)
text = f"""
type: stewart
name: desk_hexapod
home: {{xyz: [0, 0, 0.24]}}
platform: {{mass: 1.2, com: [0, 0, 0.01], inertia: [[4e-3, 0, 0], [0, 4e-3, 0], [0, 0, 8e-3]]}}
leg_defaults:
  lower: {{mass: 0.3, com: [0.08, 0, 0], inertia: [[1e-5, 0, 0], [0, 8e-4, 0], [0, 0, 8e-4]]}}
  upper: {{mass: 0.1, com: [-0.08, 0, 0], inertia: [[5e-6, 0, 0], [0, 3e-4, 0], [0, 0, 3e-4]]}}
  limits: {{length: [0.2, 0.34], velocity: 0.3, effort: 200.0}}
legs:
{legs}
"""
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "desk_hexapod.yaml"
    file.write_text(text)
    hexapod = rd.load(file)
print("condition number at home:", float(hexapod.condition_number(hexapod.home, 0.12)).__round__(2))

path = rd.load_path("demo", hexapod)
run = rd.simulate(hexapod, rd.ComputedTorque(hexapod), path, dt=1e-3, control_dt=5e-3)
plt.plot(run.time, run.effort)
plt.gca().set(
    xlabel="time [s]", ylabel="leg force [N]", title="Demonstration motion within the limits"
)
plt.show()
