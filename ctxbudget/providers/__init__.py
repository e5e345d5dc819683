"""What several formats have of one provider: how its messages, streams and counts are read.

A format's own file or folder (``loaders``) holds what only it has; formats do not know each other.
"""
