#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The cost of recording for a server's clients: redis and nginx, at parts of their capacity, under a load that does not
# wait for them (tests/tools/openloop.c). In turns: nothing, nettape, perf and others. Server and clients are on this
# host, in two namespaces. As root, on a quiet machine.
#
#   tests/bench/servers.sh ['redis|nginx']   only the loads whose name matches: redis.30, nginx.full
#   BENCH_PAIRS=20        rounds; in each, each recorder once, in another order
#   SERVER_SECONDS=2      of each measurement
#   RECORDERS="off ..."   of the functions named with_... below; `off` is one of them
#   OTHER=DIR             another build, for the recorder `other`
#
# Printed for each load and recorder: answers a second; quantiles of the latency in us; how busy the CPUs were.
# Then p90 and p99 less those of the same round without a recorder, and the rate over it: the median, and its 95 %
# interval by order statistics. On a virtual machine p99 is often its host's: then p90 says more.
# shellcheck source=tests/bench/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/redis.sh
source tests/redis.sh
pattern=${1:-.}
rounds=${BENCH_PAIRS:-20}
seconds=${SERVER_SECONDS:-2}
read -ra recorders <<<"${RECORDERS:-off default all perf floor}"
connections=50

# ---- who records: with_NAME COMMAND... ----

with_off() { "$@"; }
with_default() { may_lose "$record" -q -o "$work/tape" -- "$@" 2>>"$work/record.log"; }
with_all() { may_lose "$record" -q --probes all -o "$work/tape" -- "$@" 2>>"$work/record.log"; }
with_patient() { may_lose "$record" -q --no-realtime -o "$work/tape" -- "$@" 2>>"$work/record.log"; }
with_other() { may_lose "$OTHER/build/nettape-record" -q -o "$work/tape" -- "$@" 2>>"$work/record.log"; }
with_perf() {
    perf record -q -a -m 2048 -o "$work/tape" \
        -e sched:sched_switch,irq:softirq_entry,irq:softirq_exit,sock:sock_send_length,sock:sock_recv_length \
        -- "$@" 2>>"$work/record.log"
}
with_floor() { build/bench/floor build/bench/floor.bpf.o "$@"; }
with_bpftrace() {
    bpftrace -q -o "$work/bpftrace.log" -c "$(printf '%q ' "$@")" -e '
        tracepoint:irq:softirq_entry { @begin[cpu] = nsecs; }
        tracepoint:irq:softirq_exit /@begin[cpu]/ { @spent[args->vec] = sum(nsecs - @begin[cpu]); }'
}

# ---- the servers ----

nginx_start() {
    # Not from the package's service, which would start on this host.
    local nginx=build/nginx/usr/sbin/nginx i
    if command -v nginx >/dev/null; then
        nginx=$(command -v nginx)
    elif [[ ! -x $nginx ]]; then
        mkdir -p build/nginx
        (cd build/nginx && apt-get download nginx >/dev/null && dpkg -x nginx_*.deb .)
    fi
    mkdir -p "$work/www"
    head -c 1024 /dev/zero | tr '\0' x >"$work/www/index.html"
    cat >"$work/nginx.conf" <<END
daemon off; worker_processes 1; user root; pid $work/nginx.pid; error_log $work/nginx.log;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 1000000000; client_body_temp_path $work/www; proxy_temp_path $work/www;
fastcgi_temp_path $work/www; uwsgi_temp_path $work/www; scgi_temp_path $work/www;
server { listen $addr_b:8080; root $work/www; } }
END
    "${in_b[@]}" "$nginx" -p "$work" -c "$work/nginx.conf" 2>>"$work/nginx.log" &
    keep $!
    for ((i = 0; i < 200; i++)); do
        ! "${in_b[@]}" ss -tln | grep -q ':8080 ' || return 0
        sleep 0.05
    done
    echo "nettape: nginx does not start: $(tail -1 "$work/nginx.log")" >&2
    exit 1
}

