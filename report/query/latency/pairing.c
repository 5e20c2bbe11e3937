// SPDX-License-Identifier: GPL-2.0-only
/*
 * pairing.c - see pairing.h.
 */
#include "report/query/latency/pairing.h"

#include <string.h>

/* The first n that wait do so in vain. */
static void give_up(struct nt_pairing *pairing, size_t n)
{
	for (size_t i = 0; i < n; i++)
		pairing->first_alone += !pairing->waiting[i].is_beside;
}

static void remove_waiting(struct nt_pairing *pairing, size_t i)
{
	pairing->n_waiting--;
	memmove(pairing->waiting + i, pairing->waiting + i + 1, (pairing->n_waiting - i) * sizeof(pairing->waiting[0]));
}

/* Samples that wait with another stamp wait in vain. */
static void come_to_stamp(struct nt_pairing *pairing, int64_t stamp_ns)
{
	if (pairing->n_waiting && pairing->waiting[0].stamp_ns != stamp_ns)
		nt_pairing_end(pairing);
}

void nt_pairing_first(struct nt_pairing *pairing, const struct nt_pairing_sample *sample)
{
	come_to_stamp(pairing, sample->stamp_ns);
	if (pairing->n_waiting == NT_PAIRING_WAITING) {
		give_up(pairing, 1);
		remove_waiting(pairing, 0);
	}
	pairing->waiting[pairing->n_waiting++] = *sample;
}

bool nt_pairing_second(struct nt_pairing *pairing, const struct nt_pairing_sample *sample,
		       struct nt_pairing_sample *first)
{
	come_to_stamp(pairing, sample->stamp_ns);
	for (size_t i = 0; i < pairing->n_waiting; i++) {
		const struct nt_pairing_sample *one = &pairing->waiting[i];

		if (one->socket_id && sample->socket_id && one->socket_id != sample->socket_id)
			continue;
		*first = *one;
		remove_waiting(pairing, i);
		return true;
	}
	pairing->second_alone += !sample->is_beside;
	return false;
}

void nt_pairing_end(struct nt_pairing *pairing)
{
	give_up(pairing, pairing->n_waiting);
	pairing->n_waiting = 0;
}
