# SPDX-License-Identifier: Apache-2.0

"""The version of the package."""

__version__ = "1.0.0"
