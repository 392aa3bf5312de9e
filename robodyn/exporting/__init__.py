# SPDX-License-Identifier: Apache-2.0

"""A mechanism without Python: its kernels as a C library, and what is built around that.

`functions` says what the library offers and composes it of a kind's `functions.Kernels`, which
`stewart`, `serial` and `closed_loop` provide; `machine_code` makes an object of it, `export` the
folder.
"""
