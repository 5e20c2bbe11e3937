// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel_names.c - see kernel_names.h.
 */
#include "report/rows/kernel_names.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>

#include "report/util/array.h"
#include "schema/kind.h"

/* Bits of the kernel's task_struct::__state and ::exit_state, the same in all kernels since 4.14. */
#define STATE_INTERRUPTIBLE 0x001u
#define STATE_UNINTERRUPTIBLE 0x002u
#define STATE_STOPPED 0x004u
#define STATE_TRACED 0x008u
#define STATE_EXIT_DEAD 0x010u
#define STATE_EXIT_ZOMBIE 0x020u
#define STATE_PARKED 0x040u
#define STATE_DEAD 0x080u
#define STATE_NOLOAD 0x400u
#define STATE_RTLOCK_WAIT 0x1000u

const char *nt_end_state_name(uint32_t prev_state)
{
	if (prev_state & NT_SWITCH_PREEMPTED)
		return "R+";
	if (prev_state & STATE_EXIT_ZOMBIE)
		return "Z";
	if (prev_state & (STATE_EXIT_DEAD | STATE_DEAD))
		return "X";
	if (prev_state & STATE_TRACED)
		return "t";
	if (prev_state & STATE_STOPPED)
		return "T";
	if (prev_state & STATE_PARKED)
		return "P";
	if ((prev_state & STATE_UNINTERRUPTIBLE) && (prev_state & STATE_NOLOAD))
		return "I";
	if (prev_state & (STATE_UNINTERRUPTIBLE | STATE_RTLOCK_WAIT))
		return "D";
	if (prev_state & STATE_INTERRUPTIBLE)
		return "S";
	return "R";
}

/* The kernel's own numbers for "interrupted by a signal, and to be restarted": never seen by a program. */
#define RESTART_FIRST 512
#define RESTART_LAST 516

const char *nt_op_result_name(const struct nt_op_row *op, struct nt_arena *arena)
{
	static const char *const ends[] = {
		[NT_OP_OPEN] = "open", [NT_OP_EXIT] = "exit", [NT_OP_ABANDONED] = "abandoned"};
	int64_t error = -(int64_t)op->result;
	const char *name;

	if (op->end != NT_OP_DONE)
		return ends[op->end];
	if (error <= 0)
		return "ok";
	if (error >= RESTART_FIRST && error <= RESTART_LAST)
		return "restarted";
	name = error < RESTART_FIRST ? strerrorname_np((int)error) : NULL;
	return name ? name : nt_arena_format(arena, "errno %lld", (long long)error);
}

static const char *op_flags_text(const struct nt_op_row *op, struct nt_arena *arena)
{
	const struct {
		bool is_so;
		const char *word;
	} words[] = {
		{op->flags & NT_OP_PEEK, "peek"},
		{op->flags & NT_OP_ERRQUEUE, "errqueue"},
		{op->flags & NT_OP_IN_SOFTIRQ, "in_softirq"},
		{op->flags & NT_OP_KERNEL, "kernel"},
		{op->before, "before"},
		{op->lower_bound, "lower_bound"},
	};
	char text[96] = "";

	for (size_t i = 0; i < NT_COUNT(words); i++) {
		if (words[i].is_so)
			strcat(strcat(text, ","), words[i].word);
	}
	return text[0] ? nt_arena_format(arena, "%s", text + 1) : "";
}

const char *nt_op_flags_text(const struct nt_op_row *op, struct nt_arena *arena)
{
	return op->before || op->lower_bound || op->flags ? op_flags_text(op, arena) : "";
}

/* Constants, not made: there is one for each packet. */
const char *nt_latency_flags_text(uint8_t flags, enum nt_late late)
{
	static const char *const texts[3][4] = {
		{"", "hol", "ipv6", "hol,ipv6"},
		{"future", "hol,future", "ipv6,future", "hol,ipv6,future"},
		{"step", "hol,step", "ipv6,step", "hol,ipv6,step"},
	};
	int row = late == NT_LATE_FUTURE ? 1 : late == NT_LATE_LEAST || late == NT_LATE_JUMPED ? 2 : 0;

	_Static_assert(NT_LATENCY_HOL == 1 && NT_LATENCY_IPV6 == 2, "columns of texts");
	return texts[row][flags & 3];
}

const char *nt_stack_flags_text(uint8_t flags)
{
	static const char *const texts[4] = {"", "cut", "cut_user", "cut,cut_user"};

	_Static_assert(NT_STACK_SAMPLE_CUT == 2 && NT_STACK_SAMPLE_CUT_USER == 4, "index of texts");
	return texts[flags >> 1 & 3];
}

const char *nt_io_flags_text(uint8_t flags)
{
	static const char *const texts[8] = {
		"",	    "requeued",		 "partial",	     "requeued,partial",
		"unissued", "requeued,unissued", "partial,unissued", "requeued,partial,unissued"};

	_Static_assert(NT_IO_REQUEUED == 2 && NT_IO_PARTIAL == 4 && NT_IO_UNISSUED == 8, "index of texts");
	return texts[flags >> 1 & 7];
}

