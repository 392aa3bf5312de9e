# SPDX-License-Identifier: Apache-2.0

"""Dynamics of all kinds of mechanisms: solver interface, compiled calls, friction, end stops."""
