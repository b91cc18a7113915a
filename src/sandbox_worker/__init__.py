"""The program inside the sandbox's container: a judge as process 1, and the processes that it
judges.

It is copied into the image as the package `sandbox_worker` and uses the standard library and pytest
only. The host instructs process 1 (`judge`) to `verify` once or to `execute` repeatedly; no process
that runs foreign code can see which.

To verify, it forks a process for the tool and one for the tests before it reads the job, so neither
has more of the job than its part: the tool its own source and those that it imports, the tests
theirs. Tests reach the tool through a proxy module and the plain values of `codec`. To execute, it
forks a `zygote`, which never sees a job and forks a process for each call before that call arrives.
"""

FILES_OF_THE_JUDGE = 512
"""Open files that the judge and the zygotes may have beyond a job's. The kernel counts descriptors
in transit between processes per user, in all containers together, against the sender's own limit.
With this margin, descriptors of jobs in transit never keep a judge from sending its own.
"""
