// SPDX-License-Identifier: GPL-2.0-only
/*
 * disk.bpf.c - probe `block`: one record per request that a block device completes. Who made it is noted where its
 * bios are queued, since the issue often runs in a thread of the kernel's, and the completion in anybody's interrupt.
 *
 * A bio is noted when it is queued. Its request is known by its first bio: what is merged with that later makes it
 * longer, or comes before that bio and takes its place. A request without bios is known by its own address.
 */
#include "bpf/emit.h"
#include "bpf/places.h"

struct nt_noted_bios_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NT_BIO_SETS);
	__type(key, __u32);
	__type(value, struct nt_bio_set);
};

struct nt_noted_bios_map nt_noted_bios SEC(".maps");

/* Of a bio or request. */
static __always_inline __u64 key_at(const void *address)
{
	return nt_address_key(address, &nt_noted_bios);
}

static __always_inline struct nt_bio_set *set_of(__u64 key)
{
	__u32 number = nt_places_set_of(key, NT_BIO_SETS);

	return bpf_map_lookup_elem(&nt_noted_bios, &number);
}

/* Notes under this key, over what is there from before. */
static __always_inline void note(__u64 key, const struct nt_noted_bio *noted)
{
	struct nt_bio_set *set = set_of(key);

	if (set)
		set->ways[nt_places_take(set->keys, set->ways, sizeof(*noted), key) & (NT_PLACES - 1)] = *noted;
}

/* The cgroup of version 2 that the kernel keeps with a bio; 0: none, or the root, which is nobody's. */
static __always_inline __u64 cgroup_of(struct bio *bio)
{
	struct cgroup *cgroup;

	if (nt_config.cgroups_of != NT_CGROUPS_V2 || !bpf_core_field_exists(bio->bi_blkg))
		return 0;
	cgroup = BPF_CORE_READ(bio, bi_blkg, blkcg, css.cgroup);
	if (!cgroup || !BPF_CORE_READ(cgroup, level) || BPF_CORE_READ(cgroup, root, hierarchy_id))
		return 0;
	return BPF_CORE_READ(cgroup, kn, id);
}

/* A worker of work queues is called by its queue, or as its work says; the threads that write back pages, flush-M:N. */
static __always_inline __u8 payer_of_worker(struct task_struct *task)
{
	struct kthread *kthread;
	struct worker *worker;
	char desc[8] = {};

	if (!bpf_core_field_exists(task->worker_private))
		return NT_IO_PAYER_kernel;
	kthread = task->worker_private;
	worker = BPF_CORE_READ(kthread, data);
	bpf_core_read(desc, sizeof(desc), &worker->desc);
	if (nt_begins_with(desc, "flush-", 6))
		return NT_IO_PAYER_writeback;
	return nt_begins_with(desc, "loop", 4) && desc[4] >= '0' && desc[4] <= '9' ? NT_IO_PAYER_loop
										   : NT_IO_PAYER_kernel;
}

/* Who is charged with a bio that the current task queues. An interrupt that queues one does so in anybody's time. */
static __always_inline void fill_payer(const struct nt_cpu *cpu, struct nt_noted_bio *noted, struct bio *bio)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!task->pid || (nt_config.knows_context && nt_context_of(cpu) != NT_CPU_IN_TASK))
		return;
	noted->task = nt_key_of(task);
	noted->payer = NT_IO_PAYER_task;
	if (!(task->flags & PF_KTHREAD))
		return;
	noted->payer = task->flags & PF_WQ_WORKER ? payer_of_worker(task) : NT_IO_PAYER_kernel;
	noted->cgroup = cgroup_of(bio);
	if (noted->cgroup && noted->payer != NT_IO_PAYER_loop)
		noted->payer = NT_IO_PAYER_cgroup;
}

/* Also outside the recording: what is queued before it may complete in it. */
SEC("tp_btf/block_bio_queue")
int BPF_PROG(nt_block_bio_queue, struct bio *bio)
{
	struct nt_noted_bio noted = {.age = bpf_ktime_get_ns()};
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	fill_payer(cpu, &noted, bio);
	note(key_at(bio), &noted);
	/* A device without requests may hand the same bio on to one below. */
	nt_count(cpu, NT_PROGRAM_block_bio_queue,
		 bio->bi_bdev->bd_disk->queue->mq_ops ? NT_OUTCOME_noted : NT_OUTCOME_noted_stacked);
	return 0;
}

/* What a program reads of memory is no address to the verifier: it has no distance from the map, but from another. */
static __always_inline __u64 key_of_whole(struct bio *part)
{
	__u64 whole = 0, address = 0;

	bpf_core_read(&whole, sizeof(whole), &part->bi_private);
	bpf_probe_read_kernel(&address, sizeof(address), &part);
	return key_at(part) + (whole - address);
}

