# SPDX-License-Identifier: Apache-2.0

"""Motion planning with the dynamics of a mechanism."""
