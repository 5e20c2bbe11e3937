// SPDX-License-Identifier: GPL-2.0-only
/* stamps.c - see stamps.h. */
#include "record/stamps.h"

#include <errno.h>
#include <linux/net_tstamp.h>
#include <sys/socket.h>
#include <unistd.h>

int nt_stamps_open(void)
{
	int flags = SOF_TIMESTAMPING_RX_SOFTWARE, err;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}
