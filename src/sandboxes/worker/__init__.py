"""The program inside the sandbox's container: a judge as process 1, and the processes that it judges.

It is copied into the image as the package `sandbox_worker` and uses the standard library and pytest only. Process 1 (`judge`)
forks a process for the tool and one for the tests before it reads the job, so neither holds anything of the job but what it is
given: the tool its own source, the tests theirs. Tests reach the tool through a proxy module and the plain values of `codec`.
"""
