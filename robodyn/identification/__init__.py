# SPDX-License-Identifier: Apache-2.0

"""From recordings of a robot to a better model of it."""
