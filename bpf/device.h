/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * device.h - network devices as records refer to them: their keys, and their identities, written when a device is first
 * seen and when it has another name.
 */
#ifndef NT_BPF_DEVICE_H
#define NT_BPF_DEVICE_H

#include "bpf/emit.h"

struct nt_seen_devices_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NT_SEEN_DEVICES);
	__type(key, __u32);
	__type(value, struct nt_seen_device);
};

extern struct nt_seen_devices_map nt_seen_devices SEC(".maps");

static __always_inline void nt_announce_device(struct nt_cpu *cpu, __u32 cpu_id, struct net_device *dev, __u64 key,
					       __u64 now_ns)
{
	__u32 place = (__u32)(key ^ key >> 32) & (NT_SEEN_DEVICES - 1);
	struct nt_seen_device *seen = bpf_map_lookup_elem(&nt_seen_devices, &place);
	struct nt_device record = {};
	__u64 name[NT_IFNAME_LEN / 8] = {};

	bpf_probe_read_kernel(name, sizeof(name), dev->name);
	if (!seen || (seen->key == key && seen->name[0] == name[0] && seen->name[1] == name[1]))
		return;
	record.end_ns = now_ns;
	record.kind = NT_DEVICE;
	record.ifindex = (__u32)key;
	record.device = key;
	record.netns = key >> 32;
	__builtin_memcpy(record.name, name, sizeof(record.name));
	if (nt_emit_sample(cpu, cpu_id, NT_PROGRAM_control, &record, sizeof(record), NT_DEVICE, 0, now_ns, 0)) {
		seen->key = key;
		seen->name[0] = name[0];
		seen->name[1] = name[1];
	}
}

/* The key of a device, 0 for none. The gate is open: its identity may be written. */
static __always_inline __u64 nt_key_of_device(struct nt_cpu *cpu, __u32 cpu_id, struct net_device *dev, __u64 now_ns)
{
	__u64 key;

	if (!dev)
		return 0;
	key = nt_device_key(dev->nd_net.net->ns.inum, dev->ifindex);
	nt_announce_device(cpu, cpu_id, dev, key, now_ns);
	return key;
}

#endif
