// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.bpf.c - the base of every probe: the maps, loss and state records, and the control program by which the recorder
 * opens and closes each CPU's gate.
 */
#include "bpf/device.h"
#include "bpf/faults.h"
#include "bpf/open_softirq.h"
#include "bpf/task_ops.h"

char LICENSE[] SEC("license") = "GPL";

struct nt_cpus_map nt_cpus SEC(".maps");
struct nt_rings_map nt_rings SEC(".maps");
struct nt_task_ops_map nt_task_ops SEC(".maps");
struct nt_task_stacks_map nt_task_stacks SEC(".maps");
struct nt_seen_sockets_map nt_seen_sockets SEC(".maps");
struct nt_seen_devices_map nt_seen_devices SEC(".maps");
const volatile struct nt_config nt_config = {};

/*
 * Puts the batch into the ring. 1 if the batch is empty then. An interrupt may add records meanwhile: hence the
 * exchange, and another try for what came.
 */
int nt_batch_flush(__u32 cpu_id)
{
	struct nt_cpu *cpu = bpf_map_lookup_elem(&nt_cpus, &cpu_id);
	int try, empty = 0;

	if (!cpu)
		return 0;
	cpu->batch.adding++;
	barrier();
	for (try = 0; try < 4 && !empty; try++) {
		__u32 begin = cpu->batch.begin & (NT_BATCH_BYTES - 8), end = *(volatile __u32 *)&cpu->batch.end;
		__u32 size = end - begin;

		if (size > NT_BATCH_BYTES)
			break;
		if (size && !nt_ring_write(cpu, cpu_id, &cpu->batch.data[begin / 8], size))
			break;
		cpu->batch.begin = end;
		empty = __sync_val_compare_and_swap(&cpu->batch.end, end, 0) == end;
	}
	if (empty)
		cpu->batch.begin = 0;
	barrier();
	cpu->batch.adding--;
	return empty;
}

/*
 * Writes one kind's losses. If there is no room for that either, they are kept for the next try. A global function, or
 * the verifier would walk it once for each kind, in each program: most of what loading the programs took.
 */
int nt_flush_kind(__u32 cpu_id, __u32 kind, __u64 now_ns)
{
	struct nt_cpu *cpu = bpf_map_lookup_elem(&nt_cpus, &cpu_id);
	struct nt_loss record = {};
	struct nt_lost *lost;
	__u64 count;

	if (!cpu)
		return 0;
	lost = &cpu->losses[kind & (NT_KIND_MAX - 1)];
	count = __sync_lock_test_and_set(&lost->count, 0);
	if (!count)
		return 0;
	record.end_ns = now_ns;
	record.kind = NT_LOSS;
	record.lost_kind = kind;
	record.count = count;
	record.first_ns = __sync_lock_test_and_set(&lost->first_ns, 0);
	record.last_ns = __sync_lock_test_and_set(&lost->last_ns, 0);
	record.begin_ns = __sync_lock_test_and_set(&lost->begin_ns, 0);
	if (nt_batch_write(cpu, cpu_id, &record, sizeof(record))) {
		__sync_fetch_and_add(&cpu->counts.written[NT_LOSS][NT_PROGRAM_control], 1);
		return 0;
	}
	nt_note_loss(cpu, kind, record.first_ns, record.begin_ns);
	nt_note_loss(cpu, kind, record.last_ns, record.begin_ns);
	__sync_fetch_and_add(&lost->count, count - 2);
	return 0;
}

/*
 * Not inlined in nt_write_state either: the verifier would walk it once for each way through that function. For the
 * same reason no loop over all numbers, but a test for each kind that there is.
 */
__noinline int nt_flush_losses(__u32 cpu_id, __u64 now_ns)
{
	struct nt_cpu *cpu = bpf_map_lookup_elem(&nt_cpus, &cpu_id);

	if (!cpu)
		return 0;
	cpu->lossy = 0;
#define X(number, constant, name, shape, place)                                                                        \
	if (cpu->losses[number].count)                                                                                 \
		nt_flush_kind(cpu_id, number, now_ns);
	NT_KINDS(X)
#undef X
	return 0;
}

/* Where a device stands, or is to: in a free slot, or in the last. */
static __always_inline struct nt_seen_device *slot_of_device(__u64 key)
{
	struct nt_seen_device *found = nt_find_device(key), *seen = NULL;

	for (__u32 i = 0; i < NT_DEVICE_SLOTS && !found; i++) {
		seen = nt_device_slot(key, i);
		if (seen && !seen->key)
			found = seen;
	}
	return found ? found : seen;
}