/* As block/blk-core.c has them. From 14 on, kernels differ. */
const char *nt_io_status_name(uint8_t status, struct nt_arena *arena)
{
	static const char *const names[] = {"ok",	 "EOPNOTSUPP", "ETIMEDOUT", "ENOSPC", "ENOLINK",
					    "EREMOTEIO", "EBADE",      "ENODATA",   "EILSEQ", "ENOMEM",
					    "EIO",	 "EREMCHG",    "EAGAIN",    "EBUSY"};

	return status < NT_COUNT(names) ? names[status] : nt_arena_format(arena, "status %u", status);
}

const char *nt_build_id_text(const uint8_t build_id[NT_BUILD_ID_LEN], struct nt_arena *arena)
{
	static const uint8_t none[NT_BUILD_ID_LEN];
	char *text;

	if (!memcmp(build_id, none, NT_BUILD_ID_LEN))
		return NULL;
	text = nt_arena_get(arena, 2 * NT_BUILD_ID_LEN + 1);
	for (int i = 0; text && i < NT_BUILD_ID_LEN; i++)
		snprintf(text + 2 * i, 3, "%02x", build_id[i]);
	return text;
}

const char *nt_user_place_name(const struct nt_user_symbol *symbol, const char *path, struct nt_arena *arena)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *build_id = nt_build_id_text(symbol->build_id, arena);

	if (path)
		return nt_arena_format(arena, "%s+0x%llx", slash && slash[1] ? slash + 1 : path,
				       (unsigned long long)symbol->place);
	if (build_id && !(symbol->flags & NT_USER_SYMBOL_ADDRESS))
		return nt_arena_format(arena, "[%.8s]+0x%llx", build_id, (unsigned long long)symbol->place);
	return "[unknown]";
}

const char *nt_tcp_state_name(unsigned int state, struct nt_arena *arena)
{
	static const char *const names[] = {
		NULL,	 "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2",    "TIME_WAIT",
		"CLOSE", "CLOSE_WAIT",	"LAST_ACK", "LISTEN",	"CLOSING",   "NEW_SYN_RECV", "BOUND_INACTIVE",
	};

	if (state < NT_COUNT(names))
		return names[state];
	return nt_arena_format(arena, "%u", state);
}

const char *nt_context_name(uint32_t context)
{
	return context == NT_CONTEXT_OP ? "op" : nt_softirq_context_name(context);
}

const char *nt_net_timer_name(unsigned int function)
{
	static const char *const names[NT_NET_TIMER_COUNT] = {
#define X(number, function) [number] = #function,
		NT_NET_TIMERS(X)
#undef X
	};

	return function && function < NT_NET_TIMER_COUNT ? names[function] : "unknown";
}

struct number_name {
	unsigned int number;
	const char *name;
};

static const char *name_of(const struct number_name *names, size_t n, unsigned int number)
{
	size_t found = NT_FIRST(n, i, names[i].number == number);

	return found < n ? names[found].name : NULL;
}

#define NAME_OF(names, number) name_of(names, NT_COUNT(names), number)

const char *nt_family_name(unsigned int family, struct nt_arena *arena)
{
	static const struct number_name names[] = {
		{AF_UNIX, "unix"},
		{AF_INET, "inet"},
		{AF_INET6, "inet6"},
		{AF_PACKET, "packet"},
		{AF_CAN, "can"},
		{AF_NETLINK, "netlink"},
		{AF_BLUETOOTH, "bluetooth"},
		{AF_VSOCK, "vsock"},
		{AF_KCM, "kcm"},
		{AF_QIPCRTR, "qipcrtr"},
		{AF_SMC, "smc"},
		{AF_XDP, "xdp"},
		{AF_KEY, "key"},
		{AF_TIPC, "tipc"},
		{AF_ALG, "alg"},
		{AF_RXRPC, "rxrpc"},
		{AF_PPPOX, "pppox"},
		{AF_RDS, "rds"},
	};
	const char *name = NAME_OF(names, family);

	return name ? name : nt_arena_format(arena, "family %u", family);
}

const char *nt_socket_type_name(unsigned int type, struct nt_arena *arena)
{
	static const struct number_name names[] = {
		{SOCK_STREAM, "stream"},       {SOCK_DGRAM, "dgram"}, {SOCK_RAW, "raw"}, {SOCK_RDM, "rdm"},
		{SOCK_SEQPACKET, "seqpacket"}, {SOCK_DCCP, "dccp"},   {10, "packet"}, /* SOCK_PACKET, which the headers
											 call obsolete */
	};
	const char *name = NAME_OF(names, type);

	return name ? name : nt_arena_format(arena, "type %u", type);
}

const char *nt_protocol_name(unsigned int family, unsigned int protocol, struct nt_arena *arena)
{
	static const struct number_name names[] = {
		{1, "icmp"},   {2, "igmp"},	 {6, "tcp"},   {17, "udp"},    {33, "dccp"},
		{47, "gre"},   {50, "esp"},	 {51, "ah"},   {58, "icmp6"},  {115, "l2tp"},
		{132, "sctp"}, {136, "udplite"}, {255, "raw"}, {262, "mptcp"},
	};
	const char *name = family == AF_INET || family == AF_INET6 ? NAME_OF(names, protocol) : NULL;

	return name ? name : nt_arena_format(arena, "%u", protocol);
}
