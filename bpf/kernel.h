/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - just the kernel fields that the programs read. Offsets here mean nothing: every access is
 * relocated against the running kernel's own type information (CO-RE). A field that differs between
 * kernels is in compat.h.
 */
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info {
	__u32 status;
	__u32 cpu; /* since 5.16 */
};

struct sched_entity {
	unsigned char sched_delayed; /* since 6.12: asleep, and queued only until its lag is worked off */
};

struct kernfs_node {
	__u64 id;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	int level; /* 0: the root */
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1]; /* by enum cgroup_subsys_id */
	struct cgroup *dfl_cgrp; /* of version 2 */
};

/* As of this kernel, when loaded: the numbers depend on what it was built with. */
enum cgroup_subsys_id { cpu_cgrp_id, memory_cgrp_id };

struct ns_common {
	unsigned int inum;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct net {
	struct ns_common ns;
	struct hlist_head *dev_index_head; /* 256 lists of its devices, by the low bits of their indexes */
};

typedef struct {
	struct net *net;
} possible_net_t;

struct in6_addr {
	union {
		__u8 u6_addr8[16];
		__u32 u6_addr32[4];
	} in6_u;
};

typedef struct {
	__s64 counter;
} atomic64_t;

struct sock_common {
	__u32 skc_daddr;
	__u32 skc_rcv_saddr;
	__u16 skc_dport; /* network order */
	__u16 skc_num; /* host order */
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	atomic64_t skc_cookie;
};

struct sk_buff_head {
	struct sk_buff *next, *prev;
	__u32 qlen;
};

struct sock_cgroup_data {
	struct cgroup *cgroup; /* of version 2 */
};

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_receive_queue;
	int sk_rx_dst_ifindex; /* since 5.16: the device that the last packet of an established TCP socket came in by */
	__u16 sk_type;
	__u16 sk_protocol;
	struct socket *sk_socket;
	struct sock_cgroup_data sk_cgrp_data; /* only with CONFIG_SOCK_CGROUP_DATA */
};

struct inet_sock {
	struct sock sk;
	__u16 inet_sport; /* in network order; stays where the socket gives its port back */
};

struct inet_connection_sock {
	void *icsk_ulp_data; /* of MPTCP's: a mptcp_subflow_context */
};

/* A TCP socket below one of MPTCP. */
struct mptcp_subflow_context {
	struct sock *conn; /* that one */
};

struct timer_list {
	void (*function)(struct timer_list *timer);
};

struct hrtimer {
	int (*function)(struct hrtimer *timer); /* private since 6.15: only by name */
	__u8 is_soft; /* expires in softirqs */
};

struct work_struct {
	void (*func)(struct work_struct *work);
};

struct rb_node;

struct rb_root {
	struct rb_node *rb_node;
};

struct tcp_sock {
	__u32 rcv_nxt; /* all up to here has come */
	__u32 copied_seq; /* all up to here has been read */
	__u32 write_seq; /* all up to here was given to be sent */
	__u32 rcv_ooopack; /* segments that came before one that they follow */
	struct rb_root out_of_order_queue; /* segments that wait for one before them */
	struct sk_buff *ooo_last_skb; /* the last of them */
	bool is_mptcp; /* the kernel made it for a socket of MPTCP; only with CONFIG_MPTCP */
};

struct tcp_skb_cb {
	__u32 seq, end_seq;
};

struct sk_buff {
	struct sk_buff *prev; /* stays as it was when the kernel takes a packet from a list of received ones */
	unsigned char *head, *data;
	__u32 tail, end; /* from head on: there the packet's data end, and its shared part begins */
	struct net_device *dev;
	struct sock *sk;
	__s64 tstamp;
	char cb[48];
	unsigned int len, data_len; /* all bytes, and those of them that do not stand at `data` */
	__u16 protocol; /* network order */
	__u16 network_header, transport_header; /* from head on */
	__u16 queue_mapping; /* of a received packet: the queue's number + 1; 0: not known */
	int skb_iif;
	__u8 pkt_type : 3; /* PACKET_HOST: for this host alone */
};

struct skb_shared_info {
	unsigned short gso_segs; /* of what GRO or a local sender merged; else 0 or 1 */
};

struct scm_timestamping_internal;
struct request_sock;
struct msghdr;

struct socket {
	struct file *file;
	struct sock *sk;
};

struct inode {
	unsigned short i_mode;
};

