// SPDX-License-Identifier: GPL-2.0-only
/*
 * cgroup_names.c - see cgroup_names.h. Keys are sorted. A path is looked up from its end upwards, so the nearest name
 * counts, and not beyond its container: what is around a container is not its name.
 */
#include "report/rows/cgroup_names.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/denied.h"
#include "report/util/array.h"
#include "report/util/utf8.h"
#include "schema/event.h"

struct entry {
	const char *key, *name; /* in the arena */
	unsigned long line;
	char met[NT_CONTAINER_ID_LEN + 1]; /* the container that it names; "": none so far */
};

struct nt_cgroup_names {
	struct nt_arena arena;
	char *file;
	struct entry *entries; /* by key */
	size_t n, size;
};

/* ---- the file ---- */

#define READ_AT_ONCE 4096

/* Up to one byte more than a file may have, zero-terminated. 0 or an errno. */
static int read_text(FILE *file, char **text, size_t *size)
{
	size_t room = 0, n;

	do {
		if (NT_ROOM(*text, room, *size + READ_AT_ONCE + 1))
			return ENOMEM;
		n = fread(*text + *size, 1, READ_AT_ONCE, file);
		*size += n;
	} while (n == READ_AT_ONCE && *size <= NT_CGROUP_NAMES_FILE_MAX);
	(*text)[*size] = 0;
	return ferror(file) ? errno : 0;
}

/* *text is the caller's to free, also on failure. 0, or -1 and a sentence. */
static int read_file(const char *path, char **text, char error[NT_ERROR_MAX])
{
	FILE *file = fopen(path, "re");
	char why[NT_DENIED_MAX];
	size_t size = 0;
	int code = file ? read_text(file, text, &size) : errno;

	if (file)
		fclose(file);
	if (code)
		return nt_fail(error, "%s cannot be read: %s.", path, nt_denied_read(why, path, code));
	if (size > NT_CGROUP_NAMES_FILE_MAX)
		return nt_fail(error, "%s is longer than %u MiB: a line of it is an id or path, and a name.", path,
			       NT_CGROUP_NAMES_FILE_MAX >> 20);
	if (memchr(*text, 0, size))
		return nt_fail(error, "%s is not text: a line of it is an id or path, and a name.", path);
	return 0;
}

/* "docker://4f0c" is 4f0c. */
static char *skip_scheme(char *key)
{
	const size_t size = strspn(key, "abcdefghijklmnopqrstuvwxyz-");

	return size && !strncmp(key + size, "://", 3) ? key + size + 3 : key;
}

/* As tapes have paths: from the root of the cgroups on, and of one that is too long, the end. */
static char *cut_path(char *path)
{
	static const char mount[] = "/sys/fs/cgroup/";
	size_t size;

	if (!strncmp(path, mount, strlen(mount)))
		path += strlen(mount) - 1;
	size = strlen(path);
	while (size > 1 && path[size - 1] == '/')
		path[--size] = 0;
	return path + (size > NT_PATH_LEN - 1 ? size - (NT_PATH_LEN - 1) : 0);
}

static int add(struct nt_cgroup_names *names, const char *key, const char *name, unsigned long line,
	       char error[NT_ERROR_MAX])
{
	struct entry *entry;

	if (NT_ROOM(names->entries, names->size, names->n + 1))
		return nt_fail(error, "%s: out of memory.", names->file);
	entry = &names->entries[names->n++];
	*entry = (struct entry){
		.key = nt_arena_clean(&names->arena, key, strlen(key)),
		.name = nt_arena_clean(&names->arena, name, strlen(name)),
		.line = line,
	};
	return names->arena.failed ? nt_fail(error, "%s: out of memory.", names->file) : 0;
}

#define BLANKS " \t\r"

/* Changes the line. */
static int take_line(struct nt_cgroup_names *names, char *text, unsigned long line, char error[NT_ERROR_MAX])
{
	char *key = text + strspn(text, BLANKS), *name = key + strcspn(key, BLANKS);
	size_t size;

	if (!*key || *key == '#')
		return 0;
	if (*name)
		*name++ = 0;
	name += strspn(name, BLANKS);
	size = strlen(name);
	while (size && strchr(BLANKS, name[size - 1]))
		name[--size] = 0;
	key = skip_scheme(key);
	if (*key != '/' && !nt_container_is_id(key, strlen(key)) && !nt_container_is_pod(key, strlen(key)))
		return nt_fail(error,
			       "%s: line %lu: '%.80s' is no container's id, pod's uid or cgroup's path: begin the line "
			       "with one of these, such as 4f0cb9a1d2e3, or with # for a remark.",
			       names->file, line, key);
	if (!size)
		return nt_fail(error, "%s: line %lu: there is no name behind '%.80s': add one.", names->file, line,
			       key);
	if (size > NT_CGROUP_NAME_MAX)
		return nt_fail(error, "%s: line %lu: the name has %zu bytes: give one of at most %d.", names->file,
			       line, size, NT_CGROUP_NAME_MAX);
	return add(names, *key == '/' ? cut_path(key) : key, name, line, error);
}

