# SPDX-License-Identifier: Apache-2.0

"""Workspaces of mechanisms."""
