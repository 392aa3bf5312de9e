"""The error of a substitution that cannot be performed."""


class SubstitutionFailure(RuntimeError):
    """A substitution has no value."""
