"""Filters that refuse system calls which the sandbox's processes don't need.

They add to the container's own filter, which differs between engines and their versions. A refused
call fails as if what it asks for did not exist; no process is ended.
"""

import ctypes
import os
import struct
from collections.abc import Iterator
from errno import ECONNREFUSED, ENETUNREACH, ENOSYS, EPERM

from .bpf import ALLOW, NUMBERS, Argument, AtLeast, Rule, program, refuse
from .confinement import prctl, syscall

_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_MODE_FILTER = 2
_WORD = struct.Struct("=I")


_PRIVILEGED = """
acct adjtimex chroot clock_adjtime clock_settime create_module delete_module fanotify_init fanotify_mark finit_module fsconfig fsmount
fsopen fspick get_kernel_syms init_module ioperm iopl kexec_file_load kexec_load listmount lookup_dcookie mount mount_setattr move_mount
name_to_handle_at nfsservctl open_by_handle_at open_tree open_tree_attr pivot_root query_module quotactl quotactl_fd reboot setdomainname
sethostname setns settimeofday statmount swapoff swapon sysfs syslog umount2 unshare uselib ustat vhangup _sysctl
"""  # noqa: E501
"""For administering a machine, or making new namespaces."""
_DEEP = """
add_key bpf io_uring_enter io_uring_register io_uring_setup keyctl lsm_get_self_attr lsm_list_modules lsm_set_self_attr map_shadow_stack
memfd_secret modify_ldt perf_event_open personality request_key seccomp userfaultfd vmsplice
"""  # noqa: E501
"""Deep interfaces of the kernel, in which many holes were found."""
_INTO_OTHERS = """
kcmp mbind migrate_pages move_pages pidfd_getfd pidfd_open pidfd_send_signal process_madvise process_mrelease process_vm_readv
process_vm_writev ptrace set_mempolicy set_mempolicy_home_node
"""  # noqa: E501
"""Access to the memory and the descriptors of other processes."""
_OUTLIVING = """
mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd semctl semget semop semtimedop shmat
shmctl shmget
"""  # noqa: E501
"""Objects that outlive their process."""

_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_STREAM, _DATAGRAM, _TYPE = 1, 2, 0xF
_CLONE_PARENT = 0x8000
_DEVICES, _KIND = (0o020000, 0o060000), 0o170000
_CLONE_NAMESPACES = 0x7E020000

_FOR_EVERYBODY = (
    Rule(f"{_PRIVILEGED} {_DEEP} {_INTO_OTHERS} {_OUTLIVING}", refuse(EPERM)),
    Rule("clone3", refuse(ENOSYS)),  # a filter can't read its flags; callers fall back to `clone`
    Rule(
        "clone",
        refuse(EPERM),
        (Argument(0, (0,), mask=_CLONE_NAMESPACES | _CLONE_PARENT, unless=True),),
    ),
    # There is no network. Loopback, abstract names and families that no namespace confines (vsock)
    # are not needed either.
    Rule(
        "socket",
        refuse(ENETUNREACH),
        (Argument(0, (_AF_INET, _AF_INET6)), Argument(1, (_STREAM, _DATAGRAM), mask=_TYPE)),
    ),
    Rule("socket", refuse(ECONNREFUSED), (Argument(0, (_AF_UNIX,)),)),
    Rule("socket", refuse(EPERM)),
    Rule("socketpair", refuse(EPERM), (Argument(0, (_AF_UNIX,), unless=True),)),
    # gVisor makes nodes of devices for everybody; no container has a device to open.
    Rule("mknod", refuse(EPERM), (Argument(1, _DEVICES, mask=_KIND),)),
    Rule("mknodat", refuse(EPERM), (Argument(2, _DEVICES, mask=_KIND),)),
)

_PR_HARMLESS = (1, 2, 3, 15, 16, 21, 23, 29, 30, 39, 0x53564D41)
"""Signal at the parent's end, names, timer slack, and reading settings."""
_F_SETOWN, _F_SETOWN_EX, _F_SETLEASE, _F_NOTIFY = 8, 15, 1024, 1026
_FIOSETOWN, _SIOCSPGRP, _TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x8901, 0x8902, 0x5412, 0x541C, 0x5423
_PRIO_PROCESS, _IOPRIO_WHO_PROCESS = 0, 1
_OWN = 0x5A5A0001
"""Stands for a process's own number in the program, which is made in advance."""
_OTHER_GROUPS = 2**32 - _OWN + 1
"""Process groups are negative numbers, as is "all processes"; read as unsigned, the groups older
than its own start here.
"""

