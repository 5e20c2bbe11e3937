/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_files.h - finds the programs and libraries of user-space frames. A frame brings the build id of its file, or
 * only an address; the process's /proc/PID/maps tells the file, if the process still exists. A thread does this, since
 * files may have to come from a disk.
 */
#pragma once

#include <pthread.h>

#include "record/ids.h"

/* A file that is known by its build id, or looked for by an address in a process. */
struct nt_user_file {
	uint8_t build_id[NT_BUILD_ID_LEN];
	uint32_t pid; /* of a process that has it mapped */
	uint8_t state; /* enum nt_user_file_state */
	uint64_t address; /* 0: by its build id */
	uint64_t key; /* of the symbol at this address */
	uint64_t file_offset; /* of the address, when the file is found */
	char path[sizeof(((struct nt_user_symbol *)0)->path)];
};

enum nt_user_file_state {
	NT_FILE_WANTED,
	NT_FILE_ASKED, /* the thread is looking */
	NT_FILE_FOUND,
	NT_FILE_GONE /* not to be found in that process; another may have it */
};

#define NT_FILES_ASKED 1024
#define NT_FILES_MAX 8192 /* beyond, addresses stay without a file */
#define NT_FILES_MOST                                                                                                  \
	(2 * NT_FILES_MAX) /* beyond, build ids stay without a path: each new symbol goes through all that are known   \
			    */

struct nt_user_files {
	struct nt_user_file *files;
	size_t n, capacity;
	/* The thread's, while it looks. */
	struct nt_user_file *asked;
	size_t *asked_at; /* where each stands in `files` */
	size_t n_asked;
	size_t n_news; /* of `asked`, when the thread has done: paths that symbols put before may lack */
	pthread_t reader;
	bool is_reading;
	int has_read;
};

/* Zero-initialised is empty. */
void nt_user_files_release(struct nt_user_files *files);
/* The path of the file of this build id, "" if it is not known (then it is looked for in this process). */
const char *nt_user_files_path(struct nt_user_files *files, const uint8_t *build_id, uint32_t pid);
/* Has the file looked for that this process has at an address; the symbol of this key is then put again. */
void nt_user_files_want(struct nt_user_files *files, uint64_t key, uint64_t address, uint32_t pid);
/* Puts the paths that have been found since, and has others looked for. is_last: waits for them. 0 or -ENOMEM. */
int nt_user_files_resolve(struct nt_user_files *files, struct nt_ids *ids, uint64_t now_ns, bool is_last);
