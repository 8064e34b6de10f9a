"""Products that a tree can install: each folder exports one COMPONENT, and nothing is read on import."""
