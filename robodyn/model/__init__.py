# SPDX-License-Identifier: Apache-2.0

"""What a mechanism is made of: frozen data, checked once when it is made."""
