"""The parts of learning: the transcripts of turns, what a model learns from them, and the lessons
that are kept.
"""
