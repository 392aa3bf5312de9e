# SPDX-License-Identifier: Apache-2.0

"""A motion platform as a machine: states, homing, and set-points within limits."""
