/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * denied.h - why a file cannot be read, made or changed, and what to do: names the owner of the file or directory in
 * the way. Looks at the file system; prints nothing.
 */
#pragma once

#define NT_DENIED_MAX 1024

/*
 * Each gives `text`: what goes behind "busy.tape cannot be read: ", without a full stop. `error` is an errno; of those
 * that are no matter of permission it is the system's text.
 */
const char *nt_denied_read(char text[NT_DENIED_MAX], const char *path, int error);
/* A file that is to appear at `path`, or to take the place of the one that is there. */
const char *nt_denied_make(char text[NT_DENIED_MAX], const char *path, int error);
/* The file at `path` is to be changed. */
const char *nt_denied_change(char text[NT_DENIED_MAX], const char *path, int error);
