/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spared.h - the recorder's programs whose missed runs lose no record.
 */
#pragma once

/*
 * X(name): nt_NAME. The first three give sockets their numbers: the next run for the socket does it, and only what was
 * recorded before has no socket. The others are at all timers, and left out where a hard interrupt finds them running:
 * the network's functions are not called there, and a tick of the clock of stacks that comes there takes its sample
 * itself.
 */
#define NT_SPARED(X)                                                                                                   \
	X(name_sender)                                                                                                 \
	X(name_receiver)                                                                                               \
	X(tcp_rcv_space_adjust)                                                                                        \
	X(hrtimer_expire_entry)                                                                                        \
	X(hrtimer_expire_exit)                                                                                         \
	X(tick_begin)                                                                                                  \
	X(tick_end)

/* In SQL: a list that begins with the name of no program. */
#define NT_SPARED_QUOTED(name) ", 'nt_" #name "'"
#define NT_SPARED_SQL "(''" NT_SPARED(NT_SPARED_QUOTED) ")"
