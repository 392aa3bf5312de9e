"""
A path through a singularity
============================

Path III of Dasgupta and Mruthyunjaya (1998) crosses a singularity at t = 3.6705 s. At this pose, no
leg forces can hold the platform. The condition number of the Jacobian rises well before the
singularity and peaks at the singularity.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

platform = rd.load("stewart_dasgupta")
path = rd.paper_path("III")
times = np.linspace(0.0, path.duration, 2001)
motion = path.sample(times)

condition = platform.condition_number(motion.configuration)
worst = times[condition.argmax()]
print(f"largest condition number {condition.max():.3g} at t = {worst:.4f} s")

figure, (above, below) = plt.subplots(2, sharex=True)
above.semilogy(times, condition)
above.axhline(100.0, color="tab:orange", label="warn")
above.axhline(1000.0, color="tab:red", label="error")
above.set(ylabel="condition number")
above.legend()
away = condition < 1e5  # inverse dynamics rejects a state without a solution
forces = platform.inverse_dynamics(*(part[away] for part in motion))
below.plot(times[away], forces.clip(-5e4, 5e4))
below.set(xlabel="time [s]", ylabel="leg forces [N]")
plt.show()
