"""``python -m ctxbudget``."""

import sys

from ctxbudget.cli import main

if __name__ == "__main__":
    sys.exit(main())
