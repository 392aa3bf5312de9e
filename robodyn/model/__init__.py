# SPDX-License-Identifier: Apache-2.0

"""Models of mechanisms: frozen data, checked once on construction."""