int nt_announce_device(__u64 device, __u64 key, __u64 now_ns)
{
	struct nt_seen_device *seen = slot_of_device(key);
	struct net_device *dev = (struct net_device *)device;
	struct nt_device record = {};
	__u64 name[NT_IFNAME_LEN / 8] = {};
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu || !seen)
		return 0;
	bpf_core_read(name, sizeof(name), &dev->name);
	if (seen->key == key && seen->name[0] == name[0] && seen->name[1] == name[1])
		return 0;
	record.end_ns = now_ns;
	record.kind = NT_DEVICE;
	record.ifindex = (__u32)key;
	record.device = key;
	record.netns = key >> 32;
	__builtin_memcpy(record.name, name, sizeof(record.name));
	if (nt_emit_record(cpu, cpu_id, NT_PROGRAM_control, &record, sizeof(record), NT_DEVICE, now_ns, 0)) {
		seen->key = key;
		seen->name[0] = name[0];
		seen->name[1] = name[1];
	}
	return 0;
}

#define DEVICE_LISTS 256 /* NETDEV_HASHENTRIES */
#define LONGEST_DEVICE_LIST 32

int nt_announce_ifindex(__u64 net_address, __u32 ifindex, __u64 now_ns)
{
	struct net *net = (struct net *)net_address;
	__u64 key = nt_device_key(BPF_CORE_READ(net, ns.inum), ifindex);
	struct hlist_head *lists = BPF_CORE_READ(net, dev_index_head);
	struct hlist_node *node = NULL;
	struct nt_seen_device *seen;
	struct net_device *dev;

	if (!lists || bpf_probe_read_kernel(&node, sizeof(node), &lists[ifindex & (DEVICE_LISTS - 1)]))
		return 0;
	for (int i = 0; i < LONGEST_DEVICE_LIST && node; i++) {
		dev = (void *)node - bpf_core_field_offset(struct net_device, index_hlist);
		if ((__u32)BPF_CORE_READ(dev, ifindex) == ifindex) {
			nt_announce_device((unsigned long)dev, key, now_ns);
			return 1;
		}
		node = BPF_CORE_READ(node, next);
	}
	/* It is gone, or too far behind: it stays without a name, and is not looked for at each packet. */
	seen = slot_of_device(key);
	if (seen)
		seen->key = key;
	return 0;
}

/*
 * Another task has come onto the CPU: the softirq that `prev` is inside of went with it, and the other brings its own.
 * Should all slots be taken, the end of that softirq will be one whose begin was not seen.
 */
int nt_switch_softirq(__u32 cpu_id, __u64 prev)
{
	struct nt_cpu *cpu = bpf_map_lookup_elem(&nt_cpus, &cpu_id);
	struct nt_away_softirq *away;
	__u32 i;

	if (!cpu)
		return 0;
	for (i = 0; i < NT_AWAY_SOFTIRQS && cpu->softirq_begin_ns; i++) {
		away = &cpu->away[i];
		if (away->task)
			continue;
		cpu->softirqs_away++;
		away->task = prev;
		away->begin_ns = cpu->softirq_begin_ns;
		away->vec = cpu->softirq_vec;
		away->context = cpu->softirq_context;
		cpu->softirq_begin_ns = 0;
	}
	cpu->softirq_begin_ns = 0;
	for (i = 0; i < NT_AWAY_SOFTIRQS && cpu->softirqs_away && !cpu->softirq_begin_ns; i++) {
		away = &cpu->away[i];
		if (away->task != cpu->current)
			continue;
		cpu->softirqs_away--;
		away->task = 0;
		cpu->softirq_begin_ns = away->begin_ns;
		cpu->softirq_vec = away->vec;
		cpu->softirq_context = away->context;
	}
	return 0;
}

/* Says on the tape that a switch was lost since the last one that was seen. */
static __always_inline void tell_missed_switch(struct nt_cpu *cpu, __u32 cpu_id, __u64 now_ns)
{
	struct nt_loss loss = {};

	__sync_fetch_and_add(&cpu->counts.lost[NT_SWITCH][NT_PROGRAM_control], 1);
	loss.end_ns = now_ns;
	loss.kind = NT_LOSS;
	loss.lost_kind = NT_SWITCH;
	loss.why = NT_LOSS_NOT_RUN;
	loss.count = 1;
	loss.first_ns = cpu->switch_ns;
	loss.last_ns = cpu->switch_ns;
	if (nt_batch_write(cpu, cpu_id, &loss, sizeof(loss)))
		__sync_fetch_and_add(&cpu->counts.written[NT_LOSS][NT_PROGRAM_control], 1);
	else
		nt_note_loss(cpu, NT_SWITCH, cpu->switch_ns, 0);
}

/*
 * Another task is on this CPU than the last switch put there. Says so on the tape, as a lost switch since the
 * last one, and who is there now; and gives the task what it is inside of back.
 *
 * The loss comes before all else: an interrupt in between finds the same, and tells it too. The other way round it
 * would find nothing amiss, and write a state record of a task that nothing on the tape says has come.
 */
