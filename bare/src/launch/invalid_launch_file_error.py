"""The error of a launch file that cannot be loaded."""


class InvalidLaunchFileError(RuntimeError):
    """A launch file cannot be loaded."""
