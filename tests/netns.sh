# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Two network namespaces joined by a veth pair, for tests, the demo and the bench. To be sourced.
#
#   netns_make      makes them; their names are in $netns_a and $netns_b, their addresses in $addr_a, $addr_b
#   "${in_a[@]}" CMD...  runs a command in one of them, as the same process; "${in_b[@]}" in the other
#   netns_remove    removes them, and ends processes that are still in them; to be called from the caller's EXIT trap,
#                   and harmless if nothing was made
#
# Names carry the caller's process id, so that any number can run side by side. The addresses are from the block
# for benchmarks (RFC 2544) and a private IPv6 one, and exist in the two namespaces only.
netns_a=nettape-$$-a
netns_b=nettape-$$-b
# shellcheck disable=SC2034  # for the sourcing script
{
    addr_a=198.18.0.1
    addr_b=198.18.0.2
    addr6_a=fd6e:7474:6170::1
    addr6_b=fd6e:7474:6170::2
    in_a=(ip netns exec "$netns_a")
    in_b=(ip netns exec "$netns_b")
}
PATH=$PATH:/usr/sbin:/sbin

netns_make() {
    local name
    for name in "$netns_a" "$netns_b"; do
        ip netns add "$name" || return
        ip -n "$name" link set lo up || return
    done
    ip -n "$netns_a" link add veth0 type veth peer name veth0 netns "$netns_b" || return
    ip -n "$netns_a" address add "$addr_a/24" dev veth0 || return
    ip -n "$netns_b" address add "$addr_b/24" dev veth0 || return
    # A kernel without IPv6 is no reason not to run. No duplicate address detection: nobody else is there.
    ip -n "$netns_a" address add "$addr6_a/64" dev veth0 nodad 2>/dev/null || true
    ip -n "$netns_b" address add "$addr6_b/64" dev veth0 nodad 2>/dev/null || true
    ip -n "$netns_a" link set veth0 up || return
    ip -n "$netns_b" link set veth0 up
}

netns_remove() {
    local name
    for name in "$netns_a" "$netns_b"; do
        [[ -e /run/netns/$name ]] || continue
        # Whoever is still in them was started by us: the names are ours alone.
        ip netns pids "$name" 2>/dev/null | xargs -r kill -KILL 2>/dev/null || true
        ip netns delete "$name" || true
    done
}
