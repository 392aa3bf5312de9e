"""
A machine for a task
====================

Requirements are a payload, motions and limits. `rd.evaluate` checks a machine against them, and
`rd.design` finds the dimensions of a machine that meets them.
"""

import matplotlib.pyplot as plt

import robodyn as rd

requirements = rd.load_requirements(
    {
        "payload": {"mass": 250.0, "com": [0.0, 0.0, 0.35]},
        "motions": [
            {"name": "heave", "heave": "150 mm", "frequency": "1 Hz"},
            {"name": "brake", "surge": "0.5 g", "frequency": "1.5 Hz"},
        ],
        "limits": {"condition_number": 50, "footprint_radius": "0.9 m"},
    }
)
for sentence in rd.evaluate(rd.load("motion_platform"), requirements).violations:
    print("NO:", sentence)

objectives = ("peak_effort", "stroke")
design = rd.design("hexapod", requirements, objective=objectives, evaluations=60)
for name, value in design.parameters.items():
    print(f"{name:16} {value:.3f}")

effort, stroke = ([point.values[name] for point in design.front] for name in objectives)
plt.plot(stroke, effort, "o")
plt.xlabel("stroke [m]")
plt.ylabel("largest force [N]")
plt.title("Pareto front of the hexapods")
plt.show()
