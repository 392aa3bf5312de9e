"""The equations, once: compiled functions on plain numbers and arrays.

Nothing here knows a class, a unit check or a message; that is the mechanisms' business.
"""
