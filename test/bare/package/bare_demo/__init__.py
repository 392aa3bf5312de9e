# SPDX-License-Identifier: Apache-2.0

"""Nodes for the tests of bare/."""
