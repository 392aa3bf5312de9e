# SPDX-License-Identifier: Apache-2.0

"""Compiled code shared by all kinds of mechanism."""
