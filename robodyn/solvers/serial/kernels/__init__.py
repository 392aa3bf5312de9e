# SPDX-License-Identifier: Apache-2.0

"""Compiled equations of serial arms."""
