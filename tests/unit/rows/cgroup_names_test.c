// SPDX-License-Identifier: GPL-2.0-only
/*
 * cgroup_names_test.c - report/rows/cgroup_names.c: what a file of names makes of paths, and what is said of a file
 * that is none. Lookups are compared with a model that tries all lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/rows/cgroup_names.h"
#include "report/util/utf8.h"
#include "tests/support/rand.h"

#define ID "5eed917563583925ffdbd40a64efb2aaffe58638e57add8becaf460fe74f5b1c"
#define OTHER "5eed6701ec289c56e4391acb11d07474b3139466857a305490575508a8b7a9fc"
#define UID "a5c1f8d5-1919-434d-add7-4afaafdaef89"
#define UID_ "a5c1f8d5_1919_434d_add7_4afaafdaef89"
#define POD "/kubepods.slice/kubepods-pod" UID_ ".slice"
#define USER "/user.slice/user-1000.slice/user@1000.service"

static char file[] = "/tmp/nettape_names_XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(file);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(file);
}

static void put(const char *text, size_t size)
{
	FILE *out = fopen(file, "we");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, size, out), size);
	assert_int_equal(fclose(out), 0);
}

static struct nt_cgroup_names *read_names(const char *text)
{
	struct nt_cgroup_names *names;
	char error[NT_ERROR_MAX] = "";

	put(text, strlen(text));
	if (nt_cgroup_names_new(&names, file, error))
		fail_msg("%s", error);
	return names;
}

static void check_label(const struct nt_cgroup_names *names, const char *path, const char *name, const char *label)
{
	struct nt_cgroup_words words;
	struct nt_arena arena = {0};

	nt_cgroup_describe(&words, names, &arena, path);
	assert_string_equal(words.name ? words.name : "none", name ? name : "none");
	assert_string_equal(words.label, label);
	nt_arena_release(&arena);
}

/* ---- without names ---- */