static int take_lines(struct nt_cgroup_names *names, char *text, char error[NT_ERROR_MAX])
{
	for (unsigned long line = 1; *text; line++) {
		char *end = text + strcspn(text, "\n");
		const bool is_last = !*end;

		*end = 0;
		if (take_line(names, text, line, error))
			return -1;
		text = is_last ? end : end + 1;
	}
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *first = a, *second = b;
	const int order = strcmp(first->key, second->key);

	return order ? order : (first->line > second->line) - (first->line < second->line);
}

static int refuse_two_names(const struct nt_cgroup_names *names, char error[NT_ERROR_MAX])
{
	for (size_t i = 1; i < names->n; i++) {
		const struct entry *first = &names->entries[i - 1], *second = &names->entries[i];

		if (!strcmp(first->key, second->key) && strcmp(first->name, second->name) != 0)
			return nt_fail(error,
				       "%s: line %lu: '%.80s' is '%.80s' here and '%.80s' in line %lu: remove one of "
				       "the lines.",
				       names->file, second->line, second->key, second->name, first->name, first->line);
	}
	return 0;
}

static int read_names(struct nt_cgroup_names *names, char error[NT_ERROR_MAX])
{
	char *text = NULL;
	int result = read_file(names->file, &text, error);

	if (!result)
		result = take_lines(names, text, error);
	free(text);
	if (names->n)
		qsort(names->entries, names->n, sizeof(*names->entries), compare_entries);
	return result ? result : refuse_two_names(names, error);
}

int nt_cgroup_names_new(struct nt_cgroup_names **out, const char *file, char error[NT_ERROR_MAX])
{
	struct nt_cgroup_names *names = calloc(1, sizeof(*names));

	*out = NULL;
	if (names)
		names->file = strdup(file);
	if (!names || !names->file)
		nt_fail(error, "%s: out of memory.", file);
	else if (!read_names(names, error))
		*out = names;
	if (!*out)
		nt_cgroup_names_free(names);
	return *out ? 0 : -1;
}

void nt_cgroup_names_free(struct nt_cgroup_names *names)
{
	if (!names)
		return;
	nt_arena_release(&names->arena);
	free(names->entries);
	free(names->file);
	free(names);
}

/* ---- looking up ---- */

/* The entry whose key is the first `size` bytes of a text, or NULL. */
static struct entry *find_key(const struct nt_cgroup_names *names, const char *text, size_t size)
{
	const size_t at = NT_COUNT_BEFORE(names->n, i, strncmp(names->entries[i].key, text, size) >= 0);
	struct entry *entry = at < names->n ? &names->entries[at] : NULL;

	return entry && !strncmp(entry->key, text, size) && !entry->key[size] ? entry : NULL;
}

/* The entry that names a container: that with most of its digits. */
static struct entry *find_container(const struct nt_cgroup_names *names, const struct nt_container *container)
{
	struct entry *entry = NULL;

	for (size_t size = container->has_name ? 0 : strlen(container->id); size && !entry; size--)
		entry = find_key(names, container->id, size);
	return entry;
}

int nt_cgroup_names_meet(struct nt_cgroup_names *names, const char *path, char error[NT_ERROR_MAX])
{
	struct nt_container container;
	struct entry *entry;

	nt_container_parse(path, &container);
	entry = find_container(names, &container);
	if (!entry || !strcmp(entry->met, container.id))
		return 0;
	if (entry->met[0])
		return nt_fail(error,
			       "%s: line %lu: '%.80s' is the begin of several containers' ids, %.20s... and %.20s...: "
			       "give more digits.",
			       names->file, entry->line, entry->key, entry->met, container.id);
	snprintf(entry->met, sizeof(entry->met), "%.64s", container.id);
	return 0;
}

/* The name of a cgroup, and the end of the named part in the path. */
struct finding {
	const char *name;
	size_t end;
	bool is_container, is_pod; /* it names that; a container goes by its pod's name if it has none */
};

static bool try(struct finding *finding, const struct entry *entry, size_t end)
{
	if (!entry)
		return false;
	finding->name = entry->name;
	finding->end = end;
	return true;
}

