# SPDX-License-Identifier: Apache-2.0

"""Path planning that avoids singularities, joint limits and collisions."""