_RULESET = struct.Struct("=QQQ")
"""`struct landlock_ruleset_attr`: the handled access to files and to the network, and the scope."""
_SCOPE_SIGNAL = 2

_SIGNALS = "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo"
_SCHEDULING = "prlimit64 sched_setaffinity sched_setattr sched_setparam sched_setscheduler"
_FOR_ONE = (
    Rule(_SIGNALS, refuse(EPERM), (AtLeast(0, _OTHER_GROUPS),)),
    Rule(_SIGNALS, ALLOW, (AtLeast(0, _OWN),)),
    Rule(_SIGNALS, refuse(EPERM), (Argument(0, (0,), unless=True),)),
    Rule("setpgid", ALLOW, (AtLeast(1, _OWN),)),
    Rule("setpgid", refuse(EPERM), (Argument(1, (0,), unless=True),)),
    Rule(_SCHEDULING, refuse(EPERM), (Argument(0, (0, _OWN), unless=True),)),
    Rule("setpriority ioprio_set", refuse(EPERM), (Argument(1, (0, _OWN), unless=True),)),
    Rule("setpriority", refuse(EPERM), (Argument(0, (_PRIO_PROCESS,), unless=True),)),
    Rule("ioprio_set", refuse(EPERM), (Argument(0, (_IOPRIO_WHO_PROCESS,), unless=True),)),
    # Signals through a file: to its owner, or to a process that waits for the end of a lease.
    Rule("fcntl", refuse(EPERM), (Argument(1, (_F_SETOWN, _F_SETOWN_EX, _F_SETLEASE, _F_NOTIFY)),)),
    Rule(
        "ioctl",
        refuse(EPERM),
        (Argument(1, (_FIOSETOWN, _SIOCSPGRP, _TIOCSTI, _TIOCLINUX, _TIOCSETD)),),
    ),
    Rule("prctl", refuse(EPERM), (Argument(0, _PR_HARMLESS, unless=True),)),
)


def restrict() -> None:
    """Refuse, for this process and those that it will fork, calls that no process of the sandbox
    needs.

    Raises:
        OSError: there is no filter for this machine, or the kernel refuses it.
    """
    machine = os.uname().machine
    if machine not in NUMBERS:
        raise OSError(f"there is no filter of system calls for {machine}")
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _Program(program(_FOR_EVERYBODY, machine)).install()


class Fence:
    """Keeps a process and its descendants from affecting older processes by signals, limits or
    priority.

    Newer processes have higher numbers, so it can end its own. Threads that older processes start
    later have such numbers too; where the kernel can tell them apart (Landlock, from Linux 6.12
    on), they are out of reach as well. The fence is made before the fork, so that the process
    itself only writes its number into the program.
    """

    def __init__(self) -> None:
        self._program = _Program(program(_FOR_ONE, os.uname().machine))

    def close(self) -> None:
        """Make this process a group leader, and close the fence around it.

        Raises:
            OSError: the kernel refuses the filter.
        """
        pid = os.getpid()
        os.setpgid(0, 0)
        self._program.put(_OWN, pid)
        self._program.put(_OTHER_GROUPS, 2**32 - pid + 1)
        _keep_signals_inside()
        self._program.install()


def _keep_signals_inside() -> None:
    """Keep signals of this process and its descendants inside, where the kernel supports it."""
    numbers = NUMBERS[os.uname().machine]
    rules = ctypes.create_string_buffer(_RULESET.pack(0, 0, _SCOPE_SIGNAL), _RULESET.size)
    ruleset = syscall(numbers["landlock_create_ruleset"], ctypes.addressof(rules), _RULESET.size)
    if ruleset >= 0:
        syscall(numbers["landlock_restrict_self"], ruleset)
        os.close(ruleset)


class _Program:
    """A program in the kernel's form, `struct sock_fprog`."""

    def __init__(self, instructions: bytes) -> None:
        self._instructions = ctypes.create_string_buffer(instructions, len(instructions))
        self._described = ctypes.create_string_buffer(
            struct.pack("HP", len(instructions) // 8, ctypes.addressof(self._instructions))
        )
        self._places = {word: list(_find(instructions, word)) for word in (_OWN, _OTHER_GROUPS)}

    def put(self, word: int, number: int) -> None:
        """Replace a placeholder with a number."""
        for place in self._places[word]:
            _WORD.pack_into(self._instructions, place, number)

    def install(self) -> None:
        prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(self._described))


def _find(instructions: bytes, word: int) -> Iterator[int]:
    return (
        place
        for place in range(4, len(instructions), 8)
        if _WORD.unpack_from(instructions, place) == (word,)
    )
