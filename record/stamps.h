/* SPDX-License-Identifier: GPL-2.0-only */
/* stamps.h - has the kernel note when each packet came, for as long as the recorder lives. */
#ifndef NT_RECORD_STAMPS_H
#define NT_RECORD_STAMPS_H

/*
 * Opens a socket that asks for receive times, and waits until they come: while there is one, the kernel notes the time of every
 * packet of the host. Its end, by close or with the process, undoes that. The descriptor, or a negative errno.
 */
int nt_stamps_open(void);

#endif
