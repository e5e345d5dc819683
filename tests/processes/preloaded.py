"""What every command imports and reads first."""

import ctxbudget.analysis
import ctxbudget.checking
import ctxbudget.cli.outputs
import ctxbudget.comparing
import ctxbudget.renderers.terminal
import ctxbudget.replays  # noqa: F401 - imported for those that are forked
from ctxbudget.tokens import counter

counter("o200k_base").count("warm")