/* The first part of a bio becomes one of its own, which is not queued again. */
SEC("tp_btf/block_split")
int BPF_PROG(nt_block_split, struct bio *part)
{
	const __u64 whole = key_of_whole(part);
	struct nt_bio_set *set = set_of(whole);
	struct nt_noted_bio noted = {};
	struct nt_cpu *cpu;
	__u32 cpu_id, way;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu || !set)
		return 0;
	way = nt_places_find(set->keys, whole);
	if (way < NT_PLACES)
		noted = set->ways[way & (NT_PLACES - 1)];
	/* Else also: another one, which is gone, may be noted by its address. */
	note(key_at(part), &noted);
	nt_count(cpu, NT_PROGRAM_block_split, way < NT_PLACES ? NT_OUTCOME_noted : NT_OUTCOME_skipped_no_entry);
	return 0;
}

static __always_inline __u8 op_of(const struct request *request)
{
	return request->cmd_flags & REQ_OP_MASK;
}

/* A request is known by its first bio, which was queued: but for a command of the driver's, whose bios are not. */
static __always_inline __u64 key_of(const struct request *request)
{
	struct bio *first = request->bio;

	return first && op_of(request) < REQ_OP_DRV_IN ? key_at(first) : key_at(request);
}

/* A driver may give a request back before it is done (a full queue): the last issue counts. */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(nt_block_rq_issue, struct request *request)
{
	const __u64 key = key_of(request), now_ns = bpf_ktime_get_ns();
	struct nt_bio_set *set = set_of(key);
	struct nt_noted_bio noted = {.age = NT_BIO_IS_ISSUED, .issue_ns = now_ns}, *found;
	struct nt_cpu *cpu;
	__u32 cpu_id, way;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu || !set)
		return 0;
	nt_count(cpu, NT_PROGRAM_block_rq_issue, NT_OUTCOME_noted);
	way = nt_places_find(set->keys, key);
	if (way < NT_PLACES) {
		found = &set->ways[way & (NT_PLACES - 1)];
		found->flags = found->issue_ns ? NT_IO_REQUEUED : 0;
		found->issue_ns = now_ns;
		found->age |= NT_BIO_IS_ISSUED;
		return 0;
	}
	if (op_of(request) == REQ_OP_FLUSH)
		noted.payer = NT_IO_PAYER_shared;
	note(key, &noted);
	return 0;
}

/*
 * Takes what was noted of a request, of which `bytes` are done. False: nothing was, or it has been taken: the queue may
 * have a request written first and the device flushed then, and completes it after both.
 */
static __always_inline bool take_noted(const struct request *request, __u32 bytes, struct nt_noted_bio *noted)
{
	const __u64 key = key_of(request);
	struct nt_bio_set *set = set_of(key);
	__u32 way;

	if (!set)
		return false;
	way = nt_places_find(set->keys, key);
	if (way == NT_PLACES)
		return false;
	way &= NT_PLACES - 1;
	*noted = set->ways[way];
	/* The rest is issued again. */
	if (bytes < request->__data_len) {
		set->ways[way].issue_ns = 0;
		set->ways[way].age &= ~NT_BIO_IS_ISSUED;
	} else {
		set->keys[way] = 0;
	}
	return true;
}

static __always_inline void fill_record(struct nt_block_io *record, const struct request *request,
					const struct nt_noted_bio *noted, __u8 status, __u32 bytes)
{
	const struct gendisk *disk = request->q->disk;
	__u64 issue_ns = noted->issue_ns, queue_ns = noted->age & ~NT_BIO_IS_ISSUED;

	record->kind = NT_BLOCK_IO;
	record->op = op_of(request);
	if (record->op == REQ_OP_WRITE && !request->__data_len)
		record->op = REQ_OP_FLUSH;
	record->payer = noted->payer;
	record->status = status;
	if (disk)
		record->device = (__u32)disk->major << 20 | disk->first_minor;
	record->task = noted->task;
	record->cgroup = noted->cgroup;
	record->bytes = bytes;
	record->flags = noted->flags;
	if (bytes < request->__data_len)
		record->flags |= NT_IO_PARTIAL;
	if (!issue_ns) {
		record->flags |= NT_IO_UNISSUED;
		issue_ns = record->end_ns;
	}
	if (record->end_ns > issue_ns)
		record->dur_ns = record->end_ns - issue_ns;
	if (!queue_ns)
		record->flags |= NT_IO_UNQUEUED;
	else if (issue_ns > queue_ns)
		record->queue_ns = issue_ns - queue_ns;
}

/*
 * A request that only asks for a flush is not issued: the queue makes another one, for all that ask for one then, and
 * completes it with that.
 */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(nt_block_rq_complete, struct request *request, int status, unsigned int bytes)
{
	struct nt_block_io record = {};
	struct nt_noted_bio noted;
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	record.end_ns = bpf_ktime_get_ns();
	if (!take_noted(request, bytes, &noted)) {
		nt_count(cpu, NT_PROGRAM_block_rq_complete, NT_OUTCOME_skipped_no_entry);
		return 0;
	}
	if (!cpu->gate) {
		nt_count(cpu, NT_PROGRAM_block_rq_complete, NT_OUTCOME_skipped_gate);
		return 0;
	}
	fill_record(&record, request, &noted, status, bytes);
	nt_emit_loose_apart(cpu, cpu_id, NT_PROGRAM_block_rq_complete, &record, sizeof(record), NT_BLOCK_IO);
	return 0;
}
