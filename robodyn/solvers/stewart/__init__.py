# SPDX-License-Identifier: Apache-2.0

"""Stewart platforms: model, kinematics, dynamics."""
