"""Presets: one TOML file each. ``strategy/reading.py`` says what stands in them."""
