# SPDX-License-Identifier: Apache-2.0

"""Serial arms: any open chain of revolute and prismatic joints."""
