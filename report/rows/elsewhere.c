// SPDX-License-Identifier: GPL-2.0-only
/*
 * elsewhere.c - the part of rows.h that makes rows of elsewhere_cost: of interrupts' time that network devices' have,
 * and of runs of the network's timers.
 */
#include <errno.h>

#include "report/rows/kernel_names.h"
#include "report/rows/state.h"

int nt_elsewhere_irq_part(void *arg, const struct nt_irq_part *part)
{
	struct nt_elsewhere_cost time = {
		.ts_ns = part->ts_ns,
		.dur_ns = part->dur_ns,
		.cpu = part->cpu,
		.what = NT_ELSEWHERE_HARDIRQ,
		.number = part->number,
	};
	struct nt_rows *rows = arg;
	const char *device;

	if (!nt_view_clip(&rows->time, &time.ts_ns, &time.dur_ns))
		return 0;
	if (part->type != NT_IRQ_DEVICE ||
	    !nt_identities_is_net_irq(&rows->learned->ids, part->type, part->number, &device))
		return 0;
	return nt_rollup_elsewhere(rows->rollup, &time);
}

/*
 * A run's own time counts as if it had been the end of it: of one that reaches over the edge of a bucket, the bucket is
 * not exact. Its time before the view is left out.
 */
int nt_elsewhere_timer(struct nt_rows *rows, uint32_t cpu, const struct nt_net_timer *timer)
{
	const uint64_t start_ns = rows->time.from_ns, end_ns = rows->time.to_ns;
	const uint64_t to_ns = timer->end_ns < end_ns ? timer->end_ns : end_ns;
	const uint64_t own_ns = timer->own_ns < timer->took_ns ? timer->own_ns : timer->took_ns;
	struct nt_elsewhere_cost time = {.cpu = cpu, .what = NT_ELSEWHERE_TIMER, .number = timer->function};

	if (to_ns <= start_ns || timer->end_ns - to_ns >= own_ns)
		return 0;
	time.dur_ns = own_ns - (timer->end_ns - to_ns);
	if (time.dur_ns > to_ns - start_ns)
		time.dur_ns = to_ns - start_ns;
	time.ts_ns = to_ns - time.dur_ns;
	return nt_rollup_elsewhere(rows->rollup, &time);
}

int nt_elsewhere_cost(void *arg, const struct nt_elsewhere_cost *cost)
{
	struct nt_rows *rows = arg;
	struct nt_elsewhere_info info = {.cost = cost};

	if (cost->what == NT_ELSEWHERE_TIMER) {
		info.name = nt_net_timer_name(cost->number);
	} else {
		info.name = nt_identities_irq_name(&rows->learned->ids, NT_IRQ_DEVICE, cost->number);
		nt_identities_is_net_irq(&rows->learned->ids, NT_IRQ_DEVICE, cost->number, &info.device);
		if (!info.name)
			return -ENOMEM;
	}
	return nt_rows_push(rows, NT_TABLE_ELSEWHERE_COST, &info);
}
