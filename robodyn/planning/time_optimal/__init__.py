# SPDX-License-Identifier: Apache-2.0

"""Time-optimal motion along a path."""
