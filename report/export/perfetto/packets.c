// SPDX-License-Identifier: GPL-2.0-only
/*
 * packets.c - see packets.h. A trace is a message whose only field is the packet, so a file is
 * packets one after the other. A packet that holds others, deflated, stands for them.
 */
#include "report/export/perfetto/packets.h"

#include "report/export/perfetto/fields.h"

int nt_packets_init(struct nt_packets *packets, FILE *out)
{
	*packets = (struct nt_packets){.deflater = nt_deflater_open(out)};
	return packets->deflater ? 0 : -1;
}

void nt_packets_release(struct nt_packets *packets)
{
	nt_deflater_close(packets->deflater);
	nt_proto_release(&packets->batch);
}

struct nt_proto *nt_packets_begin(struct nt_packets *packets, size_t *packet)
{
	*packet = nt_proto_begin(&packets->batch, NT_TRACE_PACKET);
	return &packets->batch;
}

void nt_packets_end(struct nt_packets *packets, size_t packet)
{
	nt_proto_end(&packets->batch, packet);
	if (packets->batch.size >= NT_PACKETS_BATCH || packets->batch.failed)
		nt_deflater_put(packets->deflater, &packets->batch);
}

int nt_packets_finish(struct nt_packets *packets)
{
	if (packets->batch.size)
		nt_deflater_put(packets->deflater, &packets->batch);
	return nt_deflater_finish(packets->deflater) || packets->failed ? -1 : 0;
}
