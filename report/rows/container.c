// SPDX-License-Identifier: GPL-2.0-only
/*
 * container.c - see container.h. Components are looked at from the innermost outwards.
 */
#include "report/rows/container.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

/* A piece of the path, not zero-terminated. */
struct piece {
	const char *text;
	size_t size;
};

static bool is_text(struct piece piece, const char *text)
{
	return piece.size == strlen(text) && !memcmp(piece.text, text, piece.size);
}

/* Takes a text from the begin, or from the end, if it stands there. */
static bool take_begin(struct piece *piece, const char *begin)
{
	const size_t size = strlen(begin);

	if (piece->size < size || memcmp(piece->text, begin, size) != 0)
		return false;
	piece->text += size;
	piece->size -= size;
	return true;
}

static bool take_end(struct piece *piece, const char *end)
{
	const size_t size = strlen(end);

	if (piece->size < size || memcmp(piece->text + piece->size - size, end, size) != 0)
		return false;
	piece->size -= size;
	return true;
}

static bool is_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool nt_container_is_id(const char *text, size_t size)
{
	return size && size <= NT_CONTAINER_ID_LEN && !NT_ANY(size, i, !is_digit(text[i]));
}

static bool is_whole_id(struct piece piece)
{
	return piece.size == NT_CONTAINER_ID_LEN && nt_container_is_id(piece.text, piece.size);
}

/* Where a uid has its dashes, which systemd's names have as '_'. */
#define UID_LEN 36
#define STATIC_UID_LEN 32

static bool is_dash_place(size_t i)
{
	return i == 8 || i == 13 || i == 18 || i == 23;
}

static bool is_uid(struct piece piece, char dash)
{
	if (piece.size == STATIC_UID_LEN)
		return nt_container_is_id(piece.text, piece.size);
	return piece.size == UID_LEN &&
	       !NT_ANY(piece.size, i, is_dash_place(i) ? piece.text[i] != dash : !is_digit(piece.text[i]));
}

bool nt_container_is_pod(const char *text, size_t size)
{
	return is_uid((struct piece){text, size}, '-');
}

/* ---- containers ---- */

static const struct {
	const char *prefix; /* of a scope's name, before its '-'; also as in "X.slice:PREFIX:ID" */
	const char *runtime;
} prefixes[] = {
	{"docker", "docker"}, {"cri-containerd", "containerd"}, {"crio", "cri-o"},
	{"libpod", "podman"}, {"libpod-payload", "podman"},	{"nerdctl", "nerdctl"},
};

static bool set_id(struct nt_container *container, struct piece id, const char *runtime)
{
	memcpy(container->id, id.text, id.size);
	container->id[id.size] = 0;
	container->runtime = runtime;
	return true;
}

/* systemd writes '-' in a name as "\x2d". */
static bool set_name(struct nt_container *container, struct piece name, const char *runtime)
{
	size_t n = 0;

	if (!name.size || name.size >= sizeof(container->id))
		return false;
	while (name.size) {
		const bool is_dash = take_begin(&name, "\\x2d");

		container->id[n++] = is_dash ? '-' : *name.text;
		name.text += !is_dash;
		name.size -= !is_dash;
	}
	container->id[n] = 0;
	container->runtime = runtime;
	container->has_name = true;
	return true;
}

/* "X.slice:PREFIX:ID", which runc makes where it is not told that systemd manages cgroups. */
static void take_slice(struct piece *piece)
{
	const char *colon = memchr(piece->text, ':', piece->size);
	struct piece slice = {piece->text, colon ? (size_t)(colon - piece->text) : 0};

	if (colon && take_end(&slice, ".slice")) {
		piece->size -= (size_t)(colon + 1 - piece->text);
		piece->text = colon + 1;
	}
}

static bool is_prefixed(struct piece piece, struct nt_container *container)
{
	take_end(&piece, ".scope");
	take_slice(&piece);
	for (size_t i = 0; i < NT_COUNT(prefixes); i++) {
		struct piece id = piece;

		if (take_begin(&id, prefixes[i].prefix) && (take_begin(&id, "-") || take_begin(&id, ":")) &&
		    is_whole_id(id))
			return set_id(container, id, prefixes[i].runtime);
	}
	return false;
}

