"""
The same numbers without Python
===============================

`rd.export` generates a C library for a mechanism, and a ros2_control package that uses it. In this
example, a few lines of C compute a delta's torques from its joint states, and stop its fall.
"""

import ctypes
import shutil
import subprocess
import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

CONTROLLER = """
#include "delta.h"
int period(const double *angles, const double *rates, double *q, double *torques) {
  static const double kp[] = {400, 400, 400}, kv[] = {40, 40, 40}, rest[DELTA_NV] = {0};
  double v[DELTA_NV];
  int status = delta_configuration(angles, q);
  if (status || (status = delta_velocity(q, rates, v))) return status;
  return delta_computed_torque(q, v, delta_home, rest, rest, kp, kv, 0, 0, torques);
}
"""
package = rd.export(rd.load("delta"), tempfile.mkdtemp(), ros2_control=True)
print(*package.files, sep="\n")  # `colcon build` builds a controller and a simulation from them
folder = package.folder / "library"
(folder / "controller.c").write_text(CONTROLLER)
cc = ["cc"] if shutil.which("cc") else [sys.executable, "-m", "ziglang", "cc"]
made = ["-shared", "-fPIC", "controller.c", "libdelta.a", "-lm", "-o", "controller.so"]
subprocess.run([*cc, "-O2", *made], cwd=folder, check=True)
controller = ctypes.CDLL(str(folder / "controller.so"))
plant = ctypes.CDLL(str(folder / "libdelta.so"))


def pointers(*arrays):
    """Return C pointers to the data of arrays."""
    return [array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for array in arrays]


q = rd.load("delta").home.copy()
v, torques, angles, rates, near, pose = *np.zeros((4, 3)), q.copy(), np.empty(7)
times, heights = np.arange(0.0, 0.6, 0.001), []
for time in times:
    plant.delta_joint_positions(*pointers(q, angles))
    plant.delta_joint_velocities(*pointers(q, v, rates))
    if time > 0.05:  # 0: OK; 4: efforts reduced to the limits
        assert controller.period(*pointers(angles, rates, near, torques)) in (0, 4)
    plant.delta_step(*pointers(q, v, torques), None, None, ctypes.c_double(0.001), 1)
    plant.delta_body_pose(*pointers(q, pose))
    heights.append(1e3 * pose[2])
plt.plot(times, heights)
plt.gca().set(xlabel="time [s]", ylabel="height of the tip [mm]", title="caught after 50 ms")
plt.show()
