// SPDX-License-Identifier: GPL-2.0-only
/*
 * stages_test.c - the rules of report/symbols/stages.txt on stacks of each kind, as kernels have them; and rules that
 * are not well formed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "report/symbols/stages.h"

/* Below each softirq: what was interrupted, which must not count. */
#define SOFTIRQ                                                                                                        \
	"net_rx_action handle_softirqs do_softirq.part.0 __local_bh_enable_ip __dev_queue_xmit ip6_output "            \
	"udpv6_sendmsg"
#define POLL "__napi_poll " SOFTIRQ
#define VIRTIO "virtnet_receive virtnet_poll " POLL
#define BACKLOG "process_backlog " POLL
#define CORE "__netif_receive_skb_core.constprop.0 __netif_receive_skb_one_core " BACKLOG
#define LIST "__netif_receive_skb_list_core netif_receive_skb_list_internal napi_complete_done virtnet_poll " POLL
#define SYSCALL "__sys_sendto __x64_sys_sendto do_syscall_64 entry_SYSCALL_64_after_hwframe"

static const struct {
	const char *stack; /* the innermost first */
	const char *stage;
	uint8_t family;
} cases[] = {
	/* The driver's own functions, whatever their names. */
	{"mlx5e_skb_from_cqe_linear mlx5e_handle_rx_cqe mlx5e_poll_rx_cq mlx5e_napi_poll " POLL, "driver_poll", 0},
	{"nobody_knows_this __napi_poll.constprop.0 " SOFTIRQ, "driver_poll", 0},
	{"tg3_poll " POLL, "driver_poll", 0},
	{"__napi_poll " SOFTIRQ, "softirq", 0},
	{"ixgbe_poll __napi_poll napi_threaded_poll_loop napi_threaded_poll kthread ret_from_fork", "driver_poll", 0},
	{"_raw_spin_lock net_rx_action handle_softirqs run_ksoftirqd smpboot_thread_fn kthread", "softirq", 0},
	/* XDP */
	{"bpf_prog_6deef7357e7b4530_xdp_drop mlx5e_xdp_handle mlx5e_napi_poll " POLL, "xdp", 0},
	{"bpf_xdp_adjust_head bpf_prog_6deef7357e7b4530_xdp bpf_dispatcher_xdp_func i40e_napi_poll " POLL, "xdp", 0},
	{"bpf_prog_6deef7357e7b4530_xdp do_xdp_generic.part.0 " CORE, "xdp", 0},
	/* GRO */
	{"skb_gro_receive tcp_gro_receive tcp4_gro_receive inet_gro_receive dev_gro_receive napi_gro_receive "
	 "ixgbe_poll " POLL,
	 "gro", 4},
	{"ipv6_gro_receive dev_gro_receive gro_receive_skb napi_gro_receive ixgbe_poll " POLL, "gro", 6},
	{"memcpy dev_gro_receive napi_gro_frags ixgbe_poll " POLL, "gro", 0},
	/* From the driver to a protocol. */
	{CORE, "receive", 0},
	{LIST, "receive", 0},
	{"enqueue_to_backlog netif_rx_internal __netif_rx veth_xmit dev_hard_start_xmit __dev_queue_xmit "
	 "ip_finish_output2 udp_send_skb udp_sendmsg " SYSCALL,
	 "receive", 4},
	/* TC, by classifiers and by programs that are called straight. */
	{"u32_classify tcf_classify tc_run " CORE, "tc", 0},
	{"bpf_prog_111_cls " CORE, "tc", 0},
	{"bpf_prog_111_cls __dev_queue_xmit ip_finish_output2 ip_output ip_send_skb udp_sendmsg " SYSCALL, "tc", 4},
	/* Netfilter, by the nearest caller that has a hook. */
	{"nft_do_chain nft_do_chain_netdev nf_hook_slow " CORE, "netfilter_ingress", 0},
	{"nft_lookup_eval nft_do_chain nft_do_chain_ipv4 nf_hook_slow ip_rcv " CORE, "netfilter_prerouting", 4},
	{"nf_hook_slow nf_hook_slow_list ip_sublist_rcv.isra.0 ip_list_rcv " LIST, "netfilter_prerouting", 4},
	{"ipt_do_table nf_hook_slow ip_sublist_rcv ip_list_rcv " LIST, "netfilter_prerouting", 4},
	{"nf_hook_slow ipv6_rcv " CORE, "netfilter_prerouting", 6},
	{"ip6t_do_table nf_hook_slow ip6_sublist_rcv.constprop.0 ipv6_list_rcv " LIST, "netfilter_prerouting", 6},
	{"nft_do_chain nf_hook_slow ip_local_deliver ip_rcv " CORE, "netfilter_input", 4},
	{"nft_do_chain nf_hook_slow ip6_input ip6_sublist_rcv_finish " LIST, "netfilter_input", 6},
	{"nft_do_chain nf_hook_slow ip_forward ip_rcv_finish ip_rcv " CORE, "netfilter_forward", 4},
	{"nf_hook_slow ip6_forward ip6_rcv_finish " CORE, "netfilter_forward", 6},
	{"nf_hook_slow __ip_local_out ip_local_out ip_send_skb udp_send_skb udp_sendmsg " SYSCALL, "netfilter_output",
	 4},
	{"nf_hook_slow ip_output ip_send_skb udp_send_skb udp_sendmsg " SYSCALL, "netfilter_postrouting", 4},
	{"nf_hook_slow ip6_xmit inet6_csk_xmit __tcp_transmit_skb tcp_write_xmit " SYSCALL, "netfilter_output", 6},
	{"nft_do_chain nf_hook_slow br_handle_frame __netif_receive_skb_core " BACKLOG, "netfilter_bridge", 0},
	{"nf_hook_slow some_module_calls_it", "netfilter_other", 0},
	/* Conntrack is nearer than the hook that asks it. */
	{"hash_conntrack_raw nf_conntrack_in nf_hook_slow ip_rcv " CORE, "conntrack", 4},
	{"nf_nat_inet_fn nf_nat_ipv4_pre_routing nf_hook_slow ip_rcv " CORE, "conntrack", 4},
	/* Bridging, forwarding, delivery. */
	{"br_fdb_find_rcu br_handle_frame_finish br_handle_frame " CORE, "bridge", 0},
	{"__br_forward br_forward br_handle_frame_finish " CORE, "bridge", 0},
	{"ip_forward_finish ip_forward ip_rcv " CORE, "forward", 4},
	{"ip_finish_output2 ip_finish_output ip_output ip_forward ip_rcv_finish " CORE, "forward", 4},
	{"neigh_hh_output ip_finish_output2 ip_output ip_sublist_rcv_finish ip_sublist_rcv " LIST, "control", 4},
	{"ip6_finish_output2 ip6_output __netif_receive_skb_one_core " BACKLOG, "forward", 6},
	{"ip_finish_output2 ip_output __ip_queue_xmit __tcp_transmit_skb tcp_send_ack tcp_rcv_established "
	 "tcp_v4_rcv " CORE,
	 "ip_send", 4},
	{"kfree ip_finish_output2 ip_output ip_forward " CORE, "forward", 4},
	{"fib6_node_lookup ip6_forward ip6_rcv_finish " CORE, "forward", 6},
	{"fib_table_lookup ip_route_input_slow.cold ip_route_input_noref ip_rcv_finish_core.isra.0 ip_rcv " CORE,
	 "ip_receive", 4},
	{"ip_rcv_core.constprop.0.isra.0 ip_list_rcv " LIST, "ip_receive", 4},
	{"ip6_rcv_core ipv6_list_rcv " LIST, "ip_receive", 6},
	{"raw_local_deliver ip_protocol_deliver_rcu ip_local_deliver_finish " CORE, "local_delivery", 4},
	{"ip6_protocol_deliver_rcu ip6_input_finish " CORE, "local_delivery", 6},
	/* Protocols, and telling who waits. */
	{"tcp_rcv_established tcp_v4_do_rcv tcp_v4_rcv ip_protocol_deliver_rcu " CORE, "tcp_receive", 4},
	{"tcp_ack tcp_rcv_established tcp_v6_do_rcv tcp_v6_rcv ip6_protocol_deliver_rcu " CORE, "tcp_receive", 6},
	{"__udp4_lib_lookup __udp4_lib_rcv udp_rcv ip_protocol_deliver_rcu " CORE, "udp_receive", 4},
	{"__udp_enqueue_schedule_skb udpv6_queue_rcv_one_skb __udp6_lib_rcv udpv6_rcv ip6_protocol_deliver_rcu " CORE,
	 "udp_receive", 6},
	{"try_to_wake_up __wake_up_common ep_poll_callback __wake_up_common __wake_up_sync_key sock_def_readable "
	 "tcp_data_ready tcp_v6_rcv " CORE,
	 "wakeup", 6},
	{"__xfrm_policy_check2.constprop.0 udp_queue_rcv_one_skb udp_unicast_rcv_skb ip_protocol_deliver_rcu " CORE,
	 "udp_receive", 4},
	/* Sending. */
	{"udp_sendmsg inet_sendmsg sock_sendmsg " SYSCALL, "udp_send", 4},
	{"udp_sendmsg udpv6_sendmsg inet6_sendmsg sock_sendmsg " SYSCALL, "udp_send", 4},
	{"tcp_sendmsg_locked tcp_sendmsg inet6_sendmsg " SYSCALL, "tcp_send", 6},
	{"__ip_append_data.isra.0 ip_make_skb udp_sendmsg " SYSCALL, "ip_send", 4},
	{"validate_xmit_skb __dev_queue_xmit ip_finish_output2 udp_sendmsg " SYSCALL, "transmit", 4},
	{"pfifo_fast_dequeue __qdisc_run __dev_queue_xmit ip_finish_output2 " SYSCALL, "qdisc", 4},
	{"mlx5e_xmit dev_hard_start_xmit sch_direct_xmit __dev_queue_xmit ip6_finish_output2 " SYSCALL,
	 "driver_transmit", 6},
	{"ixgbe_xmit_frame dev_hard_start_xmit sch_direct_xmit __qdisc_run net_tx_action handle_softirqs",
	 "driver_transmit", 0},
	{"net_tx_action handle_softirqs ip6_output", "softirq", 0},
	{"rep_movs_alternative _copy_from_iter ip_generic_getfrag __ip_append_data ip_make_skb udp_sendmsg " SYSCALL,
	 "copy", 4},
	{"kmem_cache_alloc_node __alloc_skb sock_alloc_send_pskb __ip_append_data udp_sendmsg " SYSCALL, "skb_memory",
	 4},
	{"__x64_sys_sendto do_syscall_64 entry_SYSCALL_64_after_hwframe", "socket", 0},
	/* Receiving by a system call. */
	{"_copy_to_iter simple_copy_to_iter __skb_datagram_iter skb_copy_datagram_iter udp_recvmsg inet_recvmsg",
	 "copy", 4},
	{"__schedule schedule schedule_timeout __skb_wait_for_more_packets __skb_recv_udp udp_recvmsg inet_recvmsg",
	 "wait", 4},
	{"tcp_cleanup_rbuf tcp_recvmsg_locked tcp_recvmsg inet6_recvmsg", "tcp_read", 6},
	{"tcp_v4_do_rcv __release_sock release_sock tcp_recvmsg inet_recvmsg", "tcp_receive", 4},
	/* The recorder's own programs. */
	{"bpf_prog_e9b3859cab4a77c5_nt_softirq_entry bpf_trace_run1 handle_softirqs do_softirq.part.0", "tracing", 0},
	/* Nobody knows. */
	{"", "other", 0},
	{"[unknown] do_something worker_thread", "other", 0},
	{"ip_rcvx", "other", 0},
};

