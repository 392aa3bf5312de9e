# SPDX-License-Identifier: Apache-2.0

"""Functions of a mechanism of any kind: motions, links, energy, derivatives, conditioning."""
