# SPDX-License-Identifier: Apache-2.0

"""The equations of serial arms, compiled."""
