# SPDX-License-Identifier: Apache-2.0

"""Several states at once in the vector registers of the processor."""
