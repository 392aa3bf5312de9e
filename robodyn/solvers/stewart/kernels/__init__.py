# SPDX-License-Identifier: Apache-2.0

"""The equations of the 6-UPS Stewart platform, compiled."""