static unsigned int walk(struct nt_stage_rules *rules, const char *stack, struct nt_stage_walk *walked)
{
	char copy[1024], *rest;

	snprintf(copy, sizeof(copy), "%s", stack);
	nt_stage_walk_begin(walked, rules);
	for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
		struct nt_stage_function function = nt_stage_function(rules, name);

		nt_stage_walk_on(walked, &function);
	}
	return nt_stage_walk_end(walked);
}

static void test_stacks(void **state)
{
	struct nt_stage_rules *rules = nt_stage_rules_new();
	struct nt_stage_walk walked;

	(void)state;
	assert_non_null(rules);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *stage = nt_stage_name(rules, walk(rules, cases[i].stack, &walked));

		if (strcmp(stage, cases[i].stage) != 0 || walked.family != cases[i].family)
			print_message("%s\n", cases[i].stack);
		assert_string_equal(stage, cases[i].stage);
		assert_int_equal(walked.family, cases[i].family);
	}
	nt_stage_rules_free(rules);
}

static void test_all_stages_of_a_stack(void **state)
{
	static const char *const passed[] = {"conntrack", "netfilter_prerouting", "ip_receive", "receive", "softirq"};
	struct nt_stage_rules *rules = nt_stage_rules_new();
	struct nt_stage_walk walked;
	uint64_t wanted = 0;

	(void)state;
	walk(rules, "nf_conntrack_in nf_hook_slow ip_rcv " CORE, &walked);
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		wanted |= 1ull << nt_stage_number(rules, passed[i]);
	assert_int_equal(walked.stages, wanted);
	walk(rules, "bpf_prog_1_x igb_poll " POLL, &walked);
	assert_int_equal(walked.stages,
			 1ull << nt_stage_number(rules, "xdp") | 1ull << nt_stage_number(rules, "softirq"));
	walk(rules, "nothing", &walked);
	assert_int_equal(walked.stages, 1ull << NT_STAGE_OTHER);
	nt_stage_rules_free(rules);
}

