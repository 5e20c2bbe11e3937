/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pairing.h - finds the samples of two hooks that belong to the same packet: they have the same stamp (when it was
 * received, or queued at the device that sends it) and, where both know it, the same socket. Pure; constant memory and
 * time for a sample.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many samples of the first hook with the same stamp wait at most; more than some have the same only on a strange
 * clock. */
#define NT_PAIRING_WAITING 64

struct nt_pairing_sample {
	int64_t stamp_ns, ts;
	int64_t socket_id; /* 0: not known */
	double weight;
	bool is_hol;
	bool is_beside; /* here for the sake of pairs only: if alone, it is not counted */
};

/* Zero-initialise. */
struct nt_pairing {
	struct nt_pairing_sample waiting[NT_PAIRING_WAITING]; /* of the first hook, all with one stamp, oldest first */
	size_t n_waiting;
	uint64_t first_alone, second_alone;
};

/* Takes a sample of the first hook. Samples of both hooks come in the order of (stamp_ns, ts). */
void nt_pairing_first(struct nt_pairing *pairing, const struct nt_pairing_sample *sample);
/* Takes a sample of the second hook; true: *first is the one that belongs to it. */
bool nt_pairing_second(struct nt_pairing *pairing, const struct nt_pairing_sample *sample,
		       struct nt_pairing_sample *first);
/* No more will come. */
void nt_pairing_end(struct nt_pairing *pairing);
