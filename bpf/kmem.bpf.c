// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmem.bpf.c - probe `kmem`: memory that the kernel takes, how much, where in its code, and in whose time: a task's, a
 * softirq's, an interrupt's.
 */
#include "bpf/emit.h"
#include "bpf/thinning.h"

/* A softirq is known without the probe irq, which tells tasks from interrupts. */
static __always_inline __u8 context_of(const struct nt_cpu *cpu)
{
	if (cpu->softirq_begin_ns && !cpu->irq_depth)
		return NT_CPU_IN_SOFTIRQ;
	return nt_context_of(cpu);
}

static __always_inline void fill_context(struct nt_kmem *record, const struct nt_cpu *cpu)
{
	record->context = context_of(cpu);
	if (record->context == NT_CPU_IN_SOFTIRQ)
		record->vec = cpu->softirq_vec;
	else if (record->context != NT_CPU_IN_HARDIRQ)
		record->task = nt_key_of(bpf_get_current_task_btf());
}

/*
 * `address_at`: which argument of the tracepoint has the address; 0 there: there was no memory. Read by a helper, since
 * 6.1 lets programs load no `const void *`, and newer kernels take pointers to structs for never NULL.
 */
static __always_inline bool has_failed(const __u64 *address_at)
{
	__u64 address = 0;

	bpf_probe_read_kernel(&address, sizeof(address), address_at);
	return !address;
}

static __always_inline int see(__u32 program, __u8 what, __u64 location, __u64 bytes, const __u64 *address_at)
{
	struct nt_thinning *thinning;
	struct nt_kmem record = {};
	struct nt_cpu *cpu;
	__u32 cpu_id, counted;

	cpu = nt_this_cpu_if_on(program, &cpu_id);
	if (!cpu)
		return 0;
	/* Few are large, and most bytes may be theirs. */
	thinning = bytes < NT_KMEM_LARGE ? &cpu->kmem[what][0] : &cpu->kmem[what][1];
	if (nt_thinning_leaves_out(thinning, &nt_config.thinning, cpu->switch_ns, &counted)) {
		cpu->counts.outcome[NT_OUTCOME_skipped_sample][program] += counted;
		return 0;
	}
	record.end_ns = bpf_ktime_get_ns();
	record.kind = NT_KMEM;
	record.what = what;
	record.bytes = bytes;
	record.location = location;
	record.weight = 1u << (thinning->shift & (NT_THINNING_SHIFTS - 1));
	record.flags = has_failed(address_at) ? NT_KMEM_FAILED : 0;
	fill_context(&record, cpu);
	counted += nt_thinning_recorded(thinning, &nt_config.thinning, record.end_ns);
	cpu->counts.outcome[NT_OUTCOME_skipped_sample][program] += counted;
	nt_emit_loose_apart(cpu, cpu_id, program, &record, sizeof(record), NT_KMEM);
	return 0;
}

/* The address is the second argument, then come the bytes that were asked for. */
SEC("tp_btf/kmalloc")
int nt_kmalloc(__u64 *ctx)
{
	return see(NT_PROGRAM_kmalloc, NT_KMEM_kmalloc, ctx[0], ctx[3], &ctx[1]);
}

SEC("tp_btf/kmem_cache_alloc")
int nt_kmem_cache_alloc(__u64 *ctx)
{
	const struct kmem_cache *cache = (const struct kmem_cache *)ctx[2];

	return see(NT_PROGRAM_kmem_cache_alloc, NT_KMEM_cache, ctx[0], cache->size, &ctx[1]);
}

SEC("tp_btf/mm_page_alloc")
int nt_mm_page_alloc(__u64 *ctx)
{
	const __u32 order = (__u32)ctx[1];

	return see(NT_PROGRAM_mm_page_alloc, NT_KMEM_pages, 0,
		   1024ull << ((nt_config.page_kib_shift + order) & NT_KMEM_ORDER_MASK), &ctx[0]);
}
