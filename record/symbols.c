// SPDX-License-Identifier: GPL-2.0-only
/* symbols.c - see symbols.h. */
#include "record/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

/* No function of the kernel is longer: an address further from the last symbol before it is in none. */
#define LONGEST_FUNCTION (1u << 20)

/* Of the list of modules as it is now: FNV-1a. */
static uint64_t modules_now(void)
{
	FILE *file = fopen("/proc/modules", "re");
	uint64_t hash = 0xcbf29ce484222325ull;
	char line[512], *end;

	while (file && fgets(line, sizeof(line), file)) {
		/* The name and the size; what follows changes with every user. */
		end = strchr(line, ' ');
		end = end ? strchr(end + 1, ' ') : NULL;
		if (end)
			*end = 0;
		for (end = line; *end; end++)
			hash = (hash ^ (unsigned char)*end) * 0x100000001b3ull;
	}
	if (file)
		fclose(file);
	return hash;
}

static int add_symbol(struct nt_symbols *symbols, uint64_t address, const char *name, const char *module)
{
	struct nt_symbol_entry *entries = symbols->entries;
	int err;

	if (symbols->n_entries == symbols->capacity) {
		symbols->capacity = symbols->capacity ? symbols->capacity * 2 : 65536;
		entries = realloc(entries, symbols->capacity * sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		symbols->entries = entries;
	}
	entries[symbols->n_entries].address = address;
	entries[symbols->n_entries].name = symbols->names.size;
	err = nt_buf_append(&symbols->names, name, strlen(name) + 1);
	if (!err)
		err = nt_buf_append(&symbols->names, module, strlen(module) + 1);
	symbols->n_entries += !err;
	return err;
}

static int by_address(const void *a, const void *b)
{
	const struct nt_symbol_entry *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

/* Lines "ADDRESS TYPE NAME" and, for modules, "\t[MODULE]" after it. */
static int read_lines(struct nt_symbols *symbols, FILE *file)
{
	unsigned long long address;
	char line[1024], name[512], module[128], type;
	int err = 0;

	while (!err && fgets(line, sizeof(line), file)) {
		module[0] = 0;
		if (sscanf(line, "%llx %c %511s [%127[^]]", &address, &type, name, module) < 3 || !address || !strchr("tTwW", type))
			continue;
		err = add_symbol(symbols, address, name, module);
	}
	return err;
}

static void release_table(struct nt_symbols *symbols)
{
	free(symbols->entries);
	nt_buf_release(&symbols->names);
}

/* A new table takes the place of the old one when it is whole; one that cannot be read, or hides its addresses, leaves it. */
static int read_table(struct nt_symbols *symbols)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	struct nt_symbols fresh = {};
	int err;

	if (!file)
		return 0;
	symbols->modules = modules_now();
	err = read_lines(&fresh, file);
	fclose(file);
	if (err || !fresh.n_entries) {
		release_table(&fresh);
		return err;
	}
	qsort(fresh.entries, fresh.n_entries, sizeof(*fresh.entries), by_address);
	release_table(symbols);
	symbols->entries = fresh.entries;
	symbols->n_entries = fresh.n_entries;
	symbols->names = fresh.names;
	return 0;
}

int nt_symbols_init(struct nt_symbols *symbols)
{
	symbols->is_on = true;
	symbols->done = 1;
	symbols->btf = btf__load_vmlinux_btf();
	return read_table(symbols);
}

const char *nt_symbols_uncovered(const struct nt_symbols *symbols)
{
	if (!symbols->is_on || symbols->n_entries)
		return NULL;
	return "Where in the kernel's code a packet was dropped has no name: the kernel hid the addresses of its functions (/proc/kallsyms). They show with the capability CAP_SYSLOG, and kernel.kptr_restrict at 0 or 1.";
}

void nt_symbols_release(struct nt_symbols *symbols)
{
	release_table(symbols);
	btf__free(symbols->btf);
	memset(symbols, 0, sizeof(*symbols));
}

/* The last symbol at or before an address; NULL if the address is in no function that is known. */
static const struct nt_symbol_entry *find_symbol(const struct nt_symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->n_entries;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->entries[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - symbols->entries[low - 1].address >= LONGEST_FUNCTION)
		return NULL;
	return &symbols->entries[low - 1];
}

static int put_symbol(const struct nt_symbols *symbols, struct nt_ids *ids, uint64_t address, uint64_t now_ns)
{
	const struct nt_symbol_entry *entry = find_symbol(symbols, address);
	union nt_any record;

	memset(&record, 0, sizeof(record));
	record.as_symbol.end_ns = now_ns;
	record.as_symbol.kind = NT_SYMBOL;
	record.as_symbol.symbol = address;
	if (entry) {
		const char *name = (const char *)symbols->names.data + entry->name;

		record.as_symbol.offset = address - entry->address;
		snprintf(record.as_symbol.name, sizeof(record.as_symbol.name), "%s", name);
		snprintf(record.as_symbol.module, sizeof(record.as_symbol.module), "%s", name + strlen(name) + 1);
	}
	return nt_ids_put(ids, &record);
}

int nt_symbols_resolve(struct nt_symbols *symbols, struct nt_ids *ids, uint64_t now_ns)
{
	struct nt_id_space *space = &ids->spaces[NT_ROLE_SYMBOL];
	int err = 0;

	if (!symbols->is_on || symbols->done >= space->n_entries)
		return 0;
	if (modules_now() != symbols->modules)
		err = read_table(symbols);
	for (; symbols->done < space->n_entries && !err; symbols->done++)
		/* The others are places in programs, and known (stacks.h). */
		if (space->entries[symbols->done].key >> 63)
			err = put_symbol(symbols, ids, space->entries[symbols->done].key, now_ns);
	return err;
}

/* NO_SOCKET, of the kernel's SKB_DROP_REASON_NO_SOCKET. */
static const char *reason_name(const char *name)
{
	static const char *const prefixes[] = { "SKB_DROP_REASON_", "SKB_" };
	size_t i;

	for (i = 0; i < 2; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return name + strlen(prefixes[i]);
	return name;
}

int nt_symbols_put_reasons(const struct nt_symbols *symbols, struct nt_ids *ids, uint64_t now_ns)
{
	int id = symbols->btf ? btf__find_by_name_kind(symbols->btf, "skb_drop_reason", BTF_KIND_ENUM) : -ENOENT;
	const struct btf_type *type = id > 0 ? btf__type_by_id(symbols->btf, id) : NULL;
	const struct btf_enum *values = type ? btf_enum(type) : NULL;
	union nt_any record;
	int err = 0;
	__u16 i;

	for (i = 0; type && i < btf_vlen(type) && !err; i++) {
		memset(&record, 0, sizeof(record));
		record.as_drop_reason.end_ns = now_ns;
		record.as_drop_reason.kind = NT_DROP_REASON;
		record.as_drop_reason.number = values[i].val;
		snprintf(record.as_drop_reason.name, sizeof(record.as_drop_reason.name), "%s",
			 reason_name(btf__name_by_offset(symbols->btf, values[i].name_off)));
		err = nt_ids_put(ids, &record);
	}
	return err;
}
