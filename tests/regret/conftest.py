"""Lets the tests of this folder import what lies beside them, and the planted stories of the evidence tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "evidence"))
