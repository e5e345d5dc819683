"""Lets the tests share the texts of ``test_truth``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
