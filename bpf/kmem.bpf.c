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

static __always_inline int see(__u32 program, __u8 what, __u64 location, __u64 bytes, __u64 address)
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
	record.flags = address ? 0 : NT_KMEM_FAILED;
	fill_context(&record, cpu);
	counted += nt_thinning_recorded(thinning, &nt_config.thinning, record.end_ns);
	cpu->counts.outcome[NT_OUTCOME_skipped_sample][program] += counted;
	nt_emit_loose_apart(cpu, cpu_id, program, &record, sizeof(record), NT_KMEM);
	return 0;
}

SEC("tp_btf/kmalloc")
int BPF_PROG(nt_kmalloc, unsigned long call_site, const void *address, __u64 asked, __u64 taken)
{
	return see(NT_PROGRAM_kmalloc, NT_KMEM_kmalloc, call_site, taken, (__u64)address);
}

SEC("tp_btf/kmem_cache_alloc")
int BPF_PROG(nt_kmem_cache_alloc, unsigned long call_site, const void *address, struct kmem_cache *cache)
{
	return see(NT_PROGRAM_kmem_cache_alloc, NT_KMEM_cache, call_site, cache->size, (__u64)address);
}

SEC("tp_btf/mm_page_alloc")
int BPF_PROG(nt_mm_page_alloc, struct page *page, unsigned int order)
{
	__u64 address = 0;

	/* The verifier takes a tracepoint's argument for one that is never NULL. */
	bpf_probe_read_kernel(&address, sizeof(address), &page);
	return see(NT_PROGRAM_mm_page_alloc, NT_KMEM_pages, 0,
		   1024ull << ((nt_config.page_kib_shift + order) & NT_KMEM_ORDER_MASK), address);
}