/* The longest rule decides; a section's star is the hook. */
static void test_reading(void **state)
{
	static const char text[] = "# a comment\n= in  what comes in\nalpha* beta\n4 alpha_four\n= out  what goes "
				   "out\n6 alpha_b*\nx* < beta\n"
				   "= rules_*  rules\nhook\n@ first beta\n@ second gamma\n";
	struct nt_stage_walk walked;
	char error[NT_ERROR_MAX] = "";
	struct nt_stage_rules *rules = nt_stage_rules_parse(text, error);

	(void)state;
	assert_string_equal(error, "");
	assert_string_equal(nt_stage_name(rules, walk(rules, "alphabet", &walked)), "in");
	assert_string_equal(nt_stage_name(rules, walk(rules, "alpha_bet", &walked)), "out");
	assert_int_equal(walked.family, 6);
	assert_string_equal(nt_stage_name(rules, walk(rules, "alpha_four.isra.0", &walked)), "in");
	assert_int_equal(walked.family, 4);
	assert_string_equal(nt_stage_name(rules, walk(rules, "y x1 y beta", &walked)), "out");
	assert_string_equal(nt_stage_name(rules, walk(rules, "x1 alpha beta", &walked)), "in");
	assert_string_equal(nt_stage_name(rules, walk(rules, "hook y beta", &walked)), "rules_first");
	assert_string_equal(nt_stage_name(rules, walk(rules, "hook alphabet", &walked)), "rules_other");
	/* A hook may be all that is said of a function. */
	assert_string_equal(nt_stage_name(rules, walk(rules, "hook gamma beta", &walked)), "rules_second");
	assert_string_equal(nt_stage_text(rules, 1), "what comes in");
	assert_null(nt_stage_name(rules, 60));
	nt_stage_rules_free(rules);
}

