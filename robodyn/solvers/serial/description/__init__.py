# SPDX-License-Identifier: Apache-2.0

"""Serial arms from URDF and YAML."""
