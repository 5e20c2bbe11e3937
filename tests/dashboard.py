# SPDX-License-Identifier: GPL-2.0-only
"""
The dashboard for Grafana, made of the list of metrics (report/export/prometheus/metrics.h).

    dashboard.py make METRICS         prints docs/monitoring/dashboard.json
    dashboard.py names METRICS FILE   of the names in FILE, such as of alert rules: how many there are, and how many are
                                      no metrics, and these
    dashboard.py queries FILE         prints the query of each panel of a dashboard, as Prometheus understands it:
                                      a line for each, the panel's title and the query, with a tab between them

METRICS is what build/tools/metrics prints. Each metric must be in a panel, and each panel's words on its figures are
those of the metrics that it asks for. cli/monitoring compares the file with this, and live/monitoring asks each query.
"""
import json
import re
import sys

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
CHOSEN = 'job=~"$job",instance=~"$instance"'
NETWORK = 'owner=~"send|recv|net_rx|net_tx"'
WIDTH = 24  # of Grafana's grid


def chosen(metric, *labels):
    return "%s{%s}" % (metric, ",".join([CHOSEN, *labels]))


def rate(by, metric, *labels):
    """How a counter grows a second, as a sum by these labels ("": of all)."""
    of = "sum by (%s) " % by if by else "sum"
    return "%s(rate(%s[$__rate_interval]))" % (of, chosen(metric, *labels))


def share(metric, *labels, by=""):
    """A counter of CPU time, as a share of the time that CPUs were there: by their own clock, not by Prometheus's."""
    return "%s / %s" % (rate(by, metric, *labels), rate(by, "nettape_cpu_seconds_total", 'owner!="offline"'))


def quantile(of, metric, *labels):
    """Of a histogram, for each of these labels."""
    return "histogram_quantile(%s, %s)" % (of, rate(", ".join(["le", *labels]), metric + "_bucket"))


class Panel:
    """A drawing of some queries: pairs of a query and its series' name."""

    def __init__(self, title, unit, *queries, kind="timeseries", width=6, stacked=False, options=None, more=""):
        self.title, self.unit, self.queries, self.kind, self.width = title, unit, queries, kind, width
        self.stacked, self.options, self.more = stacked, options or {}, more


def stat(title, unit, query, *steps, mappings=None):
    """A number, as it is now, or none. Steps are pairs: a color from a value on."""
    thresholds = [{"color": "green", "value": None}, *({"color": color, "value": value} for color, value in steps)]
    return Panel(title, unit, (query, ""), kind="stat", width=4,
                 options={"thresholds": {"mode": "absolute", "steps": thresholds}, "mappings": mappings or []})


def bounds(by, low, high, name):
    return (rate(by, low), "%s at least" % name), (rate(by, high), "%s at most" % name)


def of_group(word, plural):
    """The row of one kind of groups (NT_METRICS_OF_GROUP)."""
    metric, name = "nettape_%s_" % word, "{{%s}}" % word
    return plural, [
        Panel("CPU time", "CPUs", (rate(word, metric + "seconds_total"), name), stacked=True),
        Panel("net_rx that is charged", "CPUs",
              *bounds(word, metric + "net_rx_low_seconds_total", metric + "net_rx_high_seconds_total", name)),
        Panel("Operations", "ops", (rate(word, metric + "operations_total"), name), stacked=True),
        Panel("Bytes", "Bps", (rate(word + ", op", metric + "bytes_total"), name + " {{op}}"), stacked=True)]


BUCKETS = "A figure lies within a bucket, whose bounds are a factor of two apart."


def of_times(title, metric, *labels):
    """Half of all took no longer, and 99 of 100."""
    name = " ".join("{{%s}}" % label for label in labels)
    return Panel(title, "s", (quantile(0.5, metric, *labels), name + " 50 %"),
                 (quantile(0.99, metric, *labels), name + " 99 %"), width=12, more=BUCKETS)


WHOLE = [{"type": "value", "options": {"0": {"text": "no", "color": "red"}, "1": {"text": "yes", "color": "green"}}}]
LAG = "time() - %s" % chosen("nettape_complete_until_seconds")
NO_STATS = "Empty unless nettape-record has --bpf-stats."

