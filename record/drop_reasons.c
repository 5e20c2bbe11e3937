// SPDX-License-Identifier: GPL-2.0-only
/* drop_reasons.c - see drop_reasons.h. */
#include "record/drop_reasons.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

/* NO_SOCKET, of the kernel's SKB_DROP_REASON_NO_SOCKET. */
static const char *reason_name(const char *name)
{
	static const char *const prefixes[] = {"SKB_DROP_REASON_", "SKB_"};

	for (size_t i = 0; i < 2; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return name + strlen(prefixes[i]);
	return name;
}

static int read_values(struct nt_drop_reasons *reasons, const struct btf *btf, const struct btf_type *type)
{
	const struct btf_enum *values = btf_enum(type);

	reasons->records = calloc((size_t)btf_vlen(type) + 1, sizeof(*reasons->records));
	if (!reasons->records)
		return -ENOMEM;
	for (; reasons->n < btf_vlen(type); reasons->n++) {
		struct nt_drop_reason *record = &reasons->records[reasons->n];

		record->kind = NT_DROP_REASON;
		record->number = (uint32_t)values[reasons->n].val;
		snprintf(record->name, sizeof(record->name), "%s",
			 reason_name(btf__name_by_offset(btf, values[reasons->n].name_off)));
	}
	return 0;
}

/* The type information is some megabytes: it is not kept. */
int nt_drop_reasons_read(struct nt_drop_reasons *reasons)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, "skb_drop_reason", BTF_KIND_ENUM) : -ENOENT;
	int error = id > 0 ? read_values(reasons, btf, btf__type_by_id(btf, (uint32_t)id)) : 0;

	btf__free(btf);
	return error;
}

void nt_drop_reasons_release(struct nt_drop_reasons *reasons)
{
	free(reasons->records);
	*reasons = (struct nt_drop_reasons){0};
}

int nt_drop_reasons_put(const struct nt_drop_reasons *reasons, struct nt_ids *ids, uint64_t now_ns)
{
	union nt_any record;
	int error = 0;

	for (size_t i = 0; i < reasons->n && !error; i++) {
		memset(&record, 0, sizeof(record));
		record.as_drop_reason = reasons->records[i];
		record.as_drop_reason.end_ns = now_ns;
		error = nt_ids_put(ids, &record);
	}
	return error;
}
