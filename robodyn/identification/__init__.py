# SPDX-License-Identifier: Apache-2.0

"""Identification of a mechanism's parameters from recordings of its motion."""
