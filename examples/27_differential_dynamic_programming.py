# SPDX-License-Identifier: Apache-2.0

"""
Differential dynamic programming
================================

A delta catches a falling pole: from a tilt of 46 degrees it erects the pole in 0.6 s and returns
home with it. Full differential dynamic programming (Mayne, 1966) uses the second derivatives of the
dynamics, as products with the costate, and converges quadratically near the optimum. Iterative LQR
(Li and Todorov, 2004) leaves them out and converges linearly. Both begin with three iterations of
it, because far from the optimum the second derivatives need not be positive definite.
"""

from pathlib import Path

import casadi
import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd
import robodyn.casadi

POLE = """
  <link name="fork"><inertial><mass value="0.01"/>
    <inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="pole"><inertial><origin xyz="0 0 0.25"/><mass value="0.1"/>
    <inertia ixx="2e-3" iyy="2e-3" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="pole_x" type="continuous"><parent link="tool0"/><child link="fork"/>
    <axis xyz="1 0 0"/></joint>
  <joint name="pole_y" type="continuous"><parent link="fork"/><child link="pole"/>
    <axis xyz="0 1 0"/></joint>
</robot>"""

rd.save(rd.load("delta"), "delta.urdf")
text = Path("delta.urdf").read_text(encoding="utf-8")
m = rd.load(text.replace("</robot>", POLE), tip_link="tool0").without_dry_friction()
dt, steps, start = 0.01, 60, np.array([0, 0, 0, 0, 0.8, 0, 0, 0, 0, 0])
at_home = rd.load("delta")
holding = at_home.inverse_dynamics(at_home.home, np.zeros(3), np.zeros(3))
# weights of motors' and pole's angles and rates, of efforts, and of the last state
running = dt * np.array([1.0] * 3 + [0.0] * 7)
effort, last = dt * np.full(3, 0.1), np.array([100.0] * 5 + [10.0] * 5)

# a step from the state and the efforts z = (x, v, u), its Jacobian and the Hessian of costate @ step
z, costate = casadi.MX.sym("z", 13), casadi.MX.sym("costate", 10)
x, v, u = casadi.vertsplit(z, [0, 5, 10, 13])
dynamics = robodyn.casadi.forward_dynamics(m)
velocity = v + dt * dynamics(x, v, u)
step = casadi.vertcat(x + dt * velocity, velocity)
advance = casadi.Function("advance", [z], [step])
jacobian = casadi.Function("jacobian", [z], [casadi.jacobian(step, z)])
product = casadi.jtimes(step, z, costate, True)
hessian = casadi.Function("hessian", [z, costate], [casadi.jacobian(product, z)])


def simulate(states, efforts, change, gains):
    """States and efforts with changes (steps, 3) and feedback (steps, 3, 10), and their cost."""
    new, used = [states[0]], []
    for k in range(steps):
        used.append(efforts[k] + change[k] + gains[k] @ (new[k] - states[k]))
        new.append(advance(np.append(new[k], used[k])).full().ravel())
    new, used = np.array(new), np.array(used)
    cost = (running * new[:-1] ** 2).sum() + (effort * (used - holding) ** 2).sum()
    return new, used, 0.5 * (cost + last @ new[-1] ** 2)


def improve(states, efforts, is_full):
    """Changes of the efforts (steps, 3), and feedback gains (steps, 3, 10)."""
    change, gains = np.zeros((steps, 3)), np.zeros((steps, 3, 10))
    slope, curvature = last * states[-1], np.diag(last)
    for k in reversed(range(steps)):
        at = np.append(states[k], efforts[k])
        J = jacobian(at).full()
        g = J.T @ slope + np.append(running * states[k], effort * (efforts[k] - holding))
        Q = J.T @ curvature @ J + np.diag(np.append(running, effort))
        if is_full:
            Q += hessian(at, slope).full()
        change[k] = -np.linalg.solve(Q[10:, 10:], g[10:])
        gains[k] = -np.linalg.solve(Q[10:, 10:], Q[10:, :10])
        slope = g[:10] + gains[k].T @ g[10:]
        curvature = Q[:10, :10] + Q[:10, 10:] @ gains[k]
    return change, gains


def optimize(is_full):
    """Costs after each iteration, and the states."""
    states, efforts = np.tile(start, (steps + 1, 1)), np.tile(holding, (steps, 1))
    found = simulate(states, efforts, np.zeros((steps, 3)), np.zeros((steps, 3, 10)))
    costs = []
    while len(costs) < 2 or costs[-2] - costs[-1] > 1e-10 * costs[-1]:
        states, efforts, cost = found
        costs.append(cost)
        change, gains = improve(states, efforts, is_full and len(costs) > 3)
        tried = (simulate(states, efforts, part * change, gains) for part in 0.5 ** np.arange(8))
        found = next((each for each in tried if each[2] < cost), found)
    return np.array(costs), states


for label, is_full in {"full DDP": True, "iterative LQR": False}.items():
    costs, states = optimize(is_full)
    print(f"{label}: cost {costs[-1]:.9f} after {len(costs) - 1} iterations")
    plt.semilogy(costs[:-1] - costs[-1], "o-", label=label)
plt.gca().set(xlabel="iteration", ylabel="cost above the last")
plt.legend()

plt.figure()
plt.plot(dt * np.arange(steps + 1), np.rad2deg(states[:, :5]))
plt.gca().set(xlabel="time [s]", ylabel="displacement [deg]")
plt.legend([*m.joint_names, "pole_x", "pole_y"])
