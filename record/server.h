/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * server.h - nettape-serve beside the recorder (--serve): it shows the tape while it is recorded, and never runs as
 * root. It gets its listening socket as a service of systemd does, and the recorder prints its lines.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "record/child.h"
#include "record/status.h"

struct nt_server {
	struct nt_child child;
	const struct nt_record_options *options;
	char tape[2 * NT_OUTPUT_MAX]; /* its absolute path */
	/* Descriptors; 0: not open. */
	int listener;
	int said_fd, its_said_fd; /* a pipe: its standard output and error */
	int end_fd, its_end_fd; /* a pipe: its standard input, whose end ends it */
	unsigned char last_said; /* the last byte that was printed */
};

/*
 * Makes it ready to serve the tape that the options name, as that tape's owner. `signals` as for a child. 0, or a
 * negative errno and a sentence with the remedy in `message`. Release it in any case.
 */
int nt_server_prepare(struct nt_server *server, const struct nt_record_options *options, const sigset_t *signals,
		      char *message, size_t size);
void nt_server_go(struct nt_server *server);
/*
 * Prints on standard error what it has said since, and if the recording goes on, that it has ended: to be called once a
 * second. It waits neither for the server nor for a terminal that is stopped. Nothing happens without a server.
 */
void nt_server_print(struct nt_server *server, struct nt_status *status, bool goes_on);
/* Ends it, and waits for that, but for no more than a second. */
void nt_server_release(struct nt_server *server);
