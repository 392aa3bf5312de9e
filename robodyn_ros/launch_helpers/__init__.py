# SPDX-License-Identifier: Apache-2.0

"""Helpers of the launch files. Nodes do not import them."""
