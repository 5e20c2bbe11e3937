// SPDX-License-Identifier: GPL-2.0-only
/*
 * irq.bpf.c - probe `irq`: hard interrupts, by the handlers of devices and, on x86, by the vectors that have
 * a pair of tracepoints. One program serves all vectors: they give their number. When interrupts nest, the
 * outermost makes the record. The recorder attaches ends before begins, so that a begin never stays open.
 */
#include "bpf/emit.h"

static __always_inline int irq_begin(__u32 program, __u8 type, __u32 number)
{
	__u64 now_ns = bpf_ktime_get_ns();
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	nt_count(cpu, program, NT_OUTCOME_noted);
	if (cpu->irq_depth) {
		cpu->irq_depth++;
		return 0;
	}
	nt_check_current(cpu, cpu_id, bpf_get_current_task_btf(), now_ns);
	cpu->irq_depth = 1;
	cpu->irq_type = type;
	cpu->irq_number = number;
	cpu->irq_begin_ns = now_ns;
	return 0;
}

static __always_inline int irq_end(__u32 program)
{
	__u64 now_ns = bpf_ktime_get_ns();
	struct nt_irq record = {};
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (!cpu->irq_depth) {
		nt_count(cpu, program, NT_OUTCOME_skipped_no_entry);
		return 0;
	}
	if (--cpu->irq_depth) {
		nt_count(cpu, program, NT_OUTCOME_skipped_nested);
		return 0;
	}
	if (!cpu->softirq_begin_ns)
		cpu->irq_end_ns = now_ns;
	cpu->irqs_ns += now_ns - cpu->irq_begin_ns;
	if (!cpu->gate) {
		nt_count(cpu, program, NT_OUTCOME_skipped_gate);
		return 0;
	}
	record.end_ns = now_ns;
	record.kind = NT_IRQ;
	record.type = cpu->irq_type;
	record.number = cpu->irq_number;
	record.dur_ns = now_ns - cpu->irq_begin_ns;
	nt_emit_event(cpu, cpu_id, program, &record, sizeof(record), cpu->irq_begin_ns);
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(nt_irq_handler_entry, int irq)
{
	return irq_begin(NT_PROGRAM_irq_handler_entry, NT_IRQ_DEVICE, irq);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(nt_irq_handler_exit, int irq)
{
	return irq_end(NT_PROGRAM_irq_handler_exit);
}

SEC("raw_tp")
int nt_vector_entry(struct bpf_raw_tracepoint_args *ctx)
{
	return irq_begin(NT_PROGRAM_vector_entry, NT_IRQ_VECTOR, (__u32)ctx->args[0]);
}

SEC("raw_tp")
int nt_vector_exit(struct bpf_raw_tracepoint_args *ctx)
{
	return irq_end(NT_PROGRAM_vector_exit);
}
