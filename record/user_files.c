// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_files.c - see user_files.h.
 */
#include "record/user_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/build_id.h"

/* ---- the thread ---- */

/* Of a path that is too long the end is kept. */
static void set_path(struct nt_user_file *file, const char *path)
{
	size_t size = strlen(path);

	if (size >= sizeof(file->path))
		path += size - sizeof(file->path) + 1;
	strcpy(file->path, path);
	file->state = NT_FILE_FOUND;
}

/* A line of /proc/PID/maps about a file whose code may run. */
struct mapping {
	uint64_t begin, end, offset;
	char *path;
	uint8_t build_id[NT_BUILD_ID_LEN];
	bool has_id;
};

/* "7f00-7f10 r-xp 00001000 08:01 123   /usr/lib/x.so" */
static bool parse_mapping(char *line, struct mapping *mapping)
{
	unsigned long long begin, end, offset;
	char rights[5];

	if (sscanf(line, "%llx-%llx %4s %llx", &begin, &end, rights, &offset) != 4 || rights[2] != 'x')
		return false;
	mapping->begin = begin;
	mapping->end = end;
	mapping->offset = offset;
	mapping->path = strchr(line, '/');
	if (mapping->path)
		mapping->path[strcspn(mapping->path, "\n")] = 0;
	return mapping->path;
}

static void use_mapping(struct nt_user_files *files, uint32_t pid, const struct mapping *mapping)
{
	for (size_t i = 0; i < files->n_asked; i++) {
		struct nt_user_file *file = &files->asked[i];

		if (!file->address) {
			if (mapping->has_id && !memcmp(file->build_id, mapping->build_id, sizeof(file->build_id)))
				set_path(file, mapping->path);
		} else if (file->pid == pid && file->address >= mapping->begin && file->address < mapping->end) {
			file->file_offset = file->address - mapping->begin + mapping->offset;
			if (mapping->has_id)
				memcpy(file->build_id, mapping->build_id, sizeof(file->build_id));
			set_path(file, mapping->path);
		}
	}
}

/* Looks for all files that are asked for in one process: a mapping may be of any of them. */
static void look_in(struct nt_user_files *files, uint32_t pid)
{
	char name[64], line[4200], seen[4200] = "", whole[4300];
	struct mapping mapping = {};
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (!parse_mapping(line, &mapping))
			continue;
		if (strcmp(mapping.path, seen)) {
			strcpy(seen, mapping.path);
			snprintf(whole, sizeof(whole), "/proc/%u/root%s", pid, mapping.path);
			mapping.has_id = nt_build_id_of_file(whole, mapping.build_id);
		}
		use_mapping(files, pid, &mapping);
	}
	if (maps)
		fclose(maps);
}

static bool was_looked_in(const struct nt_user_files *files, size_t before)
{
	for (size_t i = 0; i < before; i++)
		if (files->asked[i].pid == files->asked[before].pid)
			return true;
	return false;
}

