# SPDX-License-Identifier: Apache-2.0

"""Export of a mechanism without Python: its kernels as a C library, and packages around it.

`functions` declares the library's functions and composes them from a kind's `functions.Kernels`,
which `stewart`, `serial` and `closed_loop` provide. `machine_code` makes an object of it, `export`
the folder.
"""
