# SPDX-License-Identifier: Apache-2.0

"""Dynamics shared by all kinds: the solver's interface, compiled calls, friction, end stops."""