/* A rule with callers holds over a function's own rule, unless that is more particular. */
static void test_particular_rules(void **state)
{
	char error[NT_ERROR_MAX] = "";
	struct nt_stage_rules *rules = nt_stage_rules_parse(
		"= first\nsoft\n= in x\nxy*\nz*\nw\n= out y\nx* z* < beta\nw < beta\n= calls\nbeta gamma\n", error);
	struct nt_stage_walk walked;

	(void)state;
	assert_string_equal(error, "");
	assert_string_equal(nt_stage_name(rules, walk(rules, "xy1 beta", &walked)), "in");
	assert_string_equal(nt_stage_name(rules, walk(rules, "x1 beta", &walked)), "out");
	assert_string_equal(nt_stage_name(rules, walk(rules, "z1 beta", &walked)), "out");
	assert_string_equal(nt_stage_name(rules, walk(rules, "w beta", &walked)), "out");
	assert_string_equal(nt_stage_name(rules, walk(rules, "w gamma", &walked)), "in");
	nt_stage_rules_free(rules);
}

/* The last of all rules is an exact one. */
static void test_without_stars(void **state)
{
	char error[NT_ERROR_MAX] = "";
	struct nt_stage_rules *rules = nt_stage_rules_parse("= in x\nbeta beta.b\n4 delta\n= out y\n6 gamma\n", error);
	struct nt_stage_walk walked;

	(void)state;
	assert_string_equal(error, "");
	assert_string_equal(nt_stage_name(rules, walk(rules, "alpha", &walked)), "other");
	assert_string_equal(nt_stage_name(rules, walk(rules, "beta.cold", &walked)), "in");
	assert_string_equal(nt_stage_name(rules, walk(rules, "delta", &walked)), "in");
	assert_int_equal(walked.family, 4);
	assert_string_equal(nt_stage_name(rules, walk(rules, "gamma", &walked)), "out");
	assert_int_equal(walked.family, 6);
	assert_string_equal(nt_stage_name(rules, walk(rules, "gammas", &walked)), "other");
	assert_string_equal(nt_stage_name(rules, walk(rules, "zeta", &walked)), "other");
	nt_stage_rules_free(rules);
}

static void test_refused(void **state)
{
	static const char *const bad[] = {"alpha\n", "=\n", "@ first x\n", "= a_* x\n= b_* y\n", "= a x\n@\n", "@ "};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char error[NT_ERROR_MAX] = "";

		assert_null(nt_stage_rules_parse(bad[i], error));
		assert_non_null(strstr(error, "line"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks),	      cmocka_unit_test(test_all_stages_of_a_stack),
		cmocka_unit_test(test_reading),	      cmocka_unit_test(test_particular_rules),
		cmocka_unit_test(test_without_stars), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
