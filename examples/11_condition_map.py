"""
A map of the workspace
======================

`rd.sweep` evaluates an analysis over a grid of poses, on all cores or on a Dask cluster, and
returns an `xarray.Dataset` with units.
"""

import matplotlib.pyplot as plt

import robodyn as rd

data = rd.sweep(
    "stewart_symmetric",
    {"x": "-0.45:0.45:61", "y": "-0.45:0.45:61"},
    ["condition_number", "effort_extremes"],
    accelerations=[3.0] * 6,  # any acceleration of up to 3 m/s^2 and 3 rad/s^2 on each axis
)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
data.condition_number.plot(x="x", ax=left)
data.effort_max.max("joint").plot(x="x", ax=right)
plt.show()
