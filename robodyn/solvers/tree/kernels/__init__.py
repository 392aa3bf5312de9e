# SPDX-License-Identifier: Apache-2.0

"""The equations of mechanisms with closed loops, compiled."""
