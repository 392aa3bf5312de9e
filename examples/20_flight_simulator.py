"""
A flight simulator
==================

JSBSim simulates a small airplane that takes off and turns. A motion platform reproduces as much of
this motion for its pilot as the limits of its legs permit: length, rate, acceleration and force.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd
from robodyn.motion_base.cueing.flight import Flight

DT = 0.02
flight = Flight(DT)
rows = [(flight.time, *flight.step()) for _ in range(round(50.0 / DT))]
vehicle = rd.VehicleMotion(*(np.array(each) for each in zip(*rows, strict=True)))

m = rd.load("motion_platform")
ride = rd.ride(m, vehicle, rd.WashoutParameters.preset("airliner"), head=[0.0, 0.0, 1.1], dt=DT)
assert rd.check_limits(m, ride.trajectory, dt=0.1) is None

fig, (force, rate, legs) = plt.subplots(3, 1, figsize=(9, 8), sharex=True)
force.plot(ride.time, ride.vehicle_force[:, 0], label="forward, airplane")
force.plot(ride.time, ride.felt_force[:, 0], label="forward, platform")
force.set_ylabel("specific force [m/s$^2$]")
force.legend()
rate.plot(ride.time, ride.vehicle_rate[:, 0], label="roll rate, airplane")
rate.plot(ride.time, ride.felt_rate[:, 0], label="roll rate, platform")
rate.set_ylabel("angular velocity [rad/s]")
rate.legend()
legs.plot(ride.time, m.joint_positions(ride.pose))
legs.set(xlabel="t [s]", ylabel="leg length [m]")
for length in np.unique(m.position_limits):
    legs.axhline(length, color="gray", linestyle="--")
