"""
Three formulations of an arm, one answer
========================================

Turney, Mudge and Lee (1980) showed that the Lagrange and the Newton-Euler equations of an arm are
equivalent, and proposed a Newton-Euler form with fewer operations. robodyn implements all three
formulations, and their torques agree to rounding error.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

arm = rd.load("puma560")
random = np.random.default_rng(1)
q, qd, qdd = random.uniform(-1.0, 1.0, (3, 1000, 6))

torques = arm.inverse_dynamics(q, qd, qdd)
figure, axes = plt.subplots()
for method in ("modified_newton_euler", "lagrange"):
    other = arm.inverse_dynamics(q, qd, qdd, method=method)
    difference = abs(other - torques).max(axis=1) + 1e-18
    axes.hist(np.log10(difference), bins=40, alpha=0.6, label=method)
    print(f"{method}: differs from newton_euler by at most {difference.max():.1e} N m")
axes.set(xlabel="log10 of the largest difference [N m]", ylabel="number of states")
axes.legend()
plt.show()
