# SPDX-License-Identifier: Apache-2.0

"""The interface of a mechanism, how one is loaded, and a folder for each kind."""
