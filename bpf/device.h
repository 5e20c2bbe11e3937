/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * device.h - network devices in records: their keys, and their identities, written when a device is first seen or has a
 * new name.
 */
#pragma once

#include "bpf/emit.h"

struct nt_seen_devices_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NT_SEEN_DEVICES);
	__type(key, __u32);
	__type(value, struct nt_seen_device);
};

extern struct nt_seen_devices_map nt_seen_devices SEC(".maps");

/*
 * In core.bpf.c: writes the identity of a device, unless it has been written by the name that it has. Global, since the
 * stack of 512 bytes has no room for it beside a poll's record.
 */
int nt_announce_device(__u64 device, __u64 key, __u64 now_ns);

/*
 * In core.bpf.c: the same for the device of this index in a network namespace (the kernel's `struct net`, by address),
 * if it is there. Gives 1 if it is.
 */
int nt_announce_ifindex(__u64 net, __u32 ifindex, __u64 now_ns);

/* One of a device's slots. There are several, so that two busy devices do not drive each other out at every packet. */
static __always_inline struct nt_seen_device *nt_device_slot(__u64 key, __u32 number)
{
	__u32 slot = ((__u32)(key * 0x9e3779b97f4a7c15ull >> 40) ^ number) & (NT_SEEN_DEVICES - 1);

	return bpf_map_lookup_elem(&nt_seen_devices, &slot);
}

/* Where a device stands, by whatever name; NULL: it has not been announced. */
static __always_inline struct nt_seen_device *nt_find_device(__u64 key)
{
	struct nt_seen_device *seen;

#pragma unroll
	for (__u32 i = 0; i < NT_DEVICE_SLOTS; i++) {
		seen = nt_device_slot(key, i);
		if (seen && seen->key == key)
			return seen;
	}
	return NULL;
}

static __always_inline bool nt_device_is_announced(__u64 key)
{
	return nt_find_device(key);
}

/* The key of a device, 0 for none. The gate is open: its identity may be written. `is_typed` as for NT_FIELD. */
static __always_inline __u64 nt_key_of_device(struct net_device *dev, bool is_typed, __u64 now_ns)
{
	__u64 key, address = 0;
	struct net *net;

	if (!dev)
		return 0;
	net = NT_FIELD(dev, is_typed, nd_net.net);
	key = nt_device_key(NT_FIELD(net, is_typed, ns.inum), NT_FIELD(dev, is_typed, ifindex));
	/* From a pointer that the verifier tracks to a plain number, as a global function takes it. */
	bpf_probe_read_kernel(&address, sizeof(address), &dev);
	nt_announce_device(address, key, now_ns);
	return key;
}
