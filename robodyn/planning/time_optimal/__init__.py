# SPDX-License-Identifier: Apache-2.0

"""The fastest motion along a path."""
