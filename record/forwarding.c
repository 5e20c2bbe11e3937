// SPDX-License-Identifier: GPL-2.0-only
/* forwarding.c - see forwarding.h. */
#include "record/forwarding.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netconf.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "record/host_programs.h"
#include "record/netns.h"

/* ---- what the kernel tells of a namespace ---- */

#define DUMP_BYTES (32 * 1024) /* the kernel fills at most so much at once */

/* Looks at a part of a message. */
typedef bool (*attribute_test)(const struct rtattr *attribute);

static bool any_attribute(const struct rtattr *attribute, int size, attribute_test is_it)
{
	for (; RTA_OK(attribute, size); attribute = RTA_NEXT(attribute, size)) {
		if (is_it(attribute))
			return true;
	}
	return false;
}

/* Of which objects the kernel is asked, and what tells that one forwards. */
struct question {
	uint16_t type;
	uint8_t family;
	size_t header; /* bytes before the attributes of an answer */
	attribute_test forwards;
};

enum answer { FORWARDS, NOT_SO_FAR, NOT };

static bool lacks_family(const struct nlmsghdr *message)
{
	return NLMSG_PAYLOAD(message, 0) >= sizeof(struct nlmsgerr) &&
	       ((const struct nlmsgerr *)NLMSG_DATA(message))->error == -EOPNOTSUPP;
}

/* What cannot be told may forward. */
static enum answer read_answer(const struct question *question, const void *data, int size)
{
	const struct nlmsghdr *message = data;

	for (; NLMSG_OK(message, (unsigned int)size); message = NLMSG_NEXT(message, size)) {
		const struct rtattr *first = (void *)((char *)NLMSG_DATA(message) + NLMSG_ALIGN(question->header));

		if (message->nlmsg_type == NLMSG_DONE)
			return NOT;
		if (message->nlmsg_type == NLMSG_ERROR)
			return lacks_family(message) ? NOT : FORWARDS;
		if (any_attribute(first, (int)NLMSG_PAYLOAD(message, question->header), question->forwards))
			return FORWARDS;
	}
	return NOT_SO_FAR;
}

static bool ask(int rtnetlink, const struct question *question)
{
	const struct {
		struct nlmsghdr header;
		union {
			struct netconfmsg conf;
			struct ifinfomsg link;
			struct tcmsg qdisc;
		};
	} request = {
		.header.nlmsg_len = NLMSG_LENGTH(question->header),
		.header.nlmsg_type = question->type,
		.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.conf.ncm_family = question->family, /* the first byte of each */
	};
	_Alignas(struct nlmsghdr) char buffer[DUMP_BYTES];
	enum answer answer = NOT_SO_FAR;

	if (send(rtnetlink, &request, request.header.nlmsg_len, 0) < 0)
		return true;
	while (answer == NOT_SO_FAR) {
		const ssize_t size = recv(rtnetlink, buffer, sizeof(buffer), MSG_TRUNC);

		if (size <= 0 || size > DUMP_BYTES)
			return true;
		answer = read_answer(question, buffer, (int)size);
	}
	return answer == FORWARDS;
}

static bool is_on(const struct rtattr *attribute)
{
	int32_t value;

	if (RTA_PAYLOAD(attribute) < sizeof(value))
		return false;
	memcpy(&value, RTA_DATA(attribute), sizeof(value));
	return value != 0;
}

static bool is_router(const struct rtattr *attribute)
{
	return (attribute->rta_type == NETCONFA_FORWARDING || attribute->rta_type == NETCONFA_MC_FORWARDING) &&
	       is_on(attribute);
}

static bool is_label_router(const struct rtattr *attribute)
{
	return attribute->rta_type == NETCONFA_INPUT && is_on(attribute);
}

static bool is_text(const struct rtattr *attribute, const char *text)
{
	return RTA_PAYLOAD(attribute) == strlen(text) + 1 && !memcmp(RTA_DATA(attribute), text, strlen(text) + 1);
}

/* Devices that others are ports of send on what these receive. Those of a bundle, or of a routing domain, do not. */
static bool is_port(const struct rtattr *attribute)
{
	return attribute->rta_type == IFLA_INFO_SLAVE_KIND && !is_text(attribute, "bond") &&
	       !is_text(attribute, "team") && !is_text(attribute, "vrf");
}

static bool has_port(const struct rtattr *attribute)
{
	return (attribute->rta_type & NLA_TYPE_MASK) == IFLA_LINKINFO &&
	       any_attribute(RTA_DATA(attribute), (int)RTA_PAYLOAD(attribute), is_port);
}

/* Where filters can be put before the stack, and redirect. */
static bool may_redirect(const struct rtattr *attribute)
{
	return attribute->rta_type == TCA_KIND && (is_text(attribute, "ingress") || is_text(attribute, "clsact"));
}

bool nt_netns_may_forward(void)
{
	static const struct question questions[] = {
		{RTM_GETNETCONF, AF_INET, sizeof(struct netconfmsg), is_router},
		{RTM_GETNETCONF, AF_INET6, sizeof(struct netconfmsg), is_router},
		{RTM_GETNETCONF, AF_MPLS, sizeof(struct netconfmsg), is_label_router},
		{RTM_GETLINK, AF_UNSPEC, sizeof(struct ifinfomsg), has_port},
		{RTM_GETQDISC, AF_UNSPEC, sizeof(struct tcmsg), may_redirect},
	};
	const int rtnetlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	bool may = rtnetlink < 0;

	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions) && !may; i++)
		may = ask(rtnetlink, &questions[i]);
	if (rtnetlink >= 0)
		close(rtnetlink);
	return may;
}

/* ---- of the whole host ---- */

/* Types of programs that may give a packet to another device. */
static bool is_redirecting(enum bpf_prog_type type)
{
	return type == BPF_PROG_TYPE_SCHED_CLS || type == BPF_PROG_TYPE_SCHED_ACT || type == BPF_PROG_TYPE_LWT_IN ||
	       type == BPF_PROG_TYPE_LWT_OUT || type == BPF_PROG_TYPE_LWT_XMIT;
}

/* Modules that send packets on, and need no setting above for that. */
static bool has_module(void)
{
	return !access("/sys/module/ip_vs", F_OK) || !access("/sys/module/nft_fwd_netdev", F_OK);
}

static bool may_forward_there(const char *path, uint32_t inode, void *context)
{
	(void)inode;
	(void)context;
	return nt_enter_netns(path) || nt_netns_may_forward();
}

static void *look_everywhere(void *may)
{
	*(bool *)may = nt_each_netns(may_forward_there, NULL) != 0;
	return NULL;
}

/* By a thread of its own, which need not return from where it went. */
static bool may_any_netns(void)
{
	bool may = true;
	pthread_t thread;

	if (!pthread_create(&thread, NULL, look_everywhere, &may))
		pthread_join(thread, NULL);
	return may;
}

bool nt_host_may_forward(void)
{
	return !nt_sees_all_processes() || has_module() || nt_host_has_program(is_redirecting) || may_any_netns();
}
