# SPDX-License-Identifier: Apache-2.0

"""Compiled code that all kinds of mechanism share: control laws and end stops."""