/* The entry that names the part of the path up to `end`, and nothing around it. */
static bool find_at(const struct nt_cgroup_names *names, const struct nt_container *container, const char *path,
		    size_t end, struct finding *finding)
{
	finding->is_container = container->id[0] && end == container->end;
	finding->is_pod = !finding->is_container && container->pod[0] && end == container->pod_end;
	if (finding->is_container && try(finding, find_container(names, container), end))
		return true;
	if (try(finding, find_key(names, path, end), end))
		return true;
	return (finding->is_container || finding->is_pod) && container->pod[0] &&
	       try(finding, find_key(names, container->pod, strlen(container->pod)), end);
}

/* Where the part of the path ends that is around the one up to `end`; 0: nowhere. */
static size_t around(const char *path, size_t end)
{
	while (end && path[end - 1] != '/')
		end--;
	return end ? end - 1 : 0;
}

static void find(const struct nt_cgroup_names *names, const struct nt_container *container, const char *path,
		 struct finding *finding)
{
	for (size_t end = strlen(path); end; end = around(path, end)) {
		if (find_at(names, container, path, end, finding) || finding->is_container || finding->is_pod) {
			finding->end = end;
			return;
		}
	}
}

/* ---- the label ---- */

/* A child in which a runtime puts all processes of a container tells nothing. */
static const char *below(const struct nt_container *container, const char *path, size_t end)
{
	static const char *const children[] = {"/container", "/payload"};
	const char *rest = path + end;

	for (size_t i = 0; end == container->end && i < NT_COUNT(children); i++) {
		const size_t size = strlen(children[i]);

		if (!strncmp(rest, children[i], size) && (!rest[size] || rest[size] == '/'))
			return rest + size;
	}
	return rest;
}

/* As printf, of any length. NULL: out of memory. */
static const char *print(struct nt_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

static const char *print(struct nt_arena *arena, const char *format, ...)
{
	va_list args, again;
	char *text;
	int size;

	va_start(args, format);
	va_copy(again, args);
	size = vsnprintf(NULL, 0, format, args);
	text = size < 0 ? NULL : nt_arena_get(arena, (size_t)size + 1);
	if (text)
		vsnprintf(text, (size_t)size + 1, format, again);
	va_end(again);
	va_end(args);
	return text;
}

static const char *container_label(struct nt_arena *arena, const struct nt_container *container, const char *name,
				   const char *rest)
{
	const int size = container->has_name ? NT_CONTAINER_MAX : NT_CONTAINER_SHORT;

	if (name)
		return print(arena, "%s (%.*s)%s", name, size, container->id, rest);
	return print(arena, "%s %.*s%s", container->runtime ? container->runtime : "container", size, container->id,
		     rest);
}

static const char *pod_label(struct nt_arena *arena, const struct nt_container *container, const char *name,
			     const char *rest)
{
	return name ? print(arena, "%s (pod %.8s)%s", name, container->pod, rest)
		    : print(arena, "pod %s%s", container->pod, rest);
}

static const char *unit_label(struct nt_arena *arena, const struct nt_container *container, const char *path)
{
	const char *unit = path + container->unit;

	return container->user ? print(arena, "%s (user %lu)", unit, container->user) : unit;
}

static const char *make_label(struct nt_arena *arena, const struct nt_container *container, const char *path,
			      const struct finding *finding)
{
	const char *rest = below(container, path, finding->end);

	if (finding->is_container)
		return container_label(arena, container, finding->name, rest);
	if (finding->is_pod)
		return pod_label(arena, container, finding->name, rest);
	if (finding->name)
		return print(arena, "%s%s", finding->name, rest);
	return container->unit_size ? unit_label(arena, container, path) : path;
}

void nt_cgroup_describe(struct nt_cgroup_words *words, const struct nt_cgroup_names *names, struct nt_arena *arena,
			const char *path)
{
	static const struct nt_cgroup_names none;
	struct nt_container container;
	struct finding finding = {0};

	nt_container_parse(path, &container);
	find(names ? names : &none, &container, path, &finding);
	*words = (struct nt_cgroup_words){
		.runtime = container.runtime,
		.container = container.id[0] ? print(arena, "%s", container.id) : NULL,
		.pod = container.pod[0] ? print(arena, "%s", container.pod) : NULL,
		.name = finding.name,
		.label = make_label(arena, &container, path, &finding),
	};
	if (container.unit_size)
		words->unit = print(arena, "%.*s", (int)container.unit_size, path + container.unit);
}
