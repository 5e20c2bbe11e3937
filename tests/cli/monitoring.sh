#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# docs/monitoring: the dashboard is the one that the list of metrics makes (UPDATE=1 writes it), alerts ask for no other
# metrics, and each of them comes when it must, and only then. live/monitoring asks the dashboard's queries.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
built build/tools/metrics
[[ ! ${UPDATE:-} ]] || make -s build/tools/metrics
files=docs/monitoring
build/tools/metrics >"$work/metrics"
python3 -B tests/dashboard.py make "$work/metrics" >"$work/dashboard.json"
[[ ${UPDATE:-} ]] && cp "$work/dashboard.json" $files/dashboard.json
same "the dashboard is that of the list of metrics" $files/dashboard.json "$work/dashboard.json"
names=$(python3 -B tests/dashboard.py names "$work/metrics" $files/alerts.yml)
all "names in alerts, of no metric" "$names"

if tool=$(bash tests/prometheus.sh promtool 2>"$work/why"); then
    cp $files/alerts.yml tests/cli/monitoring_alerts.yml "$work"
    "$tool" test rules "$work/monitoring_alerts.yml" >"$work/alerts" 2>&1 || bad "alerts: $(<"$work/alerts")"
else
    without "alerts are not tried: $(<"$work/why")"
fi
finish