static void labels_by_path(void **state)
{
	static const struct {
		const char *path, *label;
	} all[] = {
		{"/system.slice/docker-" ID ".scope", "docker 5eed91756358"},
		{"/docker/" ID "/system.slice/nginx.service", "docker 5eed91756358/system.slice/nginx.service"},
		{"/other/" ID, "container 5eed91756358"},
		{POD "/cri-containerd-" ID ".scope", "containerd 5eed91756358"},
		{POD, "pod " UID},
		{POD "/crio-conmon-" ID ".scope", "pod " UID "/crio-conmon-" ID ".scope"},
		{"/machine.slice/libpod-" ID ".scope/container", "podman 5eed91756358"},
		{"/machine.slice/libpod-" ID ".scope/container/a", "podman 5eed91756358/a"},
		{"/machine.slice/libpod-" ID ".scope/containers", "podman 5eed91756358/containers"},
		{"/machine.slice/systemd-nspawn@a-very-long-name.service/payload", "nspawn a-very-long-name"},
		{"/lxc.payload.web", "lxc web"},
		{"/system.slice/nginx.service", "nginx.service"},
		{"/system.slice/nginx.service/worker", "nginx.service/worker"},
		{"/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service"},
		{USER "/app.slice/web.service", "web.service (user 1000)"},
		{USER "/app.slice/web.service/worker", "web.service/worker (user 1000)"},
		{USER, "user@1000.service"},
		{"/system.slice", "/system.slice"},
		{"/", "/"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check_label(NULL, all[i].path, NULL, all[i].label);
}

static void gives_the_parts(void **state)
{
	struct nt_cgroup_words words;
	struct nt_arena arena = {0};

	(void)state;
	nt_cgroup_describe(&words, NULL, &arena, POD "/cri-containerd-" ID ".scope/system.slice/a.service/b");
	assert_string_equal(words.runtime, "containerd");
	assert_string_equal(words.container, ID);
	assert_string_equal(words.pod, UID);
	assert_string_equal(words.unit, "a.service");
	nt_cgroup_describe(&words, NULL, &arena, "/");
	assert_null(words.runtime);
	assert_null(words.container);
	assert_null(words.pod);
	assert_null(words.unit);
	nt_arena_release(&arena);
}

/* ---- with names ---- */

static void names_containers(void **state)
{
	struct nt_cgroup_names *names = read_names("# what docker ps says\n"
						   "\n"
						   "5eed91756358 web\n"
						   "\t docker://5eed6701ec28 \t a proxy  \r\n"
						   "5eed6 other\n"
						   "ffff nothing that was recorded\n"
						   "5eed91756358 web");

	(void)state;
	check_label(names, "/docker/" ID, "web", "web (5eed91756358)");
	check_label(names, "/docker/" ID "/a.service", "web", "web (5eed91756358)/a.service");
	/* The longer begin counts. */
	check_label(names, "/docker/" OTHER, "a proxy", "a proxy (5eed6701ec28)");
	check_label(names, "/docker/" OTHER "/x/" ID, "web", "web (5eed91756358)");
	check_label(names, "/system.slice/web.service", NULL, "web.service");
	nt_cgroup_names_free(names);
}

static void names_pods(void **state)
{
	struct nt_cgroup_names *names = read_names(UID " shop/web\ncontainerd://" ID " shop/web/nginx\n");

	(void)state;
	check_label(names, POD "/cri-containerd-" ID ".scope", "shop/web/nginx", "shop/web/nginx (5eed91756358)");
	check_label(names, POD "/cri-containerd-" OTHER ".scope/a", "shop/web", "shop/web (5eed6701ec28)/a");
	check_label(names, POD, "shop/web", "shop/web (pod a5c1f8d5)");
	check_label(names, POD "/a", "shop/web", "shop/web (pod a5c1f8d5)/a");
	nt_cgroup_names_free(names);
}

static void names_paths(void **state)
{
	struct nt_cgroup_names *names = read_names("/system.slice/web.service the web\n"
						   "/sys/fs/cgroup/system.slice/db.service/ database\n"
						   "/docker around\n"
						   "/docker/" OTHER " by path\n"
						   "/docker/" ID "/in inside\n"
						   "/ root\n");

	(void)state;
	check_label(names, "/system.slice/web.service", "the web", "the web");
	check_label(names, "/system.slice/web.service/a/b", "the web", "the web/a/b");
	check_label(names, "/system.slice/web.service2", NULL, "/system.slice/web.service2");
	check_label(names, "/system.slice/db.service", "database", "database");
	/* A container's name is not that of what is around it. */
	check_label(names, "/docker", "around", "around");
	check_label(names, "/docker/buildx", "around", "around/buildx");
	check_label(names, "/docker/" ID, NULL, "docker 5eed91756358");
	check_label(names, "/docker/" OTHER, "by path", "by path (5eed6701ec28)");
	check_label(names, "/docker/" ID "/in/x", "inside", "inside/x");
	check_label(names, "/", "root", "root");
	check_label(names, "/other", NULL, "/other");
	nt_cgroup_names_free(names);
}

/* A tape has the last 231 bytes of a path. */
static void names_long_paths(void **state)
{
	char text[1024] = "", path[512] = "";
	struct nt_cgroup_names *names;

	(void)state;
	for (int i = 0; i < 60; i++)
		snprintf(path + strlen(path), sizeof(path) - strlen(path), "/n%04d", i);
	snprintf(text, sizeof(text), "%s long", path);
	names = read_names(text);
	check_label(names, path + strlen(path) - 231, "long", "long");
	nt_cgroup_names_free(names);
}

static void bears_what_is_no_text(void **state)
{
	struct nt_cgroup_names *names = read_names("/a\xff/b n\xc3\n/c \x1b[31m\n");

	(void)state;
	check_label(names, "/a\xef\xbf\xbd/b", "n\xef\xbf\xbd", "n\xef\xbf\xbd");
	check_label(names, "/c", "\x1b[31m", "\x1b[31m");
	nt_cgroup_names_free(names);
}

/* ---- what is said ---- */

static void check_refused(const char *text, size_t size, const char *why)
{
	struct nt_cgroup_names *names;
	char error[NT_ERROR_MAX] = "";

	put(text, size);
	assert_int_equal(nt_cgroup_names_new(&names, file, error), -1);
	assert_null(names);
	assert_int_equal(strncmp(error, file, strlen(file)), 0);
	if (!strstr(error, why))
		fail_msg("'%s' and not '%s'", error, why);
}

static void says_what_is_wrong(void **state)
{
	static const struct {
		const char *text, *why;
	} all[] = {
		{"CONTAINER ID   NAMES\n", "line 1: 'CONTAINER' is no container's id, pod's uid or cgroup's path"},
		{"5eed a\nnginx.service b\n", "line 2: 'nginx.service' is no"},
		{"5EED a\n", "line 1: '5EED' is no"},
		{ID "0 a\n", "line 1: '" ID "0' is no"},
		{"a5c1f8d5-1919-434d-add7 a\n", "line 1: 'a5c1f8d5-1919-434d-add7' is no"},
		{"://5eed a\n", "line 1:"},
		{"#\n\n5eed\n", "line 3: there is no name behind '5eed': add one."},
		{"/a \t\r\n", "line 1: there is no name behind '/a'"},
		{"5eed a\nffff b\n5eed c\n", "line 3: '5eed' is 'c' here and 'a' in line 1: remove one of the lines."},
		{"/x/ a\n/x b\n", "line 2: '/x' is 'b' here and 'a' in line 1"},
		{"docker://5eed a\n5eed b\n", "line 2: '5eed' is 'b' here"},
	};
	char text[NT_CGROUP_NAME_MAX + 8] = "/a ", *large = calloc(1, NT_CGROUP_NAMES_FILE_MAX + 1);

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check_refused(all[i].text, strlen(all[i].text), all[i].why);
	check_refused("/a b\0c", 6, "is not text");
	memset(text + 3, 'x', NT_CGROUP_NAME_MAX + 1);
	check_refused(text, strlen(text), "line 1: the name has 513 bytes: give one of at most 512.");
	text[3 + NT_CGROUP_NAME_MAX] = 0;
	nt_cgroup_names_free(read_names(text));
	memset(large, '#', NT_CGROUP_NAMES_FILE_MAX + 1);
	check_refused(large, NT_CGROUP_NAMES_FILE_MAX + 1, "is longer than 16 MiB");
	put(large, NT_CGROUP_NAMES_FILE_MAX);
	free(large);
}

static void says_that_it_cannot_read(void **state)
{
	struct nt_cgroup_names *names;
	char error[NT_ERROR_MAX] = "";

	(void)state;
	assert_int_equal(nt_cgroup_names_new(&names, "/nowhere/names", error), -1);
	assert_non_null(strstr(error, "/nowhere/names cannot be read: "));
	assert_int_equal(nt_cgroup_names_new(&names, "/", error), -1);
	assert_non_null(strstr(error, "/ cannot be read: "));
}

static void takes_an_empty_file(void **state)
{
	struct nt_cgroup_names *names = read_names("");

	(void)state;
	check_label(names, "/docker/" ID, NULL, "docker 5eed91756358");
	nt_cgroup_names_free(names);
}

static void refuses_the_begin_of_two_ids(void **state)
{
	struct nt_cgroup_names *names = read_names("# x\n5eed a\n");
	char error[NT_ERROR_MAX] = "";

	(void)state;
	assert_int_equal(nt_cgroup_names_meet(names, "/docker/" ID, error), 0);
	assert_int_equal(nt_cgroup_names_meet(names, "/docker/" ID "/below", error), 0);
	assert_int_equal(nt_cgroup_names_meet(names, "/system.slice/a.service", error), 0);
	assert_int_equal(nt_cgroup_names_meet(names, "/lxc/5eed1", error), 0);
	assert_int_equal(nt_cgroup_names_meet(names, "/docker/" OTHER, error), -1);
	assert_non_null(strstr(error, "line 2: '5eed' is the begin of several containers' ids, 5eed9175635839"));
	nt_cgroup_names_free(names);
	/* Each has its own. */
	names = read_names("5eed a\n5eed6 b\n");
	assert_int_equal(nt_cgroup_names_meet(names, "/docker/" ID, error), 0);
	assert_int_equal(nt_cgroup_names_meet(names, "/docker/" OTHER, error), 0);
	nt_cgroup_names_free(names);
}

/* ---- beside a model ---- */

#define N_LINES 12
#define KEY_MAX 24

struct line {
	char key[KEY_MAX], name[4];
};

/* Short ones of few characters, so that they are often the same, or the begin of another. */
static void make_key(struct nt_rand *rand, char key[KEY_MAX])
{
	const bool is_path = nt_rand_below(rand, 2);
	const uint64_t n = 1 + nt_rand_below(rand, 4);

	key[0] = 0;
	for (uint64_t i = 0; i < n; i++)
		snprintf(key + strlen(key), KEY_MAX - strlen(key), "%s%c", is_path ? "/" : "",
			 "ab"[nt_rand_below(rand, 2)]);
}

static bool is_begin(const char *begin, const char *text)
{
	return !strncmp(begin, text, strlen(begin));
}

/* Which line names a path: a container's by the longest begin of its id, or by its path; others by the longest path. */
static const char *model(const struct line *lines, const char *path, const char *id)
{
	const char *name = NULL;
	size_t most = 0;

	for (size_t i = 0; i < N_LINES; i++) {
		const size_t size = strlen(lines[i].key);
		const bool fits = lines[i].key[0] == '/'
					  ? !id && is_begin(lines[i].key, path) && (!path[size] || path[size] == '/')
					  : id && is_begin(lines[i].key, id);

		if (fits && size > most) {
			most = size;
			name = lines[i].name;
		}
	}
	return name;
}

static void compare(struct nt_rand *rand, const struct nt_cgroup_names *names, const struct line *lines)
{
	char id[65], path[128];
	struct nt_cgroup_words words;
	struct nt_arena arena = {0};
	const char *wanted;
	const bool is_container = nt_rand_below(rand, 2);

	for (int i = 0; i < 64; i++)
		id[i] = "ab"[nt_rand_below(rand, 2)];
	id[64] = 0;
	if (is_container)
		snprintf(path, sizeof(path), "/docker/%s", id);
	else
		do
			make_key(rand, path);
		while (path[0] != '/');
	wanted = model(lines, path, is_container ? id : NULL);
	nt_cgroup_describe(&words, names, &arena, path);
	assert_string_equal(words.name ? words.name : "none", wanted ? wanted : "none");
	nt_arena_release(&arena);
}

static void finds_as_the_model(void **state)
{
	struct nt_rand rand = {.state = 1};

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct line lines[N_LINES];
		struct nt_cgroup_names *names;
		char text[N_LINES * 32] = "";

		for (size_t i = 0; i < N_LINES; i++) {
			make_key(&rand, lines[i].key);
			/* One key, one name. */
			snprintf(lines[i].name, sizeof(lines[i].name), "%zu", i);
			for (size_t j = 0; j < i; j++) {
				if (!strcmp(lines[j].key, lines[i].key))
					memcpy(lines[i].name, lines[j].name, sizeof(lines[i].name));
			}
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %s\n", lines[i].key,
				 lines[i].name);
		}
		names = read_names(text);
		for (int i = 0; i < 50; i++)
			compare(&rand, names, lines);
		nt_cgroup_names_free(names);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_by_path),
		cmocka_unit_test(gives_the_parts),
		cmocka_unit_test(names_containers),
		cmocka_unit_test(names_pods),
		cmocka_unit_test(names_paths),
		cmocka_unit_test(names_long_paths),
		cmocka_unit_test(bears_what_is_no_text),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(says_that_it_cannot_read),
		cmocka_unit_test(takes_an_empty_file),
		cmocka_unit_test(refuses_the_begin_of_two_ids),
		cmocka_unit_test(finds_as_the_model),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
