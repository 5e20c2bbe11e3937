#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Containers by name: --names FILE in every command that shows cgroups, of a tape, of a database, and stored by
# import. All of them must say the same.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed, which changes databases"

built build/tools/perfetto_cat
make_tape containers
make_tape hand
cd "$work"
cat >names.txt <<'NAMES'
# of docker, kubectl and by hand
4f0c91756358 web
containerd://5eed917563583925ffdbd40a64efb2aaffe58638e57add8becaf460fe74f5b1c shop/web-7c9/nginx
2ca4a155-3599-498d-bb9d-4446693fa3ea shop/web-7c9
/lxc.payload.box the box
ffffffffffff nothing that was recorded
NAMES
"$REPORT" import containers.tape -o plain.db >out 2>&1
"$REPORT" import containers.tape -o named.db --names names.txt >out 2>&1
"$REPORT" import hand.tape containers.tape -o two.db --names names.txt >out 2>&1

# ---- SQL ----

columns="SELECT id, runtime, substr(container, 1, 12), pod, unit, name, label FROM cgroup ORDER BY session_id, id"
is "names of a tape" "$("$REPORT" query containers.tape --names names.txt --csv \
    "SELECT id, name, label FROM cgroup WHERE name IS NOT NULL" | tail -n +2)" \
    '1,web,web (4f0c91756358)
2,shop/web-7c9/nginx,shop/web-7c9/nginx (5eed91756358)
3,shop/web-7c9,shop/web-7c9 (5eeda1756358)
6,web,web (4f0c91756358)/system.slice/nginx.service
9,the box,the box (box)'
for what in "cgroup" "net_cost_cgroup"; do
    "$REPORT" query containers.tape --names names.txt --csv "SELECT * FROM $what" >tape.csv
    "$REPORT" query plain.db --names names.txt --csv "SELECT * FROM $what" >plain.csv
    "$REPORT" query named.db --csv "SELECT * FROM $what" >named.csv
    same "$what of a database" plain.csv tape.csv
    same "$what as import stored it" named.csv tape.csv
done
"$REPORT" query containers.tape --csv "$columns" >tape.csv
"$REPORT" query plain.db --csv "$columns" >plain.csv
same "what paths say" plain.csv tape.csv
is "the database is as it was" "$(sqlite3 plain.db "SELECT count(*), count(name) FROM cgroup")" "11|0"
echo "4f0c91756358 renamed" >other.txt
is "another file's name counts, and the others stay" "$("$REPORT" query named.db --names other.txt --csv \
    "SELECT name FROM cgroup WHERE id IN (1, 2)" | tail -n +2 | xargs)" "renamed shop/web-7c9/nginx"
is "each session has its own" "$("$REPORT" query two.db --names other.txt --csv \
    "SELECT session_id, count(*), count(name) FROM cgroup GROUP BY 1" | tail -n +2 | xargs)" "1,2,0 2,11,5"
is "of those that exist, all views are there" \
    "$("$REPORT" query plain.db --names names.txt --csv "SELECT count(*) FROM net_cost_process JOIN cgroup
        ON cgroup.id = cgroup_id WHERE cgroup.name IS NOT NULL" | tail -n +2)" "2"
report 1 query plain.db --names names.txt "DELETE FROM cgroup"
has "nothing is written" "$err" "only statements that read are allowed"

# ---- every command ----

sqlite3 plain.db "INSERT INTO session_meta(session_id, key, value) VALUES (1, 'latency_sample', '1');
    INSERT OR REPLACE INTO session_meta(session_id, key, value)
        VALUES (1, 'probes', 'sched,softirq,irq,socket,latency,stacks');
    INSERT INTO skb_latency(session_id, ts, cpu, hook, utid, latency_ns, stamp_ns, length, queue_len, weight, flags)
        SELECT 1, start_ts + 1000 * column1, 0, 'tcp-socket-read', column2, 1000, 1700000000000000000, 100, 1, 1, ''
        FROM session, (VALUES (1, 1), (2, 3))"
stack_samples plain.db 100000
for by in "summary --by cgroup" "stages --by cgroup" "latency --by cgroup" "flame --by cgroup" \
    "flame --by cgroup --folded" "export html" "export prometheus --by cgroup"; do
    # shellcheck disable=SC2086
    set -- $by
    if [[ $1 == export ]]; then command="$1 $2" && shift 2; else command=$1 && shift; fi
    # shellcheck disable=SC2086
    report 0 $command plain.db "$@" --names names.txt
    has "$by names the container" "$out" "web (4f0c91756358)"
    # shellcheck disable=SC2086
    report 0 $command plain.db "$@"
    has "$by has the id without names" "$out" "docker 4f0c91756358"
    report 2 $command plain.db --names
    has "$by needs a file" "$err" "option '--names' needs a value, such as names.txt"
done
report 0 summary containers.tape --names names.txt
has "summary of a tape" "$out" "shop/web-7c9/nginx (5eed91756358)"
report 0 summary containers.tape --names names.txt --by cgroup --cpu 0
has "of a part" "$out" "web (4f0c91756358)"
report 0 summary containers.tape --names <(echo "4f0c91756358 out of a pipe")
has "a file that is a pipe" "$out" "out of a pipe (4f0c91756358)"
for from in containers.tape plain.db; do
    report 0 export perfetto $from -o trace.pftrace --names names.txt
    holds "a trace of $from" grep -aq "cgroup shop/web-7c9/nginx (5eed91756358)" <("$OLDPWD/build/tools/perfetto_cat" \
        trace.pftrace)
    rm trace.pftrace
done

# ---- a file that is none ----

# refused WHY LINE...: every kind of command says so, and writes nothing
refused() {
    local why=$1
    shift
    printf '%s\n' "$@" >bad.txt
    for command in "summary containers.tape" "summary plain.db" "query plain.db .." "export html containers.tape" \
        "export perfetto containers.tape -o no" "export perfetto plain.db -o no" "import containers.tape -o no"; do
        # shellcheck disable=SC2086
        report 1 $command --names bad.txt
        has "$why" "$err" "bad.txt: line $why"
        nothing "and no output" "$out"
        nothing "and no file" "$(ls no no.partial 2>/dev/null)"
    done
}
refused "1: 'CONTAINER' is no container's id, pod's uid or cgroup's path: begin the line" "CONTAINER ID   NAMES"
refused "2: there is no name behind '5eed': add one." "# names" "5eed"
refused "3: '5eed' is 'b' here and 'a' in line 1: remove one of the lines." "5eed a" "4f0c b" "5eed b"
refused "1: '5eed' is the begin of several containers' ids, 5eed9" "5eed a"
report 1 summary plain.db --names nothing.txt
has "a file that is not there" "$err" "nothing.txt cannot be read: "
cp plain.db view.db
sqlite3 view.db "CREATE TABLE g AS SELECT * FROM cgroup; DROP TABLE cgroup; CREATE VIEW cgroup AS SELECT * FROM g"
report 1 summary view.db --names names.txt
has "a table that is none" "$err" "view.db: its table cgroup is not as nettape-report made it"
head -c 20000000 /dev/zero | tr '\0' '#' >large.txt
report 1 summary plain.db --names large.txt
has "a file that is too large" "$err" "large.txt is longer than 16 MiB"

# Names are the user's, and paths anybody's: neither acts on a terminal, nor in a page.
printf '4f0c91756358 \033[31m<b>&\xff\n' >odd.txt
report 0 summary containers.tape --names odd.txt --by cgroup
lacks "no escape sequence" "$out" $'\033'
report 0 export html containers.tape --names odd.txt
lacks "no markup" "$out" "<b>&"
finish
