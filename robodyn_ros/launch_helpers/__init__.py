# SPDX-License-Identifier: Apache-2.0

"""Functions for the launch files; nodes do not use them."""
