"""
Where a platform can go
=======================

`rd.workspace` computes the region that the platform reaches within the limits of its legs and
joints, the volume of this region with an error estimate, and its boundary as a mesh
(`region.save("boundary.stl")`).
"""

import matplotlib.pyplot as plt

import robodyn as rd

platform = rd.load("stewart_symmetric")
region = rd.workspace(platform, resolution=24, error=0.05)
print(f"volume {region.volume:.4f} m^3, estimated error {region.volume_error:.1g} m^3")

axes = plt.figure().add_subplot(projection="3d")
axes.plot_trisurf(*region.boundary.vertices.T, triangles=region.boundary.triangles, alpha=0.6)
axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", title="Level platform")
plt.show()
