"""The door: one small module per command, each parses, calls, reports and exits."""