int nt_missed_switch(__u32 cpu_id, __u64 now_ns)
{
	struct nt_cpu *cpu = bpf_map_lookup_elem(&nt_cpus, &cpu_id);
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 believed;
	bool is_told;

	if (!cpu)
		return 0;
	is_told = cpu->current && cpu->gate;
	if (is_told)
		tell_missed_switch(cpu, cpu_id, now_ns);
	believed = cpu->current;
	cpu->current_key = nt_key_of(task);
	barrier();
	__builtin_memcpy(&cpu->current, &task, sizeof(cpu->current));
	if (nt_softirqs_travel(cpu) && believed && believed != cpu->current)
		nt_switch_softirq(cpu_id, believed);
	if (nt_config.notes_begins)
		nt_give_op(cpu, task);
	nt_forget_raised(cpu);
	if (is_told)
		nt_write_state(cpu_id, now_ns, NT_STATE_RESYNC);
	return 0;
}

/* All that is open on this CPU, outermost first: how many, and the least begin. */
static __always_inline __u32 list_opens(struct nt_cpu *cpu, struct task_struct *task, __u64 now_ns,
					struct nt_open *open, __u64 *begin_ns)
{
	__u32 n = 0;

	if (nt_config.notes_begins)
		n = nt_list_ops(cpu, task, now_ns, open, begin_ns);
	if (cpu->softirq_begin_ns) {
		nt_fill_open_softirq(cpu, now_ns, &open[n]);
		*begin_ns = nt_least(*begin_ns, cpu->softirq_begin_ns);
		n++;
	}
	if (cpu->irq_depth) {
		nt_fill_open(&open[n], now_ns, NT_OPEN_IRQ, cpu->irq_type, cpu->irq_number, cpu->irq_begin_ns);
		*begin_ns = nt_least(*begin_ns, cpu->irq_begin_ns);
		n++;
	}
	return n;
}

int nt_write_state(__u32 cpu_id, __u64 now_ns, __u32 reason)
{
	struct nt_cpu *cpu = bpf_map_lookup_elem(&nt_cpus, &cpu_id);
	struct task_struct *task = bpf_get_current_task_btf();
	struct nt_scratch *scratch;
	struct nt_state *state;
	__u64 begin_ns = 0;
	__u32 n;

	scratch = cpu ? nt_scratch_get(cpu) : NULL;
	if (!scratch)
		return 0;
	n = list_opens(cpu, task, now_ns, scratch->open, &begin_ns);
	state = (struct nt_state *)&scratch->open[n];
	__builtin_memset(state, 0, sizeof(*state));
	state->end_ns = now_ns;
	state->kind = NT_STATE;
	state->n_open = n;
	state->reason = reason;
	state->task = cpu->current_key;
	nt_state_written(cpu, now_ns);
	nt_emit_with_opens(cpu, cpu_id, NT_PROGRAM_control, scratch, sizeof(*state), NT_STATE, n, now_ns, begin_ns);
	nt_scratch_put(cpu);
	return 0;
}

/*
 * Run by the recorder on a CPU of its choice, once to open its gate and once to close it. It runs
 * there in an interrupt, or in the recorder itself if that is on the CPU already.
 */
SEC("raw_tp")
int nt_control(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 command = ctx->args[0], now_ns;
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	now_ns = bpf_ktime_get_ns();
	nt_check_current(cpu, cpu_id, bpf_get_current_task_btf(), now_ns);
	if (command == NT_CONTROL_START && !cpu->gate) {
		cpu->start_ns = now_ns;
		cpu->gate = 1;
		cpu->identity_gate = 1;
		nt_write_state(cpu_id, now_ns, NT_STATE_START);
		if (nt_config.probe_memory)
			nt_note_faults(cpu, bpf_get_current_task_btf(), now_ns);
	} else if (command == NT_CONTROL_STOP && cpu->gate) {
		if (nt_config.probe_memory)
			nt_write_faults(cpu, cpu_id, NT_PROGRAM_control, bpf_get_current_task_btf(), now_ns);
		nt_write_state(cpu_id, now_ns, NT_STATE_STOP);
		cpu->gate = 0;
		cpu->identity_gate = 0;
		cpu->stop_ns = now_ns;
	} else if (command == NT_CONTROL_FLUSH && cpu->lossy) {
		nt_flush_losses(cpu_id, now_ns);
	} else if (command == NT_CONTROL_REFRESH && cpu->gate) {
		nt_refresh(cpu, cpu_id, now_ns);
	}
	nt_count(cpu, NT_PROGRAM_control, NT_OUTCOME_noted);
	return 0;
}
