# SPDX-License-Identifier: Apache-2.0

"""Studies of a mechanism and its paths: conditioning, lookahead, and the evaluation of runs."""
