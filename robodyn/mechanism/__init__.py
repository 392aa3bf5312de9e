# SPDX-License-Identifier: Apache-2.0

"""The class Mechanism, and how a kind of mechanism is declared."""
