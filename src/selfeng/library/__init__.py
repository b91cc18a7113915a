"""The parts behind `src/selfeng/capability_registry.py`: files, records, snapshot, vectors and
index of the tool library.
"""
