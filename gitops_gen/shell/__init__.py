"""Everything that touches files, programs and the network."""
