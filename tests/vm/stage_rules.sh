#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The rules of report/symbols/stages.txt against the functions of all kernels that are tested, and of this one: a rule
# that fits none of them is a misspelt or renamed function, and is listed. Functions are those of each kernel's own
# table, read in its guest, and of the network's modules.
#
# Some functions are only in kernels with other options, or of other processors; they stand in `known`.
#
# check-all: it boots a guest of each kernel
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
for tool in python3 nm; do
    command -v $tool >/dev/null || skip "$tool is not installed"
done
rules=build/tools/stage_rules
[[ -x $rules ]] || make -s $rules

# modules DIR: the functions of the network's modules, but drivers'
modules() {
    local module
    find "$1/lib" -path '*/kernel/net/*' -name '*.ko*' | while read -r module; do
        case $module in
        *.xz) xz -dc "$module" >"$work/module" && module=$work/module ;;
        *.zst) zstd -qdc "$module" >"$work/module" && module=$work/module ;;
        esac
        nm "$module" 2>/dev/null | awk '$2 ~ /[tT]/ { print $3 }'
    done
}

kernels=0
awk '$2 ~ /[tT]/ { print $3 }' /proc/kallsyms >"$work/functions"
for series in 6.1 6.12 6.12-rt; do
    dir=$(bash tests/vm/guest/kernel.sh $series 2>/dev/null) || { echo "# no kernel $series: $dir"; continue; }
    bash tests/vm/guest/boot.sh -t 200 $series "$work/$series" -- \
        "awk '\$2 ~ /[tT]/ { print \$3 }' /proc/kallsyms >/mnt/functions" >"$work/boot" 2>&1 ||
        { bad "the guest of kernel $series: $(tail -1 "$work/boot")"; continue; }
    at_least "functions of $series" "$(wc -l <"$work/$series/functions")" 10000
    cat "$work/$series/functions" >>"$work/functions"
    modules "$dir" >>"$work/functions"
    kernels=$((kernels + 1))
done
[[ $kernels == 3 ]] || skip "only $kernels of the three kernels are here: what fits none of all cannot be told"
sed 's/\..*//' "$work/functions" | LC_ALL=C sort -u >"$work/all"
echo "# $(wc -l <"$work/all") functions, $("$rules" | wc -l) rules"

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
sed 's/^/# fits nothing: /' "$work/unknown"
is "rules that fit no function of any kernel" "$(wc -l <"$work/unknown")" 0
finish
