source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
flood_start "$(scaled 20000)"
recording_start /tmp/zd.tape
"$report" export prometheus /tmp/zd.tape --follow 1 -o /tmp/zd.prom 2>/tmp/zd.log &
f=$!
sleep 10
cp /tmp/zd.prom /tmp/zd.mid
recording_stop
wait $f
cat /tmp/zd.log
"$report" export prometheus /tmp/zd.tape -o /tmp/zd.whole
finish