# load SERVER RATE SECONDS
declare -A protocol=([redis]=redis [nginx]=http) port=([redis]=6379 [nginx]=8080)
load_of() {
    # On a CPU of its own, so that the scheduler's slices are not in the figures; the recorder may run on either.
    echo "${in_a[@]}" taskset -c 1 "$tools/openloop" "${protocol[$1]}" "$addr_b" "${port[$1]}" $connections "$2" "$3"
}

# ---- measuring ----

busy() {
    awk '/^cpu / { all = 0; for (i = 2; i <= 9; i++) all += $i; print all - $5 - $6, all }' /proc/stat
}

# measure LOAD RECORDER SERVER RATE: adds "rate p50 p90 p99 p99.9 max busy" to a file
measure() {
    local before command
    read -ra command <<<"$(load_of "$3" "$4" "$seconds")"
    rm -rf "$work/tape"
    before=$(busy)
    "with_$2" "${command[@]}" >"$work/figures"
    echo "$(tail -1 "$work/figures") $before $(busy)" |
        awk '{ print $1, $2, $3, $4, $5, $6, 100 * ($9 - $7) / ($10 - $8) }' >>"$work/$1.$2"
}

# interval: of the numbers on standard input, the median and its 95 % interval
interval() {
    sort -g | awk '{ v[NR] = $1 } END {
        half = 0.98 * sqrt(NR); low = int(NR / 2 - half + 0.5); high = int(NR / 2 + half + 1.5)
        if (low < 1) low = 1; if (high > NR) high = NR
        printf "%.4g (%.4g .. %.4g)", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2, v[low], v[high] }'
}
median() { cut -d' ' -f"$1" "$2" | interval | cut -d' ' -f1; }

compare() {
    local load=$1 server=$2 rate=$3 i name order=("${recorders[@]}")
    for ((i = 0; i < rounds; i++)); do
        for name in "${order[@]}"; do measure "$load" "$name" "$server" "$rate"; done
        order=("${order[@]:1}" "${order[0]}")
    done
    printf '%-12s %-9s %9s %8s %8s %8s %8s %6s  %-26s %-26s %s\n' load recorder answers/s p50 p90 p99 p99.9 'busy %' \
        'p90 - off' 'p99 - off' 'rate / off'
    for name in "${recorders[@]}"; do
        local file=$work/$load.$name off=$work/$load.off
        printf '%-12s %-9s %9s %8s %8s %8s %8s %6s' "$load" "$name" "$(median 1 "$file")" "$(median 2 "$file")" \
            "$(median 3 "$file")" "$(median 4 "$file")" "$(median 5 "$file")" "$(median 7 "$file")"
        [[ ! -e $off || $name == off ]] || printf '  %-26s %-26s %s' \
            "$(paste -d' ' "$file" "$off" | awk '{ print $3 - $10 }' | interval)" \
            "$(paste -d' ' "$file" "$off" | awk '{ print $4 - $11 }' | interval)" \
            "$(paste -d' ' "$file" "$off" | awk '{ print $1 / $8 }' | interval)"
        echo
    done
}

(($(nproc --all) > 1)) || { echo "nettape: this takes two CPUs, for the server and for its clients" >&2; exit 1; }
netns_make
echo "nettape: $(uname -srm), $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg), $rounds rounds of $seconds s"
for server in redis nginx; do
    [[ "$server.30 $server.60 $server.full" =~ $pattern ]] || continue
    taskset -p -c 0 $BASHPID >/dev/null
    "${server}_start"
    taskset -p -c "0-$(($(nproc --all) - 1))" $BASHPID >/dev/null
    read -ra command <<<"$(load_of $server 0 2)"
    read -r most _ <<<"$("${command[@]}")"
    echo "$server: $most answers a second at most"
    for part in 30 60 full; do
        [[ $server.$part =~ $pattern ]] || continue
        compare $server.$part $server "$([[ $part == full ]] && echo 0 || echo $((most * part / 100)))"
    done
done
