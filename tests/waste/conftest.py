"""Lets these tests import ``story``, and the engine's own checks of a view."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "engine")]
