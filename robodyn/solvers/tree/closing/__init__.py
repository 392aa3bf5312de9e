# SPDX-License-Identifier: Apache-2.0

"""Loop closure: configurations in which a tree's closures are satisfied.

A closure requires that two frames of the tree coincide, in some of their six degrees of freedom.
The residuals of all closures are the equations of a mechanism; a configuration that makes them zero
is closed (assembled).

- `equations`: the residuals and their Jacobian, and Newton's method from a nearby configuration.
- `legs`, `rods`: chains between two bodies, whose positions follow from the bodies' in closed form.
- `global_search`: a search from many starts, for configurations that are far from any known one.
- `assembly_modes`: the configurations that have the same driven positions.
- `structure`: mobility, and the choice of independent joints, by the rank of the Jacobian at home;
  `idle` finds joints that spin without effect.
- `pivots`: other independent joints, if the chosen ones do not determine the motion.
- `kinematics`: positions, velocities and accelerations of all joints from the independent ones.
- `assembly`: the public functions, which return the configuration for driven positions, near a
  guess.
"""

from robodyn.solvers.tree.closing.assembly_modes import assembly_modes
from robodyn.solvers.tree.closing.global_search import GlobalAssemblySearch
from robodyn.solvers.tree.closing.kinematics import joint_motion, joint_rates, tangent
from robodyn.solvers.tree.closing.structure import find_structure, update_mimic_joints

__all__ = [
    "GlobalAssemblySearch",
    "assembly_modes",
    "find_structure",
    "joint_motion",
    "joint_rates",
    "tangent",
    "update_mimic_joints",
]  # fmt: skip
