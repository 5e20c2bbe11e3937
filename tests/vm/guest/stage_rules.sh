#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The rules of report/symbols/stages.txt against the functions of all kernels that are tested, and of this one: a rule
# that fits none of them is a misspelt or renamed function, and is listed.
#
#   tests/vm/guest/stage_rules.sh SERIES=FILE...
#
# FILE: the functions of that series' kernel, one a line, which tests/vm/stage_rules.sh left in a guest. Those of the
# network's modules are added here. Exit status 0 and a line with the numbers, 1 if a rule fits no function.
#
# Some functions are only in kernels with other options, or of other processors; they stand in `known`.
set -euo pipefail
cd "$(dirname "$0")/../../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rules=build/tools/stage_rules

# modules SERIES: the functions of the network's modules, but drivers'. All at once: they are five hundred.
modules() {
    mkdir "$work/$1"
    find "build/vm/kernel-$1/lib" -path '*/kernel/net/*' -name '*.ko*' -exec cp --parents -t "$work/$1" {} +
    find "$work/$1" -name '*.xz' -exec xz -d {} +
    find "$work/$1" -name '*.zst' -exec zstd -qd --rm {} +
    find "$work/$1" -name '*.ko' -exec nm {} + 2>/dev/null | awk '$2 ~ /[tT]/ { print $3 }'
}

awk '$2 ~ /[tT]/ { print $3 }' /proc/kallsyms >"$work/functions"
for of_kernel in "$@"; do
    cat "${of_kernel#*=}" >>"$work/functions"
    modules "${of_kernel%%=*}" >>"$work/functions"
done
sed 's/\..*//' "$work/functions" | LC_ALL=C sort -u >"$work/all"

# Of other processors, of kernels with other options, and static ones that these compilers put into their callers.
tr ' ' '\n' >"$work/known" <<'END'
__arch_copy_from_user __arch_copy_to_user __arm64_sys_* __dev_xmit_skb __ip6_finish_output __udp_rmem_schedule
bond_handle_frame check_heap_object copy_user_fast* dequeue_skb dev_requeue_skb el0_svc* el0t_64_sync*
gro_flush_normal gtp_* invoke_syscall* ip6_list_rcv_finish ip_list_rcv_finish ipv6_raw_deliver ipvlan_handle_frame
macsec_* napi_gro_complete napi_poll netif_receive_generic_xdp netif_receive_skb_internal new_sync_* packet_snd
poll_one_napi raw_send_hdrinc rawv6_send_hdrinc resolve_normal_ct run_filter sch_handle_egress sch_handle_ingress
set_rps_cpu should_deliver sk_mem_* sk_stream_alloc_skb smack_* sock_wait_for_wmem tcp_clean_rtx_queue*
tcp_cong_control tcp_eat_recv_skb tcp_ecn_* tcp_ofo_queue tcp_syn_options tcx_run team_handle_frame tpacket_snd
tso_fragment udp6_hwcsum udp_gso_* wg_* xdp_do_check_flushed xmit_one* xsk_rcv*
END
python3 - "$work/all" <("$rules") "$work/known" >"$work/unknown" <<'END'
import bisect, sys
names, rules, known = ([line.split()[0] for line in open(path, errors='replace') if line.strip()]
                       for path in sys.argv[1:])
exact, known = set(names), set(known)
names = sorted(exact)
for rule in sorted(set(rules) - known):
    at = bisect.bisect_left(names, rule.rstrip('*'))
    if not (rule in exact or rule.endswith('*') and at < len(names) and names[at].startswith(rule[:-1])):
        print(rule)
END
if [[ -s $work/unknown ]]; then
    sed 's/^/fits no function of any kernel: /' "$work/unknown"
    exit 1
fi
echo "$("$rules" | wc -l) rules, of $(wc -l <"$work/all") functions"
