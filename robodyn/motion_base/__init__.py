# SPDX-License-Identifier: Apache-2.0

"""Motion platforms: cueing, machines with their drives, and moving bases."""
