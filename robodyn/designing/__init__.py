# SPDX-License-Identifier: Apache-2.0

"""Which machine to build: requirements, how a machine meets them, and the search for one."""
