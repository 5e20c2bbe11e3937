# SPDX-License-Identifier: GPL-2.0-only
#
# Softirqs of a PREEMPT_RT kernel as ftrace saw them: counts, for each CPU, what ended in a window, how many of those
# were preempted, and for how long their tasks were on the CPU inside of them. Input: ftrace's text, of the events
# sched_switch, softirq_entry and softirq_exit with trace_clock mono. -v from=SECONDS -v to=SECONDS; prints "CPU SPANS
# PREEMPTED ON_NS". It shares nothing with nettape, but that both ask the kernel.

# A softirq belongs to the task on the CPU: key is both.
function key() { return cpu SUBSEP task[cpu] }

!match($0, /\[[0-9][0-9][0-9]\]/) { next }
{
    cpu = substr($0, RSTART + 1, 3) + 0
    n = split(substr($0, RSTART + RLENGTH), word, " ")
    # Flags, time with a colon, event with a colon, its fields
    now = word[2] + 0
    event = word[3]
}
event == "sched_switch:" {
    k = key()
    if (k in begun) {
        spent[k] += now - begun[k]
        away[k] = 1
        delete begun[k]
        left[k] = 1
    }
    task[cpu] = $0
    sub(/.*next_pid=/, "", task[cpu])
    sub(/ .*/, "", task[cpu])
    k = key()
    if (k in left) {
        begun[k] = now
        delete left[k]
    }
}
event == "softirq_entry:" { k = key(); begun[k] = now; spent[k] = 0; away[k] = 0 }
event == "softirq_exit:" {
    k = key()
    if (k in begun && now >= from && now < to) {
        spans[cpu]++
        preempted[cpu] += away[k]
        on[cpu] += spent[k] + now - begun[k]
    }
    delete begun[k]
}
END { for (cpu in spans) printf "%d %d %d %.0f\n", cpu, spans[cpu], preempted[cpu], on[cpu] * 1e9 }
