# SPDX-License-Identifier: Apache-2.0

"""Compiled code that all kinds of mechanism share."""
