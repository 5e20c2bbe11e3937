// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_names.c - see user_names.h.
 */
#include "report/symbols/user_names.h"

#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/symbols/demangle.h"
#include "report/symbols/program_file.h"
#include "report/util/array.h"
#include "schema/build_id.h"

#define PATH_SIZE 512 /* the tape has 100 bytes, of which each may have become three that are UTF-8 */
#define HEX_SIZE (2 * NT_BUILD_ID_LEN + 1)

/*
 * A program is one whatever its paths, of which a tape may have many: in containers, or because it was made to have
 * them. By each of them it is looked for once, until it is found.
 */
struct known {
	uint8_t build_id[NT_BUILD_ID_LEN];
	void *paths; /* a tree of those that it was looked for by; "": not known */
	struct nt_program program;
	char *files[2];
};

struct nt_user_names {
	struct nt_symbol_args args; /* with directories of its own */
	char *cache; /* of debuginfod's clients; NULL: not known where */
	void *known; /* a tree of struct known, by build id */
	char *cut, demangled[NT_DEMANGLED_SIZE]; /* the last name, without its version, and as people write it */
};

/* ---- one file ---- */

struct search {
	struct known *known;
	const char *path;
	char ids[3][HEX_SIZE]; /* its build id, as it may be spelt */
	size_t n_ids;
	bool failed; /* out of memory */
};

/* 0 or -ENOMEM. */
static int note_file(struct known *known, size_t which, const char *path)
{
	char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	free(known->files[which]);
	known->files[which] = copy;
	return 0;
}

/* Reads the file if it is the one. True: there is nothing more to look for. */
static bool try_file(struct search *search, const char *path)
{
	struct known *known = search->known;
	struct nt_program *program = &known->program;
	const size_t had_segments = program->n_segments;
	const enum nt_program_symbols had_symbols = program->symbols;
	int fd = nt_build_id_open(path, true);

	if (fd < 0)
		return false;
	search->failed = nt_program_read(program, fd, known->build_id) < 0;
	close(fd);
	if ((program->n_segments != had_segments && note_file(known, 0, path)) ||
	    (program->symbols != had_symbols && note_file(known, 1, path)))
		search->failed = true;
	return search->failed || nt_program_is_whole(program);
}

