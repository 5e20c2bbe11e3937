// SPDX-License-Identifier: GPL-2.0-only
/*
 * socket_cookies.c - see socket_cookies.h. A socket gets its cookie when somebody first asks for it, and a list by
 * sock_diag(7), which `ss` prints, has the cookie of each.
 */
#include "record/socket_cookies.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>

#include "record/netns.h"

#define LIST_BYTES (32 * 1024) /* the kernel fills at most so much at once */
#define ALL_STATES UINT32_MAX

struct question {
	struct nlmsghdr header;
	struct inet_diag_req_v2 list;
};

/* Whether more of the list is to come. What it says is of no interest. */
static bool goes_on(const void *data, ssize_t size)
{
	const struct nlmsghdr *message = data;

	if (size <= 0)
		return false;
	for (; NLMSG_OK(message, (unsigned int)size); message = NLMSG_NEXT(message, size))
		if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR)
			return false;
	return true;
}

static ssize_t receive(int diag, void *buffer)
{
	ssize_t size;

	do
		size = recv(diag, buffer, LIST_BYTES, 0);
	while (size < 0 && errno == EINTR);
	return size;
}

static void list(int diag, void *buffer, uint8_t family, uint8_t protocol)
{
	const struct question question = {
		.header = {.nlmsg_len = sizeof(question),
			   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.list = {.sdiag_family = family, .sdiag_protocol = protocol, .idiag_states = ALL_STATES},
	};

	if (send(diag, &question, sizeof(question), 0) != (ssize_t)sizeof(question))
		return;
	while (goes_on(buffer, receive(diag, buffer)))
		;
}

static bool list_all(const char *path, uint32_t inode, void *buffer)
{
	static const uint8_t families[] = {AF_INET, AF_INET6}, protocols[] = {IPPROTO_TCP, IPPROTO_UDP};
	int diag;

	(void)inode;
	diag = nt_enter_netns(path) ? -1 : socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (diag < 0)
		return false;
	for (size_t i = 0; i < sizeof(families); i++)
		for (size_t k = 0; k < sizeof(protocols); k++)
			list(diag, buffer, families[i], protocols[k]);
	close(diag);
	return false;
}

static void *list_everywhere(void *buffer)
{
	nt_each_netns(list_all, buffer);
	return NULL;
}

/* By a thread of its own, which need not return from where it went. */
int nt_socket_cookies_make(void)
{
	void *buffer = malloc(LIST_BYTES);
	pthread_t thread;
	int error = buffer ? pthread_create(&thread, NULL, list_everywhere, buffer) : ENOMEM;

	if (!error)
		error = pthread_join(thread, NULL);
	free(buffer);
	return -error;
}
