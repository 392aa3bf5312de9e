# SPDX-License-Identifier: Apache-2.0

"""
Model-predictive control
========================

A delta moves home within bounds on its efforts and rates: every 10 ms, OSQP solves a quadratic
program with a horizon of 0.25 s.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

import robodyn as rd
from robodyn.extras import require_extra

with require_extra("control", "this example needs OSQP", "osqp"):
    import osqp

m, dt, steps = rd.load("delta").without_friction(), 10e-3, 25
model = m.linearize(m.home, dt=dt)
A, B = model.state_matrix, model.input_matrix
nx, n = B.shape
most_rate, most_effort = 1.0, 1.2  # [rad/s], [N m] in addition to the efforts at rest

# unknowns: the states x_0 to x_N, then the efforts u_0 to u_N-1
moves = np.kron(np.eye(steps + 1, k=-1), A) - np.eye(nx * (steps + 1))
pushes = np.kron(np.eye(steps + 1, steps, k=-1), B)
bounds = np.tile([np.inf] * n + [most_rate] * n, steps + 1)
bounds = np.append(bounds, np.full(n * steps, most_effort))
bounds[:nx] = np.inf  # the current state is given
costs = np.append(np.tile([100.0] * n + [1.0] * n, steps + 1), np.full(n * steps, 0.1))
rows = sparse.csc_matrix(np.vstack([np.hstack([moves, pushes]), np.eye(len(costs))]))
given = np.zeros(nx * (steps + 1))  # right-hand side of the dynamics: the current state
ends = np.append(given, bounds)
cost = sparse.csc_matrix(np.diag(costs))
problem = osqp.OSQP()
problem.setup(cost, np.zeros(len(costs)), rows, -ends, ends, verbose=False, eps_abs=1e-5)


def predictive(time, configuration, velocity, trajectory):
    """Return the first efforts of the optimal sequence over the horizon."""
    given[:nx] = -np.concatenate([m.difference(m.home, configuration), velocity])
    problem.update(l=np.append(given, -bounds), u=np.append(given, bounds))
    return model.efforts + problem.solve().x[len(given) :][:n]


start = m.advance(m.home, np.array([0.35, -0.2, 0.15])), np.zeros(n)
run = rd.simulate(m, predictive, control_dt=dt, duration=1.0, initial=start)
away, rate = m.difference(m.home, run.configuration), run.velocity
print(
    f"at the end {np.abs(away[-1]).max():.1e} rad from home, at most {np.abs(rate).max():.2f} rad/s"
)
figure, axes = plt.subplots(3, sharex=True)
for axis, values in zip(axes, (away, rate, run.effort - model.efforts), strict=True):
    axis.plot(run.time, values)
    axis.set(xlabel="time [s]")
plt.show()
