"""What stands behind `src.sandbox`: the image, one container per job, the account of a suite, and the worker inside."""