ROWS = [
    ("At a glance", [
        stat("Network: share of CPU time", "percentunit", share("nettape_cpu_seconds_total", NETWORK)),
        stat("Not covered: share of CPU time", "percentunit", share("nettape_cpu_seconds_total", 'owner="uncovered"'),
             ("orange", 0.001), ("red", 0.01)),
        stat("Records lost", "percentunit", "%s / (%s + %s)" % (
            rate("", "nettape_records_lost_total"), rate("", "nettape_records_total"),
            rate("", "nettape_records_lost_total")), ("orange", 1e-6), ("red", 0.001)),
        stat("Recorder: share of CPU time", "percentunit", share("nettape_recorder_cpu_seconds_total"),
             ("orange", 0.01), ("red", 0.05)),
        stat("Age of the figures", "s", "max(%s)" % LAG, ("orange", 90), ("red", 180)),
        stat("Nothing is missing", "short", "min(%s)" % chosen("nettape_recording_whole"), mappings=WHOLE)]),
    ("CPU time", [
        Panel("Time that is not idle, by owner", "CPUs",
              (rate("owner", "nettape_cpu_seconds_total", 'owner!~"idle|offline"'), "{{owner}}"),
              stacked=True, width=12),
        Panel("Network's share of each CPU", "percentunit",
              (share("nettape_cpu_seconds_total", NETWORK, by="job, instance, cpu"), "{{instance}} CPU {{cpu}}"),
              width=12)]),
    ("Receiving", [
        Panel("net_rx by who pays for it", "CPUs", (rate("payer", "nettape_net_rx_seconds_total"), "{{payer}}"),
              stacked=True, width=12),
        Panel("Its bounds", "CPUs", *bounds("payer", "nettape_net_rx_low_seconds_total",
                                            "nettape_net_rx_high_seconds_total", "{{payer}}"), width=12)]),
    of_group("program", "Programs"),
    of_group("cgroup", "Containers, pods, units and other cgroups"),
    of_group("port", "Ports of services"),
    ("Sockets", [
        Panel("Operations", "ops", (rate("op", "nettape_socket_operations_total"), "{{op}}"), width=8),
        Panel("Failed operations", "ops", (rate("op", "nettape_socket_operations_failed_total"), "{{op}}"), width=8),
        Panel("Bytes", "Bps", (rate("op", "nettape_socket_bytes_total"), "{{op}}"), width=8)]),
    ("Recording", [
        Panel("Records", "cps", (rate("kind", "nettape_records_total"), "{{kind}}"), stacked=True),
        Panel("Records lost", "cps", (rate("kind", "nettape_records_lost_total"), "{{kind}}"), stacked=True),
        Panel("Age of the figures", "s", (LAG, "{{instance}}")),
        Panel("Problems", "short", (chosen("nettape_recording_problems"), "{{instance}} problems"),
              (chosen("nettape_recording_touched_seconds"), "{{instance}} seconds"),
              (chosen("nettape_sessions"), "{{instance}} recordings")),
        Panel("Hosts", "short", (chosen("nettape_session_info"), ""), kind="table", width=24)]),
    ("Recorder's cost", [
        Panel("CPU time", "CPUs", (rate("instance, mode", "nettape_recorder_cpu_seconds_total"),
                                   "{{instance}} {{mode}}"), stacked=True, width=8),
        Panel("Memory at most", "decbytes", (chosen("nettape_recorder_peak_resident_bytes"), "{{instance}}"), width=8),
        Panel("Written", "Bps", (rate("instance", "nettape_recorder_written_bytes_total"), "{{instance}}"), width=8),
        Panel("Runs in the kernel", "cps", (rate("program", "nettape_recorder_program_runs_total"), "{{program}}"),
              stacked=True, width=8),
        Panel("Runs that the kernel left out", "cps",
              (rate("program", "nettape_recorder_program_misses_total"), "{{program}}"), stacked=True, width=8),
        Panel("Time of these runs", "CPUs", (rate("program", "nettape_recorder_program_seconds_total"), "{{program}}"),
              stacked=True, width=8, more=NO_STATS)]),
]
# Closed rows, of probes that are off unless asked for: titles name these.
PROBE_ROWS = [
    ("Packets: how late, and lost (probes latency, transmit, drops, retransmits)", [
        of_times("Time since a packet's receipt, or its send", "nettape_skb_latency_seconds", "hook"),
        Panel("Packets that are in no figure of it", "pps",
              (rate("hook, reason", "nettape_skb_latency_rejected_total"), "{{hook}} {{reason}}"), width=12),
        Panel("Drops", "pps", (rate("reason", "nettape_skb_drops_total"), "{{reason}}"), stacked=True, width=12),
        Panel("TCP's retransmits", "pps", (rate("what", "nettape_tcp_retransmits_total"), "{{what}}"), stacked=True,
              width=12)]),
    ("Network devices (probe flows)", [
        Panel("Packets", "pps", (rate("device, netns, direction", "nettape_device_packets_total"),
                                 "{{device}} {{netns}} {{direction}}"), width=12),
        Panel("Bytes", "Bps", (rate("device, netns, direction", "nettape_device_bytes_total"),
                               "{{device}} {{netns}} {{direction}}"), width=12)]),
    ("Softirqs and disks (probes raise, block)", [
        of_times("Softirqs: from raise to run", "nettape_softirq_wait_seconds", "vec"),
        Panel("Disks: bytes", "Bps", (rate("device, op", "nettape_block_bytes_total"), "{{device}} {{op}}"), width=12),
        of_times("Disks: time in the device", "nettape_block_device_seconds", "device", "op"),
        of_times("Disks: time in the queue", "nettape_block_queue_seconds", "device", "op")]),
    ("Memory (probes memory, kmem)", [
        Panel("Page faults", "ops", (rate("kind", "nettape_page_faults_total"), "{{kind}}"), stacked=True),
        Panel("Kernel: allocations", "ops",
              (rate("kind, context", "nettape_kernel_allocations_total"), "{{kind}} {{context}}")),
        Panel("Kernel: bytes", "Bps",
              (rate("kind, context", "nettape_kernel_allocated_bytes_total"), "{{kind}} {{context}}")),
        Panel("Kernel: failed", "ops",
              (rate("kind, context", "nettape_kernel_allocations_failed_total"), "{{kind}} {{context}}"))]),
]
HEIGHTS = {"stat": 4, "timeseries": 8, "table": 6}
UNITS = {"CPUs": "suffix:CPUs"}  # of time a second; all others are Grafana's own