static bool is_named(struct piece piece, struct piece parent, struct nt_container *container)
{
	struct piece name = piece;

	if (take_begin(&name, "lxc.payload.") || is_text(parent, "lxc"))
		return set_name(container, name, "lxc");
	if (take_begin(&name, "systemd-nspawn@") && take_end(&name, ".service"))
		return set_name(container, name, "nspawn");
	name = piece;
	if (!is_text(parent, "machine.slice") || !take_begin(&name, "machine-") || !take_end(&name, ".scope"))
		return false;
	piece = name;
	return !take_begin(&piece, "qemu\\x2d") && set_name(container, name, "nspawn");
}

static bool is_container(struct piece piece, struct piece parent, struct nt_container *container)
{
	if (is_whole_id(piece))
		return set_id(container, piece, is_text(parent, "docker") ? "docker" : NULL);
	return is_prefixed(piece, container) || is_named(piece, parent, container);
}

/* ---- pods ---- */

/* The uid in "kubepods-burstable-podUID.slice", maybe "...slice:cri-containerd:ID", or "podUID". */
static bool is_pod(struct piece piece, struct nt_container *container)
{
	const char *colon = memchr(piece.text, ':', piece.size), *uid;
	bool is_slice;

	piece.size = colon ? (size_t)(colon - piece.text) : piece.size;
	is_slice = take_end(&piece, ".slice");
	if (is_slice && !memmem(piece.text, piece.size, "kubepods", strlen("kubepods")))
		return false;
	uid = is_slice ? memmem(piece.text, piece.size, "-pod", strlen("-pod")) : NULL;
	if (is_slice && !uid)
		return false;
	if (is_slice) {
		piece.size -= (size_t)(uid + 1 - piece.text);
		piece.text = uid + 1;
	}
	if (!take_begin(&piece, "pod") || !is_uid(piece, is_slice ? '_' : '-'))
		return false;
	for (size_t i = 0; i < piece.size; i++)
		container->pod[i] = piece.text[i] == '_' ? '-' : piece.text[i];
	container->pod[piece.size] = 0;
	return true;
}

/* ---- units ---- */

static bool is_unit(struct piece piece)
{
	const size_t size = piece.size;

	return (take_end(&piece, ".service") || take_end(&piece, ".scope")) && piece.size && size > piece.size;
}

/* "user@1000.service": 1000; 0: no user's manager. */
static unsigned long user_of(struct piece piece)
{
	char digits[12];

	if (!take_begin(&piece, "user@") || !take_end(&piece, ".service") || !piece.size ||
	    piece.size >= sizeof(digits) || NT_ANY(piece.size, i, piece.text[i] < '0' || piece.text[i] > '9'))
		return 0;
	memcpy(digits, piece.text, piece.size);
	digits[piece.size] = 0;
	return strtoul(digits, NULL, 10);
}

/* ---- the path ---- */

/* The component that ends at `end`; its size is 0 at the begin of the path, and where nothing is between two '/'. */
static struct piece component_before(const char *path, size_t end)
{
	size_t begin = end;

	while (begin && path[begin - 1] != '/')
		begin--;
	return begin ? (struct piece){path + begin, end - begin} : (struct piece){path, 0};
}

/* Whether the unit is one of the container's own systemd. */
static bool is_inside(const struct nt_container *container)
{
	return container->id[0] && container->unit > container->end;
}

/* Of containers, only the innermost counts; one around a pod's own cgroup is not the pod's. */
static void look_at(struct nt_container *container, const char *path, struct piece piece, struct piece parent)
{
	const size_t end = (size_t)(piece.text - path) + piece.size;
	struct nt_container other = {0};
	const bool is_one = is_container(piece, parent, &other);

	if (is_one && !container->id[0] && !container->pod[0]) {
		memcpy(container->id, other.id, sizeof(other.id));
		container->runtime = other.runtime;
		container->has_name = other.has_name;
		container->end = end;
	}
	if (!container->pod[0] && is_pod(piece, container))
		container->pod_end = end;
	if (!is_one && !container->unit_size && is_unit(piece)) {
		container->unit = (size_t)(piece.text - path);
		container->unit_size = piece.size;
	} else if (container->unit_size && !container->user && !is_inside(container)) {
		container->user = user_of(piece);
	}
}

void nt_container_parse(const char *path, struct nt_container *container)
{
	size_t end = strlen(path);

	*container = (struct nt_container){0};
	for (;;) {
		const struct piece piece = component_before(path, end);
		size_t begin;

		begin = (size_t)(piece.text - path);
		if (!begin)
			return;
		if (piece.size)
			look_at(container, path, piece, component_before(path, begin - 1));
		end = begin - 1;
	}
}
