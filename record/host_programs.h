/* SPDX-License-Identifier: GPL-2.0-only */
/* host_programs.h - the BPF programs that the kernel has, whoever loaded them. */
#pragma once

#include <stdbool.h>

#include <linux/bpf.h>

/*
 * Whether the kernel has a program of a type that `is_wanted` takes, of any network namespace, in use or not. A program
 * that cannot be looked at counts as one. 1: yes; 0: no; a negative errno: it tells of none (-EPERM: that needs
 * CAP_SYS_ADMIN).
 */
int nt_host_has_program(bool (*is_wanted)(enum bpf_prog_type type));
