# SPDX-License-Identifier: Apache-2.0

"""What the five papers print, reproduced beside what was computed."""
