# SPDX-License-Identifier: Apache-2.0

"""Entry point of `python -m robodyn`, for when the command `robodyn` is not on the PATH."""

from robodyn.cli import main

if __name__ == "__main__":
    main()
