# SPDX-License-Identifier: Apache-2.0

"""Trees of joints with closed loops."""
