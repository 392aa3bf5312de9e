# SPDX-License-Identifier: Apache-2.0

"""What limits a motion along a path: each limit in a file of its own."""
