# SPDX-License-Identifier: Apache-2.0

"""Motion cueing: from the motion of a vehicle to that of a platform under its driver."""
