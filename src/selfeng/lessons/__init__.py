"""What stands behind learning: what turns went through, the model's reading of it, and the lessons
kept from it.
"""
