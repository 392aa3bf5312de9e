# SPDX-License-Identifier: Apache-2.0

"""Mechanisms from files, texts and names, and back to files; the registry of kinds."""
