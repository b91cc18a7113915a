"""The parts behind `src/selfeng/capability_registry.py`: files, records, shelf, vectors and index of the tool library."""
