"""The message of `/tf` and `/tf_static`, which has no wheel."""
