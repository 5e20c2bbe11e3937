/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * durable.h - names of files that outlast a crash of the machine.
 */
#ifndef NT_REPORT_OUT_DURABLE_H
#define NT_REPORT_OUT_DURABLE_H

/* Puts the names in the directory of this file on disk. 0, or -1 and errno. */
int nt_sync_directory(const char *path);

#endif
