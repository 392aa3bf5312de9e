# SPDX-License-Identifier: Apache-2.0

"""Loop closure: find configurations in which a tree's closures hold.

A closure demands that two frames of the tree coincide, in some of their six freedoms. The residuals
of all closures are the equations of a mechanism; a configuration that makes them zero is assembled.

- `equations`: the residuals and their Jacobian, and Newton's method from a configuration near by.
- `legs`, `rods`: chains between two bodies, whose positions follow from the bodies' in closed form.
- `global_search`: a search from many starts, for configurations that are far from any known one.
- `assembly_modes`: the configurations that have the same driven positions.
- `structure`: mobility, and the choice of independent joints, by the rank of the Jacobian at home;
  `idle` finds joints that nothing moves.
- `pivots`: other independent joints, where the chosen ones do not determine the motion.
- `kinematics`: positions, velocities and accelerations of all joints from the independent ones.
- `assembly`: the public calls: driven positions in, configuration out, on the branch of a guess.
"""
