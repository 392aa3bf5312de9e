"""
Differential dynamic programming
================================

A delta catches a falling pole. Full differential dynamic programming (Mayne, 1966) uses the second
derivatives of the dynamics, as products with the costate, and converges quadratically. Iterative
LQR (Li and Todorov, 2004) omits these derivatives, as do the first three iterations here.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd
from robodyn.casadi import casadi, forward_dynamics

POLE = """<link name="pole"><inertial><origin xyz="0 0 0.25"/><mass value="0.1"/>
<inertia ixx="2e-3" iyy="2e-3" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="tool0"/><child link="pole"/>
<axis xyz="0 1 0"/></joint></robot>"""
delta, dt, steps, still = rd.load("delta"), 0.01, 60, np.zeros(3)
text = rd.save(delta, "delta.urdf")[0].read_text(encoding="utf-8").replace("</robot>", POLE)
f = forward_dynamics(rd.load(text, tip_link="tool0").without_dry_friction())
target = np.append(np.zeros(8), delta.inverse_dynamics(delta.home, still, still))
# weights of displacements (motors, hinge), rates and efforts, and those of the final state
weights, last = dt * np.repeat([1.0, 0.0, 0.1], [3, 5, 3]), np.repeat([100.0, 10.0], 4)
z, costate = casadi.MX.sym("z", 11), casadi.MX.sym("costate", 8)  # z: state and efforts
rate = z[4:8] + dt * f(z[:4], z[4:8], z[8:])
step = casadi.vertcat(z[:4] + dt * rate, rate)
jacobian = casadi.Function("jacobian", [z], [casadi.jacobian(step, z), step])
hessian = casadi.Function("hessian", [z, costate], [casadi.hessian(costate.T @ step, z)[0]])


def improve(old, is_full):
    """Compute effort changes in a backward sweep, and apply them in a forward sweep."""
    sweep, v, V = [], last * old[-1, :8], np.diag(last)
    for row in old[-2::-1]:
        J = jacobian(row)[0].full()
        g, Q = J.T @ v + weights * (row - target), J.T @ V @ J + np.diag(weights)
        Q += hessian(row, v).full() if is_full else 0.0
        change, gain = (-np.linalg.solve(Q[8:, 8:], by[8:]) for by in (g, Q[:, :8]))
        v, V = g[:8] + gain.T @ g[8:], Q[:8, :8] + Q[:8, 8:] @ gain
        sweep.insert(0, (change, gain))
    new = old.copy()
    for k, (change, gain) in enumerate(sweep):
        new[k, 8:] += change + gain @ (new[k] - old[k])[:8]
        new[k + 1, :8] = jacobian(new[k])[1].full().ravel()
    return new, 0.5 * ((weights * (new[:-1] - target) ** 2).sum() + last @ new[-1, :8] ** 2)


for label, first in {"full DDP": 3, "iterative LQR": 99}.items():
    rows, costs = np.vstack([[0, 0, 0, 0.8, *np.zeros(7)], np.zeros((steps, 11))]) + target, [1e9]
    while len(costs) < 3 or costs[-1] < costs[-2] * (1.0 - 1e-10):
        rows, cost = improve(rows, len(costs) > first)
        costs.append(cost)
    print(f"{label}: cost {cost:.9f} after {len(costs) - 1} iterations")
    plt.semilogy(np.array(costs[1:-1]) - cost, "o-", label=label)
plt.gca().set(xlabel="iteration", ylabel="cost above the final cost")
plt.legend()
