# SPDX-License-Identifier: Apache-2.0

"""Run the command `robodyn` by `python -m robodyn`, if it is not on the PATH."""

from robodyn.cli import main

if __name__ == "__main__":
    main()
