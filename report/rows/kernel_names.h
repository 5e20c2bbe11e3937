/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_names.h - the names and texts that rows have for numbers of the kernel, where schema/kind.h does not have
 * them. Pure. Where there is an arena, the returned text may live in it, and NULL means out of memory.
 */
#pragma once

#include <stdint.h>

#include "report/tape/clock.h"
#include "report/timeline/timeline.h"
#include "report/util/arena.h"

/* Perfetto's word for a task's state as it leaves a CPU: R R+ S D T t X Z P I. */
const char *nt_end_state_name(uint32_t prev_state);
/* ok, open, exit, abandoned, restarted, or the name of an errno. */
const char *nt_op_result_name(const struct nt_op_row *op, struct nt_arena *arena);
/* The flags of nt_op_row as words with commas between; "" for none. */
const char *nt_op_flags_text(const struct nt_op_row *op, struct nt_arena *arena);
/* op, irq_exit, ksoftirqd, bh_enable, unknown. */
const char *nt_context_name(uint32_t context);

/* NT_LATENCY_* flags and what the clocks say, as words with commas between; "" for nothing. */
const char *nt_latency_flags_text(uint8_t flags, enum nt_late late);
/* NT_STACK_SAMPLE_* flags but that of user space, the same way. */
const char *nt_stack_flags_text(uint8_t flags);
/* NT_IO_* flags but that of the queue, the same way. */
const char *nt_io_flags_text(uint8_t flags);
/* The kernel's blk_status_t: ok, or the name of the errno that it stands for. */
const char *nt_io_status_name(uint8_t status, struct nt_arena *arena);
/* A build id in hexadecimal; NULL: it is not known (or out of memory). */
const char *nt_build_id_text(const uint8_t build_id[NT_BUILD_ID_LEN], struct nt_arena *arena);
/* A place in a program: "libc.so.6+0x91b4f", with the begin of its build id if the path is not known; "[unknown]". */
const char *nt_user_place_name(const struct nt_user_symbol *symbol, const char *path, struct nt_arena *arena);
/* The name of enum nt_net_timer_function; "unknown" for what is none. */
const char *nt_net_timer_name(unsigned int function);
/* The kernel's word for a TCP state: ESTABLISHED. NULL for 0. */
const char *nt_tcp_state_name(unsigned int state, struct nt_arena *arena);

const char *nt_family_name(unsigned int family, struct nt_arena *arena);
const char *nt_socket_type_name(unsigned int type, struct nt_arena *arena);
const char *nt_protocol_name(unsigned int family, unsigned int protocol, struct nt_arena *arena);