/* A path that is too long for one is none. */
static bool try(struct search *search, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool try(struct search *search, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return size > 0 && size < (int)sizeof(path) && try_file(search, path);
}

/* ---- where it may be ---- */

/* A file that is named by its build id: its first two digits are a directory, or not. */
static bool try_ids(struct search *search, const char *dir, const char *below, bool is_split, const char *end)
{
	for (size_t i = 0; i < search->n_ids; i++) {
		const char *id = search->ids[i];

		if (is_split ? try(search, "%s%s/%.2s/%s%s", dir, below, id, id + 2, end)
			     : try(search, "%s%s/%s%s", dir, below, id, end))
			return true;
	}
	return false;
}

/* A path of the tape leads nowhere but below the directory. */
static bool is_plain(const char *path)
{
	return *path == '/' && !strstr(path, "/../");
}

/* As of a system whose root it is. */
static bool try_root(struct search *search, const char *dir)
{
	const char *path = search->path;

	return (is_plain(path) && try(search, "%s%s", dir, path)) ||
	       try_ids(search, dir, "/usr/lib/.build-id", true, "") ||
	       try_ids(search, dir, "/usr/lib/debug/.build-id", true, ".debug");
}

/* As of a directory that somebody put files into. */
static bool try_collection(struct search *search, const char *dir)
{
	const char *path = search->path, *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return (*name && try(search, "%s/%s", dir, name)) || try_ids(search, dir, "/.build-id", true, "") ||
	       try_ids(search, dir, "/.build-id", true, ".debug") || (*name && try(search, "%s/%s.debug", dir, name));
}

/* The tape has 20 bytes, with zeroes behind a shorter one: MD5 has 16, and lld makes some of 8. */
static void spell(struct search *search)
{
	static const int sizes[] = {20, 16, 8};
	char hex[HEX_SIZE];

	for (int i = 0; i < NT_BUILD_ID_LEN; i++)
		snprintf(hex + 2 * i, 3, "%02x", search->known->build_id[i]);
	for (size_t i = 0; i < NT_COUNT(sizes); i++) {
		if (strspn(hex + 2 * sizes[i], "0") == strlen(hex + 2 * sizes[i]))
			snprintf(search->ids[search->n_ids++], HEX_SIZE, "%.*s", 2 * sizes[i], hex);
	}
}

/* 0 or -ENOMEM. */
static int look_for(struct nt_user_names *names, struct known *known, const char *path)
{
	const struct nt_symbol_args *args = &names->args;
	struct search search = {.known = known, .path = path};
	bool done = false;

	spell(&search);
	for (size_t i = 0; i < args->n_dirs && !done; i++)
		done = try_collection(&search, args->dirs[i]) || try_root(&search, args->dirs[i]);
	done = done || try_root(&search, "");
	if (!done && names->cache && !try_ids(&search, names->cache, "", false, "/executable"))
		try_ids(&search, names->cache, "", false, "/debuginfo");
	return search.failed ? -ENOMEM : 0;
}

/* ---- those that are known ---- */

static int compare_ids(const void *a, const void *b)
{
	return memcmp(((const struct known *)a)->build_id, ((const struct known *)b)->build_id, NT_BUILD_ID_LEN);
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void free_known(void *node)
{
	struct known *known = node;

	tdestroy(known->paths, free);
	nt_program_release(&known->program);
	free(known->files[0]);
	free(known->files[1]);
	free(known);
}

/* As it was called before it was replaced: a copy may have been kept. */
static void cut_deleted(char *path)
{
	static const char end[] = " (deleted)";
	size_t size = strlen(path);

	if (size >= sizeof(end) && !strcmp(path + size - (sizeof(end) - 1), end))
		path[size - (sizeof(end) - 1)] = 0;
}

/* NULL: out of memory. */
static struct known *get(struct nt_user_names *names, const uint8_t *build_id)
{
	struct known *known = calloc(1, sizeof(*known)), **found;

	if (!known)
		return NULL;
	memcpy(known->build_id, build_id, sizeof(known->build_id));
	found = tsearch(known, &names->known, compare_ids);
	if (!found || *found != known)
		free(known);
	return found ? *found : NULL;
}

/* 0 or -ENOMEM. */
static int look_for_once(struct nt_user_names *names, struct known *known, const char *path)
{
	char *copy;

	if (nt_program_is_whole(&known->program) || tfind(path, &known->paths, compare_paths))
		return 0;
	copy = strdup(path);
	if (!copy || !tsearch(copy, &known->paths, compare_paths)) {
		free(copy);
		return -ENOMEM;
	}
	return look_for(names, known, path);
}

/* ---- names ---- */

/* memcpy@@GLIBC_2.14 -> memcpy; names of C++ and Rust as in their sources. NULL: out of memory. */
static const char *clean(struct nt_user_names *names, const char *name)
{
	const size_t size = strcspn(name, "@");

	free(names->cut);
	names->cut = strndup(name, size ? size : strlen(name));
	return names->cut && nt_demangle(names->cut, names->demangled) ? names->demangled : names->cut;
}

int nt_user_names_find(struct nt_user_names *names, const uint8_t build_id[NT_BUILD_ID_LEN], const char *path,
		       uint64_t file_offset, struct nt_user_name *name)
{
	static const uint8_t none[NT_BUILD_ID_LEN];
	struct known *known;
	char copy[PATH_SIZE];

	*name = (struct nt_user_name){0};
	if (names->args.none || !memcmp(build_id, none, sizeof(none)))
		return 0;
	snprintf(copy, sizeof(copy), "%s", path ? path : "");
	cut_deleted(copy);
	known = get(names, build_id);
	if (!known || look_for_once(names, known, copy))
		return -ENOMEM;
	name->files[0] = known->files[0];
	name->files[1] = known->files[1];
	name->function = nt_program_find(&known->program, file_offset, &name->offset);
	if (!name->function)
		return 0;
	name->function = clean(names, name->function);
	return name->function ? 0 : -ENOMEM;
}

/* Where debuginfod's clients keep files; NULL: nowhere. */
static char *find_cache(void)
{
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path = NULL;

	if (cache && *cache)
		return strdup(cache);
	if (base && *base)
		return asprintf(&path, "%s/debuginfod_client", base) < 0 ? NULL : path;
	return home && *home && asprintf(&path, "%s/.cache/debuginfod_client", home) >= 0 ? path : NULL;
}

int nt_user_names_new(struct nt_user_names **out, const struct nt_symbol_args *args, char error[NT_ERROR_MAX])
{
	struct stat status;

	*out = NULL;
	for (size_t i = 0; i < args->n_dirs; i++) {
		if (stat(args->dirs[i], &status) || !S_ISDIR(status.st_mode))
			return nt_fail(
				error,
				"--symbols %s: there is no such directory: programs and their symbols are looked "
				"for below it.",
				args->dirs[i]);
	}
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return nt_fail(error, "out of memory.");
	(*out)->args = *args;
	(*out)->args.n_dirs = 0;
	for (size_t i = 0; i < args->n_dirs; i++) {
		(*out)->args.dirs[i] = strdup(args->dirs[i]);
		if (!(*out)->args.dirs[i]) {
			nt_user_names_free(*out);
			*out = NULL;
			return nt_fail(error, "out of memory.");
		}
		(*out)->args.n_dirs++;
	}
	(*out)->cache = find_cache();
	return 0;
}

void nt_user_names_free(struct nt_user_names *names)
{
	if (!names)
		return;
	tdestroy(names->known, free_known);
	for (size_t i = 0; i < names->args.n_dirs; i++)
		free((char *)(uintptr_t)names->args.dirs[i]);
	free(names->cut);
	free(names->cache);
	free(names);
}