static void *run_reader(void *arg)
{
	struct nt_user_files *files = arg;

	for (size_t i = 0; i < files->n_asked; i++)
		if (!was_looked_in(files, i))
			look_in(files, files->asked[i].pid);
	__atomic_store_n(&files->has_read, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* ---- the recorder ---- */

void nt_user_files_release(struct nt_user_files *files)
{
	if (files->is_reading)
		pthread_join(files->reader, NULL);
	free(files->files);
	free(files->asked);
	free(files->asked_at);
	memset(files, 0, sizeof(*files));
}

static struct nt_user_file *find(struct nt_user_files *files, const uint8_t *build_id)
{
	for (size_t i = 0; i < files->n; i++)
		if (!files->files[i].address && !memcmp(files->files[i].build_id, build_id, NT_BUILD_ID_LEN))
			return &files->files[i];
	return NULL;
}

/* A new one; NULL without memory for it: then it stays without a path. */
static struct nt_user_file *add(struct nt_user_files *files, uint32_t pid)
{
	struct nt_user_file *grown;

	if (files->n == files->capacity) {
		size_t capacity = files->capacity ? 2 * files->capacity : 64;

		grown = realloc(files->files, capacity * sizeof(*grown));
		if (!grown)
			return NULL;
		files->files = grown;
		files->capacity = capacity;
	}
	memset(&files->files[files->n], 0, sizeof(*files->files));
	files->files[files->n].pid = pid;
	return &files->files[files->n++];
}

const char *nt_user_files_path(struct nt_user_files *files, const uint8_t *build_id, uint32_t pid)
{
	struct nt_user_file *file = find(files, build_id);

	if (!file) {
		file = files->n < NT_FILES_MOST ? add(files, pid) : NULL;
		if (file)
			memcpy(file->build_id, build_id, NT_BUILD_ID_LEN);
		return "";
	}
	if (file->state == NT_FILE_GONE && file->pid != pid) {
		file->pid = pid;
		file->state = NT_FILE_WANTED;
	}
	return file->path;
}

void nt_user_files_want(struct nt_user_files *files, uint64_t key, uint64_t address, uint32_t pid)
{
	struct nt_user_file *file = address && files->n < NT_FILES_MAX ? add(files, pid) : NULL;

	if (!file)
		return;
	file->address = address;
	file->key = key;
}

static bool has_room(struct nt_user_files *files)
{
	if (!files->asked)
		files->asked = calloc(NT_FILES_ASKED, sizeof(*files->asked));
	if (!files->asked_at)
		files->asked_at = calloc(NT_FILES_ASKED, sizeof(*files->asked_at));
	return files->asked && files->asked_at;
}

static void start_reader(struct nt_user_files *files)
{
	files->n_asked = 0;
	for (size_t i = 0; i < files->n && files->n_asked < NT_FILES_ASKED && has_room(files); i++)
		if (files->files[i].state == NT_FILE_WANTED) {
			files->files[i].state = NT_FILE_ASKED;
			files->asked_at[files->n_asked] = i;
			files->asked[files->n_asked++] = files->files[i];
		}
	files->has_read = 0;
	files->is_reading = files->n_asked && !pthread_create(&files->reader, NULL, run_reader, files);
}

/* A file that was looked for by an address is put at once; nobody asks for it again. */
static int put_symbol(struct nt_ids *ids, const struct nt_user_file *file, uint64_t now_ns)
{
	union nt_any record;

	memset(&record.as_user_symbol, 0, sizeof(record.as_user_symbol));
	record.as_user_symbol.end_ns = now_ns;
	record.as_user_symbol.kind = NT_USER_SYMBOL;
	record.as_user_symbol.symbol = file->key;
	record.as_user_symbol.place = file->file_offset;
	memcpy(record.as_user_symbol.build_id, file->build_id, sizeof(file->build_id));
	memcpy(record.as_user_symbol.path, file->path, sizeof(file->path));
	return nt_ids_put(ids, &record);
}

/* Takes what was looked for by its address out of the list. */
static void drop_addresses(struct nt_user_files *files)
{
	size_t kept = 0;

	for (size_t i = 0; i < files->n; i++)
		if (!files->files[i].address || files->files[i].state == NT_FILE_WANTED)
			files->files[kept++] = files->files[i];
	files->n = kept;
}

/* The files found by build ids stay in `asked`, in front. */
static int end_reader(struct nt_user_files *files, struct nt_ids *ids, uint64_t now_ns)
{
	int error = 0;

	pthread_join(files->reader, NULL);
	files->is_reading = false;
	files->n_news = 0;
	for (size_t i = 0; i < files->n_asked && !error; i++) {
		struct nt_user_file *file = &files->files[files->asked_at[i]];

		*file = files->asked[i];
		if (file->state != NT_FILE_FOUND)
			file->state = NT_FILE_GONE;
		else if (file->address)
			error = put_symbol(ids, file, now_ns);
		else
			files->asked[files->n_news++] = *file;
	}
	drop_addresses(files);
	return error;
}

static const struct nt_user_file *find_news(const struct nt_user_files *files, const uint8_t *build_id)
{
	for (size_t i = 0; i < files->n_news; i++)
		if (!memcmp(files->asked[i].build_id, build_id, NT_BUILD_ID_LEN))
			return &files->asked[i];
	return NULL;
}

/* A symbol whose path has been found since it was put is put again. A symbol with only an address waits for none. */
static int put_path(struct nt_user_files *files, struct nt_ids *ids, uint32_t id, uint64_t now_ns)
{
	const struct nt_id_entry *entry = &ids->spaces[NT_ROLE_SYMBOL].entries[id];
	const union nt_any *identity = entry->identity;
	const struct nt_user_file *file;
	union nt_any record;

	if (!identity || identity->record.kind != NT_USER_SYMBOL || identity->as_user_symbol.path[0] ||
	    identity->as_user_symbol.flags & NT_USER_SYMBOL_ADDRESS)
		return 0;
	file = find_news(files, identity->as_user_symbol.build_id);
	if (!file)
		return 0;
	memcpy(&record.as_user_symbol, &identity->as_user_symbol, sizeof(record.as_user_symbol));
	record.as_user_symbol.end_ns = now_ns;
	record.as_user_symbol.symbol = entry->key;
	memcpy(record.as_user_symbol.path, file->path, sizeof(file->path));
	return nt_ids_put(ids, &record);
}

/*
 * Symbols are many, most of them words that were taken for addresses, and meanwhile the rings fill: so what is gone
 * through for each is the files just found, not all that are known.
 */
static int put_news(struct nt_user_files *files, struct nt_ids *ids, uint64_t now_ns)
{
	const struct nt_id_space *space = &ids->spaces[NT_ROLE_SYMBOL];
	int error = 0;

	for (uint32_t id = 1; files->n_news && id < space->n_places && !error; id++)
		error = put_path(files, ids, id, now_ns);
	files->n_news = 0;
	return error;
}

int nt_user_files_resolve(struct nt_user_files *files, struct nt_ids *ids, uint64_t now_ns, bool is_last)
{
	int error;

	do {
		if (!files->is_reading)
			start_reader(files);
		if (!files->is_reading || (!is_last && !__atomic_load_n(&files->has_read, __ATOMIC_ACQUIRE)))
			return 0;
		error = end_reader(files, ids, now_ns);
		if (!error)
			error = put_news(files, ids, now_ns);
	} while (is_last && !error);
	return error;
}
