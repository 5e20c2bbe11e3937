// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols.c - see symbols.h.
 */
#include "record/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int add_symbol(struct nt_symbol_table *table, uint64_t address, const char *name, const char *module)
{
	struct nt_symbol_entry *entries = table->entries;
	int error;

	if (table->n_entries == table->capacity) {
		table->capacity = table->capacity ? table->capacity * 2 : 65536;
		entries = realloc(entries, table->capacity * sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		table->entries = entries;
	}
	entries[table->n_entries].address = address;
	entries[table->n_entries].name = table->names.size;
	error = nt_buf_append(&table->names, name, strlen(name) + 1);
	if (!error)
		error = nt_buf_append(&table->names, module, strlen(module) + 1);
	table->n_entries += !error;
	return error;
}

static int by_address(const void *a, const void *b)
{
	const struct nt_symbol_entry *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return left->name < right->name ? -1 : left->name > right->name;
}

/*
 * "ffffffff81000000 T name\t[module]": cut into its parts in place. False: no function, as arm64's $x, which marks
 * where code begins.
 */
static bool parse_line(char *line, uint64_t *address, char **name, const char **module)
{
	char *end, *bracket;

	*address = strtoull(line, &end, 16);
	if (!*address || end[0] != ' ' || !end[1] || !strchr("tTwW", end[1]) || end[2] != ' ' || end[3] == '$')
		return false;
	*name = end + 3;
	*module = "";
	end = *name + strcspn(*name, " \t\n");
	bracket = *end ? strchr(end + 1, '[') : NULL;
	*end = 0;
	if (bracket) {
		bracket[strcspn(bracket, "]\n")] = 0;
		*module = bracket + 1;
	}
	return true;
}

static int read_lines(struct nt_symbol_table *table, FILE *file)
{
	const char *module;
	uint64_t address;
	char line[1024], *name;
	int error = 0;

	while (!error && fgets(line, sizeof(line), file))
		if (parse_line(line, &address, &name, &module))
			error = add_symbol(table, address, name, module);
	return error;
}

/*
 * arm64: a call out of a module may go by way of a table of jumps, which stands before the module's functions and has
 * no symbol. Where a function has the same address, as on other architectures, the later of the two is meant.
 */
static int add_jump_tables(struct nt_symbol_table *table)
{
	FILE *file = fopen("/proc/modules", "re");
	unsigned long long address;
	char line[512], module[64];
	int error = 0;

	while (file && !error && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %*s %*s %*s %*s %llx", module, &address) == 2 && address)
			error = add_symbol(table, address, "[plt]", module);
	if (file)
		fclose(file);
	return error;
}

static void release_table(struct nt_symbol_table *table)
{
	free(table->entries);
	nt_buf_release(&table->names);
	memset(table, 0, sizeof(*table));
}

/* Leaves the table empty if the files cannot be read, or hide their addresses. */
static int read_table(struct nt_symbol_table *table)
{
	FILE *file;
	int error;

	memset(table, 0, sizeof(*table));
	/* First: what comes after this is not surely in the table. */
	table->modules = modules_now();
	file = fopen("/proc/kallsyms", "re");
	if (!file)
		return 0;
	error = add_jump_tables(table);
	if (!error)
		error = read_lines(table, file);
	fclose(file);
	if (error) {
		release_table(table);
		return error;
	}
	if (table->entries)
		qsort(table->entries, table->n_entries, sizeof(*table->entries), by_address);
	return 0;
}

void nt_symbols_look_up(const char *const *names, size_t n, uint64_t *addresses)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	const char *module;
	uint64_t address;
	char line[1024], *name;

	memset(addresses, 0, n * sizeof(*addresses));
	while (file && fgets(line, sizeof(line), file)) {
		if (!parse_line(line, &address, &name, &module))
			continue;
		for (size_t i = 0; i < n; i++)
			if (names[i] && !addresses[i] && !strcmp(name, names[i]))
				addresses[i] = address;
	}
	if (file)
		fclose(file);
}

/* A new table takes the place of the old one, unless nothing is in it. */
static void take_fresh(struct nt_symbols *symbols)
{
	if (symbols->fresh.n_entries) {
		release_table(&symbols->table);
		symbols->table = symbols->fresh;
	} else {
		release_table(&symbols->fresh);
	}
	memset(&symbols->fresh, 0, sizeof(symbols->fresh));
}

static void *run_reader(void *arg)
{
	struct nt_symbols *symbols = arg;

	read_table(&symbols->fresh);
	__atomic_store_n(&symbols->has_read, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Without a thread the names stay as they are. (It does not inherit our priority: SCHED_RESET_ON_FORK.) */
static void start_reader(struct nt_symbols *symbols)
{
	symbols->has_read = 0;
	symbols->asked = symbols->done;
	symbols->is_reading = !pthread_create(&symbols->reader, NULL, run_reader, symbols);
}

static void end_reader(struct nt_symbols *symbols)
{
	if (!symbols->is_reading)
		return;
	pthread_join(symbols->reader, NULL);
	symbols->is_reading = false;
	take_fresh(symbols);
}

int nt_symbols_init(struct nt_symbols *symbols)
{
	symbols->is_on = true;
	symbols->done = 1;
	return read_table(&symbols->table);
}

const char *nt_symbols_uncovered(const struct nt_symbols *symbols)
{
	if (!symbols->is_on || symbols->table.n_entries)
		return NULL;
	return "Kernel functions (in stacks, and where a packet was dropped) have no names: the kernel hid their "
	       "addresses (/proc/kallsyms). Names need the capability CAP_SYSLOG, and kernel.kptr_restrict at 0 or 1.";
}

void nt_symbols_release(struct nt_symbols *symbols)
{
	end_reader(symbols);
	release_table(&symbols->table);
	memset(symbols, 0, sizeof(*symbols));
}

/* The last symbol at or before an address; NULL if the address is in no function that is known. */
static const struct nt_symbol_entry *find_symbol(const struct nt_symbol_table *table, uint64_t address)
{
	size_t low = 0, high = table->n_entries;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->entries[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - table->entries[low - 1].address >= LONGEST_FUNCTION)
		return NULL;
	return &table->entries[low - 1];
}

static const char *name_of(const struct nt_symbol_table *table, const struct nt_symbol_entry *entry)
{
	return (const char *)table->names.data + entry->name;
}

static const char *module_of(const struct nt_symbol_table *table, const struct nt_symbol_entry *entry)
{
	const char *name = name_of(table, entry);

	return name + strlen(name) + 1;
}

static int put_symbol(const struct nt_symbol_table *table, struct nt_ids *ids, uint64_t address, uint64_t now_ns)
{
	const struct nt_symbol_entry *entry = find_symbol(table, address);
	union nt_any record;

	memset(&record, 0, sizeof(record));
	record.as_symbol.end_ns = now_ns;
	record.as_symbol.kind = NT_SYMBOL;
	record.as_symbol.symbol = address;
	if (entry) {
		record.as_symbol.offset = address - entry->address;
		snprintf(record.as_symbol.name, sizeof(record.as_symbol.name), "%s", name_of(table, entry));
		snprintf(record.as_symbol.module, sizeof(record.as_symbol.module), "%s", module_of(table, entry));
	}
	return nt_ids_put(ids, &record);
}

/* The others in the space are user symbols, and known (stacks.h). */
static bool is_of_kernel(uint64_t address)
{
	return address >> 63;
}

/* BPF programs come and go without a trace; but not our own, which stay to the end. */
static bool may_be_gone(const struct nt_symbol_table *table, const struct nt_symbol_entry *entry)
{
	return !strcmp(module_of(table, entry), "bpf") && !strstr(name_of(table, entry), "_nt_");
}

/*
 * Whether the table may be too old for ids from this on: modules have come or gone, or an address is in nothing that is
 * surely there.
 */
static bool is_stale(const struct nt_symbols *symbols, const struct nt_id_space *space, uint32_t id)
{
	if (modules_now() != symbols->table.modules)
		return true;
	for (; id < space->n_places; id++) {
		uint64_t address = space->entries[id].key;
		const struct nt_symbol_entry *entry =
			is_of_kernel(address) ? find_symbol(&symbols->table, address) : NULL;

		if (is_of_kernel(address) && (!entry || may_be_gone(&symbols->table, entry)))
			return true;
	}
	return false;
}

static int put_new(struct nt_symbols *symbols, struct nt_ids *ids, const struct nt_id_space *space, uint64_t now_ns)
{
	int error = 0;

	for (; symbols->done < space->n_places && !error; symbols->done++)
		if (is_of_kernel(space->entries[symbols->done].key))
			error = put_symbol(&symbols->table, ids, space->entries[symbols->done].key, now_ns);
	return error;
}

#define LONGEST_PAUSE 64

/*
 * Something of the kernel's may always be without a name, and a reading takes a tenth of a second of CPU: so each
 * doubles the pause before the next, and new names that need none halve it.
 */
static bool may_read(struct nt_symbols *symbols)
{
	if (symbols->paused++ < symbols->pause)
		return false;
	symbols->pause = symbols->pause ? symbols->pause * 2 : 1;
	if (symbols->pause > LONGEST_PAUSE)
		symbols->pause = LONGEST_PAUSE;
	symbols->paused = 0;
	return true;
}

/* Whether a newer table may have another name for this: it has none yet, or is in what may have come meanwhile. */
static bool is_doubtful(const union nt_any *identity)
{
	return identity && identity->record.kind == NT_SYMBOL &&
	       (!identity->as_symbol.name[0] ||
		(identity->as_symbol.module[0] && !strstr(identity->as_symbol.name, "_nt_")));
}

/* Symbols named by a table that may have been too old are named once more, by a new one. */
static int put_doubtful(struct nt_symbols *symbols, struct nt_ids *ids, const struct nt_id_space *space,
			uint64_t now_ns)
{
	int error = 0;

	for (uint32_t id = symbols->unsure; id && id < symbols->done && !error; id++)
		if (is_doubtful(space->entries[id].identity))
			error = put_symbol(&symbols->table, ids, space->entries[id].key, now_ns);
	symbols->unsure = 0;
	return error;
}

int nt_symbols_resolve(struct nt_symbols *symbols, struct nt_ids *ids, uint64_t now_ns, enum nt_symbols_when when)
{
	const struct nt_id_space *space = &ids->spaces[NT_ROLE_SYMBOL];
	int error = 0;

	if (!symbols->is_on)
		return 0;
	if (symbols->is_reading && (when == NT_SYMBOLS_LAST || __atomic_load_n(&symbols->has_read, __ATOMIC_ACQUIRE))) {
		end_reader(symbols);
		error = put_doubtful(symbols, ids, space, now_ns);
		if (symbols->asked < symbols->done && is_stale(symbols, space, symbols->asked))
			symbols->unsure = symbols->asked;
	}
	if (error || (symbols->done >= space->n_places && !symbols->unsure))
		return error;
	if (!symbols->unsure && is_stale(symbols, space, symbols->done))
		symbols->unsure = symbols->done;
	else if (!symbols->unsure)
		symbols->pause /= 2;
	error = put_new(symbols, ids, space, now_ns);
	if (error || !symbols->unsure || symbols->is_reading)
		return error;
	if (when == NT_SYMBOLS_SOON && may_read(symbols))
		start_reader(symbols);
	if (when != NT_SYMBOLS_LAST)
		return 0;
	if (!read_table(&symbols->fresh))
		take_fresh(symbols);
	return put_doubtful(symbols, ids, space, now_ns);
}
