"""The parts of `selfeng.sandbox`: backends, containers, results of jobs, and the worker inside."""