def metrics_in(text):
    """Names in it; of the series of a histogram, the histogram's."""
    return [re.sub("_(bucket|count|sum)$", "", name) for name in re.findall(r"\bnettape_[a-z_]+\b", text)]


def read_metrics(path):
    with open(path, encoding="utf-8") as file:
        return {line.split("\t")[0]: line.rstrip("\n").split("\t")[3] for line in file}


# ---- make ----

def targets(panel):
    shape = {"table": {"format": "table", "instant": True}, "stat": {"instant": True}}.get(panel.kind, {"range": True})
    return [{"refId": "ABC"[i], "datasource": SOURCE, "editorMode": "code", "expr": query, "legendFormat": name,
             **shape}
            for i, (query, name) in enumerate(panel.queries)]


def field_config(panel):
    defaults = {"unit": UNITS.get(panel.unit, panel.unit), "min": 0, **panel.options}
    if panel.kind == "timeseries":
        defaults["custom"] = {"lineWidth": 1, "showPoints": "never",
                              "fillOpacity": 60 if panel.stacked else 0,
                              "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"}}
    return {"defaults": defaults, "overrides": []}


def options(panel):
    if panel.kind == "stat":
        return {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "colorMode": "value",
                "graphMode": "none", "textMode": "value"}
    if panel.kind == "table":
        return {"showHeader": True}
    return {"legend": {"displayMode": "table", "placement": "bottom", "showLegend": True, "calcs": ["mean", "max"]},
            "tooltip": {"mode": "multi", "sort": "desc"}}


def table_of_hosts(panel):
    """Prometheus's own columns, and the value of 1, say nothing."""
    hidden = {name: True for name in ("Time", "Value", "__name__", "job")}
    return [{"id": "organize", "options": {"excludeByName": hidden, "indexByName": {}, "renameByName": {}}}] \
        if panel.kind == "table" else []


