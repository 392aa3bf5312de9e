# SPDX-License-Identifier: Apache-2.0

"""Any tree of joints with closed loops."""
