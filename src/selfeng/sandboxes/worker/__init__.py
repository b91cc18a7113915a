"""The program inside the sandbox's container: a judge as process 1, and the processes that it
judges.

It is copied into the image as the package `sandbox_worker` and uses the standard library and pytest
only. Process 1 (`judge`) hears from the host whether it is to `verify` once or to `execute` again
and again; no process that runs foreign code can see which.

To verify, it forks a process for the tool and one for the tests before it reads the job, so neither
holds anything of the job but what it is given: the tool its own source and those that it imports,
the tests theirs. Tests reach the tool through a proxy module and the plain values of `codec`. To
execute, it forks a `zygote`, which never hears of any job and forks a process for each call before
that call arrives.
"""
