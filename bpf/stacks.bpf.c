// SPDX-License-Identifier: GPL-2.0-only
/*
 * stacks.bpf.c - probe `stacks`: the stack of each CPU at each tick of its clock. A stack is sent whole when it is new,
 * and by its key after that.
 *
 * The tick is a hard interrupt, whose begin our own programs see: it is left out here, so that a sample shows the
 * interrupted code. The tick may come between any two instructions of another program, but only a program in an NMI
 * comes in the middle of this one. So it may read the CPU's state, and one buffer per CPU is enough.
 */
#include "bpf/task_ops.h"

struct nt_seen_stacks_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NT_SEEN_STACKS);
	__type(key, __u32);
	__type(value, __u64);
};

/* Where a stack is put together: far too large for a program's own. */
union nt_stack_buffer {
	struct nt_stack_message kernel;
	struct nt_user_stack_message user;
};

struct nt_stack_buffers_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, union nt_stack_buffer);
};

struct nt_seen_stacks_map nt_seen_stacks SEC(".maps");
struct nt_stack_buffers_map nt_stack_buffers SEC(".maps");

/* The innermost operation that the task is inside of, as a context; NT_STACK_IN_TASK: none. */
static __always_inline __u8 op_context(struct nt_cpu *cpu, struct task_struct *task, __u64 now_ns)
{
	struct nt_scratch *scratch = nt_scratch_get(cpu);
	__u8 context = NT_STACK_IN_TASK;
	__u64 begin_ns = 0;
	__u32 n;

	if (!scratch)
		return context;
	n = nt_list_ops(cpu, task, now_ns, scratch->open, &begin_ns);
	if (n && n <= NT_MAX_OPS)
		context = scratch->open[n - 1].detail == NT_SEND ? NT_STACK_IN_SEND : NT_STACK_IN_RECV;
	nt_scratch_put(cpu);
	return context;
}

static __always_inline __u8 softirq_context(__u8 vec)
{
	return vec == NET_RX_SOFTIRQ   ? NT_STACK_IN_NET_RX
	       : vec == NET_TX_SOFTIRQ ? NT_STACK_IN_NET_TX
				       : NT_STACK_IN_SOFTIRQ;
}

static __always_inline bool is_network_context(__u8 context)
{
	return context >= NT_STACK_IN_SEND && context <= NT_STACK_IN_NET_TX;
}

/* The interrupted context. In user space a task is in no call, whatever is noted. */
static __always_inline __u8 context_of(struct nt_cpu *cpu, struct task_struct *task, bool in_user, __u64 now_ns)
{
	if (cpu->irq_depth > 1)
		return NT_STACK_IN_HARDIRQ;
	if (cpu->softirq_begin_ns)
		return softirq_context(cpu->softirq_vec);
	if (!task->pid)
		return NT_STACK_IN_IDLE;
	if (nt_is_napi_thread(task))
		return NT_STACK_IN_NAPI;
	if (in_user || !nt_config.notes_begins)
		return NT_STACK_IN_TASK;
	return op_context(cpu, task, now_ns);
}

/*
 * Sends a stack unless the one sent last in its slot was the same. One that found no room is no loss: it is sent again
 * with the next sample of it. If there is none, the sample's stack has no frames on the tape, and `check` says so.
 */
static __always_inline void announce_stack(struct nt_cpu *cpu, __u32 cpu_id, __u64 key, void *message, __u32 size)
{
	__u32 slot = (key >> 32) & (NT_SEEN_STACKS - 1);
	__u64 *seen = bpf_map_lookup_elem(&nt_seen_stacks, &slot);

	if (!seen || *seen == key || !nt_ring_write(cpu, cpu_id, message, size))
		return;
	*seen = key;
	cpu->counts.written[NT_STACK][NT_PROGRAM_stack_sample]++;
}

static __always_inline void fill_header(struct nt_stack_header *header, __u8 is_user, __u32 n, __u64 key,
					const struct nt_stack_sample *sample)
{
	header->end_ns = sample->end_ns;
	header->kind = NT_STACK;
	header->is_user = is_user;
	header->n = n;
	header->pid = bpf_get_current_pid_tgid() >> 32;
	header->key = key;
}

static __always_inline void take_kernel_stack(struct nt_cpu *cpu, __u32 cpu_id, void *ctx,
					      union nt_stack_buffer *buffer, struct nt_stack_sample *sample)
{
	struct nt_stack_message *message = &buffer->kernel;
	long size = bpf_get_stack(ctx, message->frames, sizeof(message->frames), 0);
	__u64 key = NT_STACK_KERNEL_KEY;
	__u32 n, i;

	if (size <= 0) {
		sample->error = -size;
		return;
	}
	n = (__u32)size / sizeof(message->frames[0]);
	if (n > NT_STACK_MAX_FRAMES)
		n = NT_STACK_MAX_FRAMES;
	if (n >= nt_config.stack_frames)
		sample->flags |= NT_STACK_SAMPLE_CUT;
	/* From the outermost, which stands last. */
	for (i = 0; i < NT_STACK_MAX_FRAMES && i < n; i++)
		key = nt_stack_key(key, message->frames[(n - 1 - i) & NT_STACK_MAX_FRAMES]);
	sample->stack = key;
	fill_header(&message->header, 0, n, key, sample);
	announce_stack(cpu, cpu_id, key, message, sizeof(message->header) + n * sizeof(message->frames[0]));
}

