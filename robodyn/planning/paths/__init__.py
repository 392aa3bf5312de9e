# SPDX-License-Identifier: Apache-2.0

"""Paths that keep away from singularities, limits and collisions."""
