"""Upstream facts as data, and what follows from them by arithmetic alone."""
