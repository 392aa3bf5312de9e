# SPDX-License-Identifier: Apache-2.0

"""Stewart platforms from URDF and YAML."""
