/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * server.h - nettape-serve beside the recorder (--serve): it shows the tape while it is recorded, and never runs as
 * root. It gets its listening socket as a service of systemd does, and the recorder prints its lines.
 */
#pragma once

#include <stddef.h>

#include "record/child.h"
#include "record/status.h"
#include "record/tape_owner.h"

struct nt_server {
	struct nt_child child;
	const struct nt_record_options *options;
	pid_t recorder;
	int listener; /* 0, as the next: not open */
	int said_fd, its_said_fd; /* a pipe: its standard output and error */
};

/*
 * Makes it ready to serve the tape that the options name, as that tape's owner. `signals` as for a child. 0, or a
 * negative errno and a sentence with the remedy in `message`. Release it in any case.
 */
int nt_server_prepare(struct nt_server *server, const struct nt_record_options *options, const sigset_t *signals,
		      char *message, size_t size);
void nt_server_go(struct nt_server *server);
/*
 * Prints on standard error what it has said, and that it has ended, if it has. Does not wait, neither for the server
 * nor for standard error. Nothing happens without a server.
 */
void nt_server_print(struct nt_server *server, struct nt_status *status);
/* Ends it, and waits for that. */
void nt_server_release(struct nt_server *server);