def drawn(panel, number, x, y, helps):
    asked = dict.fromkeys(name for query, _ in panel.queries for name in metrics_in(query))
    return {"id": number, "type": panel.kind, "title": panel.title, "datasource": SOURCE,
            "description": "\n\n".join([*("`%s`: %s" % (name, helps[name]) for name in asked), panel.more]).strip(),
            "gridPos": {"x": x, "y": y, "w": panel.width, "h": HEIGHTS[panel.kind]},
            "targets": targets(panel), "fieldConfig": field_config(panel), "options": options(panel),
            "transformations": table_of_hosts(panel)}


def all_panels(helps):
    """Rows from top to bottom, and the panels of each from left to right. A closed row has its panels within."""
    found, number, y = [], 0, 0
    for title, panels in ROWS + PROBE_ROWS:
        is_closed = (title, panels) in PROBE_ROWS
        number += 1
        row = {"id": number, "type": "row", "title": title, "collapsed": is_closed, "panels": [],
               "gridPos": {"x": 0, "y": y, "w": WIDTH, "h": 1}}
        x, y, height = 0, y + 1, 0
        placed = []
        for panel in panels:
            if x + panel.width > WIDTH:
                x, y, height = 0, y + height, 0
            number += 1
            placed.append(drawn(panel, number, x, y, helps))
            x, height = x + panel.width, max(height, HEIGHTS[panel.kind])
        if is_closed:
            row["panels"] = placed
            y = row["gridPos"]["y"] + 1
        else:
            y += height
        found += [row] if is_closed else [row, *placed]
    return found


def all_targets(dashboard):
    """Pairs of a panel's title and a target of it."""
    within = [inner for panel in dashboard["panels"] for inner in panel.get("panels", [])]
    return [(panel["title"], target) for panel in dashboard["panels"] + within for target in panel.get("targets", [])]


def variable(name, query):
    return {"name": name, "label": name, "type": "query", "datasource": SOURCE, "definition": query,
            "query": {"query": query, "refId": "StandardVariableQuery"}, "refresh": 2, "sort": 1, "multi": True,
            "includeAll": True, "allValue": ".*", "current": {"text": ["All"], "value": ["$__all"]}, "hide": 0}


def make(helps):
    begun = chosen("nettape_session_info")
    dashboard = {
        "title": "nettape", "uid": "nettape", "tags": ["nettape", "network"],
        "description": "CPU time of the Linux network stack, by nettape-serve.",
        "schemaVersion": 39, "version": 1, "editable": True, "graphTooltip": 1, "refresh": "30s", "timezone": "",
        "time": {"from": "now-1h", "to": "now"}, "links": [],
        "annotations": {"list": [
            {"name": "Recordings that begin", "datasource": SOURCE, "enable": True, "iconColor": "blue",
             "expr": "%s unless max_over_time(%s[1h] offset 1m)" % (begun, begun), "step": "60s",
             "titleFormat": "A recording began",
             "textFormat": "{{instance}}: Linux {{kernel}}"}]},
        "templating": {"list": [
            {"name": "datasource", "label": "data source", "type": "datasource", "query": "prometheus", "hide": 0,
             "current": {}, "includeAll": False, "multi": False, "refresh": 1},
            variable("job", "label_values(nettape_complete_until_seconds, job)"),
            variable("instance", 'label_values(nettape_complete_until_seconds{job=~"$job"}, instance)')]},
        "panels": all_panels(helps)}
    asked = {metric for _, target in all_targets(dashboard) for metric in metrics_in(target["expr"])}
    if set(helps) != asked:
        sys.exit("dashboard.py: in no panel: %s" % " ".join(sorted(set(helps) - asked)))
    print(json.dumps(dashboard, indent=1))


# ---- names, queries ----

def print_unknown(helps, path):
    with open(path, encoding="utf-8") as file:
        names = metrics_in(file.read())
    unknown = [name for name in names if name not in helps]
    print(len(names), len(unknown), *unknown)


def print_queries(path):
    with open(path, encoding="utf-8") as file:
        dashboard = json.load(file)
    for title, target in all_targets(dashboard):
        query = target["expr"].replace("$__rate_interval", "1m").replace("$job", ".*").replace("$instance", ".*")
        print("%s\t%s" % (title, query))


def main(command, *paths):
    if command == "make":
        make(read_metrics(*paths))
    elif command == "names":
        print_unknown(read_metrics(paths[0]), paths[1])
    else:
        print_queries(*paths)


main(*sys.argv[1:])
