"""What stands behind `selfeng.sandbox`: the image, one container per job, the account of a suite,
and the worker inside.
"""
