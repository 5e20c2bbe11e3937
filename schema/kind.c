// SPDX-License-Identifier: GPL-2.0-only
/*
 * kind.c - the tables and words of kind.h, made from the X-macros of event.h. Constant data only.
 */
#include "schema/kind.h"

#include <string.h>

#define F(field, coding_, role_)                                                                                       \
	{.name = #field,                                                                                               \
	 .offset = offsetof(self, field),                                                                              \
	 .size = sizeof(((self *)0)->field),                                                                           \
	 .coding = NT_CODING_##coding_,                                                                                \
	 .role = NT_ROLE_##role_},

/* One function per kind, so that `self` can stand for the kind's struct inside F. */
#define X(number_, constant, name_, shape_, place_)                                                                    \
	static const struct nt_kind_info *info_##name_(void)                                                           \
	{                                                                                                              \
		typedef struct nt_##name_ self;                                                                        \
		static const struct nt_field fields[] = {NT_FIELDS_##name_(F)};                                        \
		static const struct nt_kind_info info = {                                                              \
			.name = #name_,                                                                                \
			.number = number_,                                                                             \
			.shape = NT_SHAPE_##shape_,                                                                    \
			.place = NT_PLACE_##place_,                                                                    \
			.size = sizeof(self),                                                                          \
			.n_fields = sizeof(fields) / sizeof(fields[0]),                                                \
			.fields = fields,                                                                              \
		};                                                                                                     \
		return &info;                                                                                          \
	}
NT_KINDS(X)
#undef X
#undef F

const struct nt_kind_info *nt_kind(unsigned int number)
{
	switch (number) {
#define X(number_, constant, name_, shape_, place_)                                                                    \
	case number_:                                                                                                  \
		return info_##name_();
		NT_KINDS(X)
#undef X
	default:
		return NULL;
	}
}

bool nt_field_is_text(unsigned int kind, const struct nt_field *field)
{
	if (kind == NT_USER_SYMBOL && field->offset == offsetof(struct nt_user_symbol, build_id))
		return false;
	return field->coding == NT_CODING_BYTES && kind != NT_SOCKET && kind != NT_FLOW;
}

uint64_t nt_field_get(const struct nt_field *field, const void *record)
{
	const char *at = (const char *)record + field->offset;
	uint64_t value = 0;

	switch (field->size) {
	case 1:
	case 2:
	case 4:
	case 8:
		/* Records are little-endian, and so is every machine that this builds for. */
		memcpy(&value, at, field->size);
		break;
	default:
		return 0;
	}
	if (field->coding == NT_CODING_SIGNED && field->size < 8) {
		unsigned int shift = 64 - 8 * field->size;

		value = (uint64_t)((int64_t)(value << shift) >> shift);
	}
	return value;
}

void nt_field_set(const struct nt_field *field, void *record, uint64_t value)
{
	if (field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8)
		memcpy((char *)record + field->offset, &value, field->size);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records and tapes are read in place as little-endian");

#define WORD(table, index) ((index) < sizeof(table) / sizeof((table)[0]) && (table)[index] ? (table)[index] : "unknown")

const char *nt_vec_name(unsigned int vec)
{
	static const char *const names[NT_VEC_COUNT] = {"HI",	    "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
							"IRQ_POLL", "TASKLET", "SCHED",	 "HRTIMER", "RCU"};

	return WORD(names, vec);
}

const char *nt_call_name(unsigned int call)
{
	static const char *const names[] = {[NT_CALL_OTHER] = "other",
#define X(number, name) [number] = #name,
					    NT_CALLS(X)
#undef X
	};

	return WORD(names, call);
}

const char *nt_dir_name(unsigned int dir)
{
	static const char *const names[] = {[NT_SEND] = "send", [NT_RECV] = "recv"};

	return WORD(names, dir);
}

const char *nt_flow_key_name(unsigned int sort)
{
	static const char *const names[] = {
#define X(NAME, name, many) [NT_FLOW_KEY_##NAME] = #name,
		NT_FLOW_KEYS(X)
#undef X
	};

	return WORD(names, sort);
}

const char *nt_softirq_context_name(unsigned int context)
{
	static const char *const names[] = {
		[NT_SOFTIRQ_UNKNOWN] = "unknown",
		[NT_SOFTIRQ_IRQ_EXIT] = "irq_exit",
		[NT_SOFTIRQ_KSOFTIRQD] = "ksoftirqd",
		[NT_SOFTIRQ_BH_ENABLE] = "bh_enable",
	};

	return WORD(names, context);
}

const char *nt_napi_context_name(unsigned int context)
{
	static const char *const names[] = {
		[NT_NAPI_UNKNOWN] = "unknown", [NT_NAPI_SOFTIRQ] = "softirq", [NT_NAPI_THREAD] = "thread",
		[NT_NAPI_BUSY] = "busy",       [NT_NAPI_NETPOLL] = "netpoll",
	};

	return WORD(names, context);
}

const char *nt_hook_name(unsigned int hook)
{
	static const char *const names[] = {
#define X(number, name, text) [number] = text,
		NT_HOOKS(X)
#undef X
	};

	return WORD(names, hook);
}

const char *nt_retransmit_name(unsigned int what)
{
	static const char *const names[] = {[NT_RETRANSMIT_DATA] = "data", [NT_RETRANSMIT_SYNACK] = "synack"};

	return WORD(names, what);
}

const char *nt_wakeup_name(unsigned int what)
{
	static const char *const names[] = {[NT_WAKEUP_WAKING] = "waking", [NT_WAKEUP_NEW] = "new"};

	return WORD(names, what);
}

const char *nt_cpu_context_name(unsigned int context)
{
	static const char *const names[] = {
		[NT_CPU_IN_TASK] = "task",
		[NT_CPU_IN_SOFTIRQ] = "softirq",
		[NT_CPU_IN_HARDIRQ] = "hardirq",
	};

	return context == NT_CPU_UNKNOWN ? NULL : WORD(names, context);
}

const char *nt_stack_context_name(unsigned int context)
{
	static const char *const names[] = {
#define X(number, constant, word) [number] = #word,
		NT_STACK_CONTEXTS(X)
#undef X
	};

	return WORD(names, context);
}

const char *nt_io_payer_name(unsigned int payer)
{
	static const char *const names[] = {
#define X(number, word) [number] = #word,
		NT_IO_PAYERS(X)
#undef X
	};

	return WORD(names, payer);
}

const char *nt_rss_kind_name(unsigned int what)
{
	static const char *const names[] = {
#define X(number, word) [number] = #word,
		NT_RSS_KINDS(X)
#undef X
	};

	return WORD(names, what);
}

const char *nt_rss_cause_name(unsigned int cause)
{
	static const char *const names[] = {
#define X(number, word) [number] = #word,
		NT_RSS_CAUSES(X)
#undef X
	};

	return WORD(names, cause);
}

const char *nt_kmem_kind_name(unsigned int what)
{
	static const char *const names[] = {
#define X(number, word) [number] = #word,
		NT_KMEM_KINDS(X)
#undef X
	};

	return WORD(names, what);
}

/* The numbers of zones' operations differ between kernels; from 32 on they are commands of drivers. */
const char *nt_io_op_name(unsigned int op)
{
	static const char *const names[] = {[0] = "read",    [1] = "write",	   [2] = "flush",
					    [3] = "discard", [5] = "secure_erase", [9] = "write_zeroes"};

	if (op >= 32)
		return "driver";
	return op < sizeof(names) / sizeof(names[0]) && names[op] ? names[op] : "zone";
}

const char *nt_loss_why_name(unsigned int why)
{
	static const char *const names[] = {
		[NT_LOSS_RING_FULL] = "ring full",
		[NT_LOSS_NOT_RUN] = "not run",
	};

	return WORD(names, why);
}

const char *nt_role_name(unsigned int role)
{
	static const char *const names[] = {
		[NT_ROLE_NONE] = "none",     [NT_ROLE_TASK] = "task",	  [NT_ROLE_SOCKET] = "socket",
		[NT_ROLE_CGROUP] = "cgroup", [NT_ROLE_DEVICE] = "device", [NT_ROLE_SYMBOL] = "symbol",
		[NT_ROLE_STACK] = "stack",   [NT_ROLE_FLOW] = "flow",
	};

	return WORD(names, role);
}
