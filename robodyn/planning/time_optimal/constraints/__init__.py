# SPDX-License-Identifier: Apache-2.0

"""Limits along a path: of rates and accelerations, of efforts, and of effort rates."""
