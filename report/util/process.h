/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process.h - runs a function in a process of its own, within bounds, and takes what it writes. So it may take memory
 * and time, or even fail, and its caller does not. The caller waits with poll, and may wait for more than this.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nt_process_bounds {
	int64_t time_ns;
	size_t memory_bytes; /* of its data, and of each file that it writes; 0: no bound */
	size_t out_bytes; /* of its output; more is NT_PROCESS_TOO_LONG */
	size_t err_bytes; /* of its sentences; what is behind is left out */
	int nice; /* more than its caller's */
};

enum nt_process_state {
	NT_PROCESS_RUNS,
	NT_PROCESS_ENDED, /* by itself */
	NT_PROCESS_LATE,
	NT_PROCESS_TOO_LONG,
	NT_PROCESS_NO_MEMORY /* the caller has none for what it writes */
};

/* Not terminated by a zero. */
struct nt_process_stream {
	int fd;
	char *text; /* NULL: nothing yet. Its taker sets it to NULL. */
	size_t size, room, most;
	bool is_cut; /* what is behind `most` is left out */
};

struct nt_process {
	enum nt_process_state state;
	pid_t pid;
	uint64_t end_ms;
	struct nt_process_stream out, err;
};

/*
 * Runs `run` in a new process: `in` is its standard input, the streams its standard output and error, and it has no
 * other file. Its exit code is that of run. It ends with the thread that started it. Where that thread is not the
 * only one, run must not take a lock before it has called exec. 0, or -1: errno; nothing is to be released then.
 */
int nt_process_start(struct nt_process *process, const struct nt_process_bounds *bounds, int in, int (*run)(void *arg),
		     void *arg);

/* These wait for it: fills in what to poll for; so many ms it may run yet, for poll; takes what poll found. Only while
 * the state is NT_PROCESS_RUNS. */
#define NT_PROCESS_FDS 2
void nt_process_poll(const struct nt_process *process, struct pollfd fds[NT_PROCESS_FDS]);
int nt_process_left_ms(const struct nt_process *process);
void nt_process_take(struct nt_process *process, const struct pollfd fds[NT_PROCESS_FDS]);

/* Ends it if it has not ended by itself. Gives its status, as waitpid does; its state is the last one then. */
int nt_process_end(struct nt_process *process);
/* After it has ended: frees what it wrote. */
void nt_process_release(struct nt_process *process);
