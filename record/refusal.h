/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * refusal.h - which program the kernel refuses, and why. libbpf says it, in warnings, while it loads.
 */
#pragma once

struct nt_refusal {
	char program[64]; /* "": libbpf named none */
	char why[200]; /* a clause, "": libbpf said nothing */
};

/*
 * Has what libbpf says from now on noted here, which is emptied; NULL: nowhere. With NETTAPE_DEBUG in the environment
 * all of it is printed, too.
 */
void nt_refusal_listen(struct nt_refusal *refusal);
