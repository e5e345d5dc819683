"""ctxbudget: a profiler for agent context windows."""
