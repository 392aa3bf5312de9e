"""The error of a substitution that cannot be performed."""


class SubstitutionFailure(RuntimeError):  # noqa: N818
    """A substitution has no value."""
