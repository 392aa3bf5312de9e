# SPDX-License-Identifier: Apache-2.0

"""Where a mechanism can work."""
