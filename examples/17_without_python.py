"""
The same numbers without Python
===============================

`rd.export` makes a C library of a mechanism. Here a delta's is loaded with `ctypes`, as any program
could, and drops the delta from home for a moment before computed torque catches it.
"""

import ctypes
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

delta = rd.load("delta")
done = rd.export(delta, tempfile.mkdtemp())
library = ctypes.CDLL(str(done.folder / f"lib{done.name}.so"))


def pointers(*arrays):
    """Addresses for C; None is NULL."""
    kind = ctypes.POINTER(ctypes.c_double)
    return [None if array is None else array.ctypes.data_as(kind) for array in arrays]


q, v, efforts = delta.home.copy(), np.zeros(3), np.zeros(3)
home, rest, kp, kv = delta.home.copy(), np.zeros(3), np.full(3, 400.0), np.full(3, 40.0)
times, heights = np.arange(0.0, 0.6, 0.001), []
pose = np.empty(7)
for time in times:
    if time > 0.05:
        state = pointers(q, v, home, rest, rest, kp, kv, None, None, efforts)
        assert library.delta_computed_torque(*state) in (0, 4)  # 4: cut to what motors have
    moved = library.delta_step(
        *pointers(q, v, efforts, None, None), ctypes.c_double(0.001), ctypes.c_int(1)
    )
    assert moved == 0
    library.delta_body_pose(*pointers(q, pose))
    heights.append(1e3 * pose[2])

library.delta_inverse_dynamics(*pointers(q, v, rest, None, None, efforts))
print("the same bits as in Python:", np.array_equal(efforts, delta.inverse_dynamics(q, v, rest)))

plt.plot(times, heights)
plt.gca().set(xlabel="time [s]", ylabel="height of the tip [mm]", title="caught after 50 ms")
plt.show()
