# SPDX-License-Identifier: Apache-2.0

"""Design of machines: requirements, evaluation of a machine, and the search for one."""
