/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stamps.h - makes the kernel timestamp packets, for as long as the recorder lives.
 */
#pragma once

#include <stdbool.h>

/*
 * Opens a socket that asks for receive times, and waits until they come, a signal does, or five seconds have passed;
 * *come says whether they do, or there was no way to ask. While it is open, the kernel notes the time of every packet
 * of the host. Its end, by close or with the process, undoes that. The descriptor, or a negative errno.
 */
int nt_stamps_open(bool *come);