struct file {
	void *private_data;
	struct inode *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

#ifdef __TARGET_ARCH_arm64
struct pt_regs {
	__u64 regs[31];
	__u64 pstate;
	__u64 orig_x0;
	__s32 syscallno;
};
#else
struct pt_regs {
	unsigned long di, si, dx, r10, orig_ax;
};
#endif

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	unsigned int on_cpu, on_rq; /* one byte since 7.2: libbpf fits the load of an unsigned field only */
	unsigned int cpu; /* before 5.16 */
	struct sched_entity se;
	int exit_state; /* 0: it has not exited */
	int prio;
	int pid;
	int tgid;
	int softirq_disable_cnt;
	unsigned long nvcsw, nivcsw;
	__u64 start_time;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	char comm[16];
	void *worker_private; /* since 5.17 */
	struct mm_struct *mm; /* NULL: of a kernel thread, or one that has given its memory up */
	unsigned long min_flt, maj_flt;
	struct files_struct *files;
	struct css_set *cgroups;
};

/* A queue that a device receives by. */
struct netdev_rx_queue {
	struct rps_map *rps_map; /* the CPUs that its packets are given to; NULL: none */
};

struct bpf_prog;

struct bpf_xdp_entity {
	struct bpf_prog *prog;
};

#define XDP_IN_DRIVER 1

struct net_device {
	struct bpf_xdp_entity xdp_state[3];
	possible_net_t nd_net;
	struct netdev_rx_queue *_rx;
	int ifindex;
	unsigned short hard_header_len; /* of the link's header, which a received packet has left behind */
	struct hlist_node index_hlist;
	char name[16];
};

struct napi_struct {
	struct net_device *dev; /* NULL: a CPU's backlog */
	struct task_struct *thread; /* NULL: polled in softirqs */
	unsigned int napi_id;
	unsigned long state;
};

#define NAPI_IN_BUSY_POLL (1u << 6) /* a bit of it; the kernel's enumeration has no name */

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};

/* The fields that tracepoints put into their events; each address points at the kernel's struct. */
struct trace_event_raw_sys_enter {
	long id;
};

struct trace_event_raw_sock_msg_length {
	void *sk;
	int ret, flags;
};

struct trace_event_raw_softirq {
	unsigned int vec;
};

struct trace_event_raw_napi_poll {
	struct napi_struct *napi;
	int work, budget;
};

struct trace_event_raw_net_dev_template {
	void *skbaddr;
};

struct trace_event_raw_net_dev_start_xmit {
	const void *skbaddr;
};

enum skb_drop_reason {
	SKB_NOT_DROPPED_YET = 0,
};

struct trace_event_raw_kfree_skb {
	void *skbaddr;
	enum skb_drop_reason reason; /* since 5.17 */
};

struct trace_event_raw_net_dev_rx_verbose_template {
	const void *skbaddr;
};

/* Of block devices. */
struct gendisk {
	int major, first_minor;
	struct request_queue *queue;
};

struct blk_mq_ops;

struct request_queue {
	const struct blk_mq_ops *mq_ops; /* NULL: the device takes bios, and makes no requests of them */
	struct gendisk *disk; /* NULL: of one that is not a disk */
};

struct block_device {
	struct gendisk *bd_disk;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct bio {
	struct block_device *bi_bdev;
	void *bi_private; /* of the first part of one that was split: the other part */
	struct blkcg_gq *bi_blkg; /* only with CONFIG_BLK_CGROUP */
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	struct bio *bio;
};

#define REQ_OP_MASK 0xff
#define REQ_OP_WRITE 1
#define REQ_OP_FLUSH 2
#define REQ_OP_DRV_IN 32 /* from here on: commands of drivers */

/* Of a kernel thread: at task_struct.worker_private. */
struct kthread {
	void *data; /* of a worker of work queues: its struct worker */
};

struct worker {
	char desc[8]; /* the begin of the work queue's name; or what its work calls itself */
};

/* Of memory. */
struct percpu_counter {
	__s64 count; /* without what CPUs keep to themselves */
};

struct mm_struct {
	struct percpu_counter rss_stat[4]; /* since 6.2 */
	struct task_struct *owner; /* only with CONFIG_MEMCG; NULL: its last task is giving it up */
};

struct kmem_cache {
	unsigned int size; /* of an object, with what the kernel keeps beside it */
};

struct bpf_perf_event_data;
struct irqaction;
struct linux_binprm;

#pragma clang attribute pop

#define PF_EXITING 0x00000004
#define PF_IO_WORKER 0x00000010
#define PF_WQ_WORKER 0x00000020
#define PF_KTHREAD 0x00200000
#define NET_TX_SOFTIRQ 2
#define NET_RX_SOFTIRQ 3
#define TASK_SLEEPING 0x0003 /* TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE */

#define S_IFMT 0170000
#define S_IFSOCK 0140000

#define CLONE_VM 0x00000100

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define AF_NETLINK 16
#define AF_ALG 38
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
