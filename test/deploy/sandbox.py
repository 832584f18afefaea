"""Runs a program as a systemd unit does: without new privileges or capabilities, and with only the listed
system calls. All other system calls fail with EPERM.

Usage: sandbox.py NAMES_FILE COMMAND [ARGUMENT...]
NAMES_FILE lists names of system calls, one per line. Names that this machine does not know are skipped.
"""

import ctypes
import os
import re
import struct
import sys

HEADER = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, PR_CAPBSET_DROP = 38, 22, 24
SECCOMP_MODE_FILTER = 2
ALLOW, ERRNO_EPERM = 0x7FFF0000, 0x00050001
# In struct seccomp_data, the system call number is at offset 0 and the architecture at 4.
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
AUDIT_ARCH_X86_64 = 0xC000003E

libc = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def numbers(names):
    with open(HEADER) as header:
        known = dict(re.findall(r"#define __NR_(\w+) (\d+)", header.read()))
    return sorted(int(known[name]) for name in names if name in known)


def program(allowed):
    one = struct.Struct("HBBI")
    lines = [
        one.pack(LOAD, 0, 0, 4),
        one.pack(JUMP_IF_EQUAL, 1, 0, AUDIT_ARCH_X86_64),
        one.pack(RETURN, 0, 0, ERRNO_EPERM),
        one.pack(LOAD, 0, 0, 0),
    ]
    for number in allowed:
        lines.append(one.pack(JUMP_IF_EQUAL, 0, 1, number))
        lines.append(one.pack(RETURN, 0, 0, ALLOW))
    lines.append(one.pack(RETURN, 0, 0, ERRNO_EPERM))
    return lines


def main():
    names_file, *command = sys.argv[1:]
    with open(names_file) as names:
        lines = program(numbers(names.read().split()))
    for capability in range(64):
        if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # the last one that the kernel has, or a caller without privileges
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    filters = ctypes.create_string_buffer(b"".join(lines))
    header = struct.pack("HxxxxxxP", len(lines), ctypes.addressof(filters))
    check(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0))
    os.execvp(command[0], command)


main()
