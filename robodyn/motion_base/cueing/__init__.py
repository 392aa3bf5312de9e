# SPDX-License-Identifier: Apache-2.0

"""Motion cueing: washout, prediction of limits, and evaluation of recorded rides."""