static __always_inline void take_user_stack(struct nt_cpu *cpu, __u32 cpu_id, void *ctx, union nt_stack_buffer *buffer,
					    struct nt_stack_sample *sample)
{
	struct nt_user_stack_message *message = &buffer->user;
	long size =
		bpf_get_stack(ctx, message->frames, sizeof(message->frames), BPF_F_USER_STACK | BPF_F_USER_BUILD_ID);
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	__u64 key = NT_STACK_USER_KEY;
	__u32 n, i;

	if (size <= 0) {
		sample->user_error = -size;
		return;
	}
	n = (__u32)size / sizeof(message->frames[0]);
	if (n > NT_STACK_MAX_FRAMES)
		n = NT_STACK_MAX_FRAMES;
	if (n >= nt_config.stack_frames)
		sample->flags |= NT_STACK_SAMPLE_CUT_USER;
	for (i = 0; i < NT_STACK_MAX_FRAMES && i < n; i++)
		key = nt_stack_key(key, nt_user_frame_key(&message->frames[(n - 1 - i) & NT_STACK_MAX_FRAMES], pid));
	sample->user_stack = key;
	fill_header(&message->header, 1, n, key, sample);
	announce_stack(cpu, cpu_id, key, message, sizeof(message->header) + n * sizeof(message->frames[0]));
}

static __always_inline void take_stacks(struct nt_cpu *cpu, __u32 cpu_id, void *ctx, struct task_struct *task,
					struct nt_stack_sample *sample)
{
	__u32 zero = 0;
	union nt_stack_buffer *buffer = bpf_map_lookup_elem(&nt_stack_buffers, &zero);

	if (!buffer)
		return;
	if (!(sample->flags & NT_STACK_SAMPLE_USER))
		take_kernel_stack(cpu, cpu_id, ctx, buffer, sample);
	if (nt_config.user_stacks && !(task->flags & PF_KTHREAD))
		take_user_stack(cpu, cpu_id, ctx, buffer, sample);
}

/* Puts the CPU's context and task into the record. False: the context is not asked for, and the run is counted. */
static __always_inline bool begin_sample(struct nt_cpu *cpu, __u32 cpu_id, __u32 program, struct task_struct *task,
					 bool in_user, struct nt_stack_sample *record)
{
	record->end_ns = bpf_ktime_get_ns();
	record->kind = NT_STACK_SAMPLE;
	nt_check_current(cpu, cpu_id, task, record->end_ns);
	record->context = context_of(cpu, task, in_user, record->end_ns);
	if (!nt_config.stacks_all && !is_network_context(record->context)) {
		nt_count(cpu, program, NT_OUTCOME_skipped_owner);
		return false;
	}
	if (record->context >= NT_STACK_IN_NET_RX && record->context <= NT_STACK_IN_SOFTIRQ)
		record->vec = cpu->softirq_vec;
	record->flags = in_user ? NT_STACK_SAMPLE_USER : 0;
	record->task = nt_key_of(task);
	return true;
}

SEC("perf_event")
int nt_stack_sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct nt_stack_sample record = {};
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (nt_config.sees_ticks) {
		if (cpu->hrtimer)
			cpu->tick = cpu->hrtimer;
		cpu->missed_tick = 0;
	}
	if (!cpu->gate) {
		nt_count(cpu, NT_PROGRAM_stack_sample, NT_OUTCOME_skipped_gate);
		return 0;
	}
	if (!begin_sample(cpu, cpu_id, NT_PROGRAM_stack_sample, task, nt_regs_are_user(ctx), &record))
		return 0;
	take_stacks(cpu, cpu_id, ctx, task, &record);
	nt_emit_loose(cpu, cpu_id, NT_PROGRAM_stack_sample, &record, sizeof(record), NT_STACK_SAMPLE);
	return 0;
}

/*
 * The kernel runs no program of a perf event inside another such program, nor inside a call that reads or changes a
 * BPF map: a tick that comes there takes no sample. Then these two make one, without a stack. They see all timers that
 * expire in hard interrupts; the tick's is the one in which the program above ran last.
 */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(nt_tick_begin, struct hrtimer *timer)
{
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (timer->is_soft) {
		nt_count(cpu, NT_PROGRAM_tick_begin, NT_OUTCOME_skipped_softirq);
		return 0;
	}
	cpu->hrtimer = (__u64)timer;
	cpu->missed_tick = cpu->tick == (__u64)timer ? cpu->tick : 0;
	nt_count(cpu, NT_PROGRAM_tick_begin, NT_OUTCOME_noted);
	return 0;
}

/* The timer may be gone by now, so nothing of it is read. */
SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(nt_tick_end, struct hrtimer *timer)
{
	struct nt_stack_sample record = {.error = NT_STACK_SAMPLE_IN_PROGRAM};
	struct nt_cpu *cpu;
	bool is_missed;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(NT_PROGRAM_tick_end, &cpu_id);
	if (!cpu)
		return 0;
	is_missed = cpu->missed_tick == (__u64)timer;
	if (cpu->hrtimer == (__u64)timer)
		cpu->hrtimer = 0;
	if (!is_missed) {
		nt_count(cpu, NT_PROGRAM_tick_end, NT_OUTCOME_skipped_filter);
		return 0;
	}
	cpu->missed_tick = 0;
	if (begin_sample(cpu, cpu_id, NT_PROGRAM_tick_end, bpf_get_current_task_btf(), false, &record))
		nt_emit_loose(cpu, cpu_id, NT_PROGRAM_tick_end, &record, sizeof(record), NT_STACK_SAMPLE);
	return 0;
}
