"""The seccomp filter around a whole bubblewrap container: what no process in it may ask of the kernel. Docker brings its own."""

import os

from selfeng.sandboxes.worker.bpf import ENOSYS, EPERM, Argument, Rule, program, refuse

_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID and -NET."""
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_TERMINAL = (0x5412, 0x541C, 0x5423)
"""TIOCSTI and TIOCLINUX type into a terminal, TIOCSETD loads drivers for one."""
_QUERY = (0, 0xFFFFFFFF)
"""The personality as it is, and the question which that is."""

_REFUSED = """
setns unshare mount umount2 pivot_root chroot open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick mount_setattr statmount
listmount swapon swapoff quotactl quotactl_fd acct fanotify_init open_by_handle_at name_to_handle_at lookup_dcookie
ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp perf_event_open bpf userfaultfd
add_key request_key keyctl io_uring_setup io_uring_enter io_uring_register
init_module finit_module delete_module create_module get_kernel_syms query_module kexec_load kexec_file_load reboot syslog
settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname
iopl ioperm modify_ldt vhangup uselib ustat sysfs _sysctl nfsservctl
move_pages migrate_pages mbind set_mempolicy set_mempolicy_home_node memfd_secret vmsplice
"""


def container_filter(memory_is_counted: bool = True) -> bytes:
    """The program for this machine.

    `memory_is_counted` says whether a control group counts all memory; else nobody may have files that are in memory only and in no
    folder, where nobody would find them.

    Raises:
        KeyError: it is not known how to make one for this machine.
    """
    hidden = [] if memory_is_counted else [Rule("memfd_create shmget", refuse(EPERM))]
    return program([*hidden, *_rules()], os.uname().machine)


def _rules() -> list[Rule]:
    no = refuse(EPERM)
    return [
        Rule(_REFUSED, no),
        Rule("clone", no, (Argument(0, (0,), mask=_NAMESPACES, unless=True),)),
        Rule("clone3", refuse(ENOSYS)),  # its flags lie in memory, where a filter can't look; libraries then use clone
        Rule("socket", no, (Argument(0, (_UNIX, _INET, _INET6, _NETLINK), unless=True),)),
        Rule("socket", no, (Argument(0, (_NETLINK,)), Argument(2, (0,), unless=True))),  # all but the routes, which name the interfaces
        Rule("socketpair", no, (Argument(0, (_UNIX,), unless=True),)),
        Rule("ioctl", no, (Argument(1, _TERMINAL),)),
        Rule("personality", no, (Argument(0, _QUERY, unless=True),)),
    ]
