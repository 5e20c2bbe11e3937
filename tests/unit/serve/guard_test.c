// SPDX-License-Identifier: GPL-2.0-only
/*
 * guard_test.c - which requests nettape-serve refuses: by the name of the host that they ask for, and by the token. And
 * the command line's addresses, and files with a token.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "report/serve/guard.h"
#include "report/serve/listener.h"
#include "report/serve/token.h"
#include "report/util/array.h"
#include "tests/support/scratch.h"

#define TOKEN "0123456789abcdef"

static const char *const names[] = {"metrics.example.org"};

static unsigned int refuses(const char *host, const char *authorization, const char *token)
{
	const struct nt_guard guard = {.token = TOKEN, .names = names, .n_names = NT_COUNT(names)};
	const struct nt_request request = {.host = host, .authorization = authorization, .token = token};

	return nt_guard_refuses(&guard, &request);
}

static void test_hosts(void **state)
{
	static const char *const good[] = {
		"127.0.0.1:9477", "127.0.0.1",	"localhost:9477", "LocalHost",
		"10.1.2.3:1",	  "[::1]:9477", "[fe80::1]",	  "METRICS.example.org:443",
	};
	static const char *const bad[] = {
		"",
		":",
		":9477",
		"evil.org",
		"evil.org:9477",
		"localhost.evil.org",
		"127.0.0.1.evil.org",
		"localhost:evil",
		"127.0.0.1:9477:9477",
		"127.1",
		"1.2.3",
		"[::1",
		"[]",
		"[::1]evil.org",
		"[evil.org]:9477",
		"::1",
		"localhost@evil.org",
		"xmetrics.example.org",
		"metrics.example.org.",
	};
	char longest[400];

	(void)state;
	for (size_t i = 0; i < NT_COUNT(good); i++)
		assert_int_equal(refuses(good[i], NULL, TOKEN), 0);
	for (size_t i = 0; i < NT_COUNT(bad); i++)
		assert_int_equal(refuses(bad[i], NULL, TOKEN), 403);
	assert_int_equal(refuses(NULL, NULL, TOKEN), 403);
	memset(longest, '1', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	assert_int_equal(refuses(longest, NULL, TOKEN), 403);
}

static void test_tokens(void **state)
{
	static const char *const bad[] = {
		"",	     "0",      "0123456789abcde", "0123456789abcdeg", "0123456789abcdef0", "0123456789ABCDEF",
		TOKEN TOKEN, TOKEN " "};
	const struct nt_guard open = {.token = NULL};
	char header[100];

	(void)state;
	assert_int_equal(refuses("localhost", NULL, NULL), 401);
	for (size_t i = 0; i < NT_COUNT(bad); i++) {
		snprintf(header, sizeof(header), "Bearer %s", bad[i]);
		assert_int_equal(refuses("localhost", header, bad[i]), 401);
		assert_int_equal(refuses("localhost", header, TOKEN), 0);
	}
	assert_int_equal(refuses("localhost", "Bearer " TOKEN, NULL), 0);
	assert_int_equal(refuses("localhost", "bearer  " TOKEN, "wrong"), 0);
	assert_int_equal(refuses("localhost", TOKEN, NULL), 401);
	assert_int_equal(refuses("localhost", "Basic " TOKEN, NULL), 401);
	assert_int_equal(refuses("localhost", "Bearer", NULL), 401);
	/* A Unix socket: whoever can open it may ask, by any name. */
	assert_int_equal(nt_guard_refuses(&open, &(struct nt_request){.host = "evil.org"}), 0);
}

static void test_listeners(void **state)
{
	static const char *const good[][2] = {
		{"127.0.0.1:9477", "127.0.0.1:9477"},
		{"9478", "127.0.0.1:9478"},
		{"0", "127.0.0.1:0"},
		{"[::1]:9477", "[::1]:9477"},
		{"0.0.0.0:1", "0.0.0.0:1"},
		{"unix:/run/x.sock", "/run/x.sock"},
		{"unix:a:b", "a:b"},
	};
	static const char *const bad[] = {
		"",	  ":",	   ":1",      "127.0.0.1", "127.0.0.1:",   "127.0.0.1:65536", "127.0.0.1:1x", "-1",
		"::1:80", "[::1]", "[::1:80", "[]:80",	   "localhost:80", "unix:",	      "1.2.3.4.5:6"};
	char name[NT_LISTENER_NAME_MAX], path[300] = "unix:";
	struct nt_listener listener;

	(void)state;
	for (size_t i = 0; i < NT_COUNT(good); i++) {
		assert_true(nt_listener_parse(&listener, good[i][0]));
		assert_string_equal(nt_listener_name(&listener, name), good[i][1]);
		assert_int_equal(nt_listener_is_local(&listener), strcmp(good[i][0], "0.0.0.0:1") != 0);
	}
	for (size_t i = 0; i < NT_COUNT(bad); i++)
		assert_false(nt_listener_parse(&listener, bad[i]));
	memset(path + 5, 'x', sizeof(path) - 6);
	assert_false(nt_listener_parse(&listener, path));
}

/* What a file holds; the sentence says that it is no token, or may be read by all. */
static void refuses_file(const char *path, const char *text, size_t size, mode_t mode, const char *why)
{
	char token[NT_TOKEN_MAX], error[NT_ERROR_MAX];

	scratch_write(path, text, size);
	assert_int_equal(chmod(path, mode), 0);
	assert_int_equal(nt_token_of_file(path, token, error), -1);
	assert_non_null(strstr(error, path));
	assert_non_null(strstr(error, why));
}

static void test_files(void **state)
{
	char dir[SCRATCH_MAX], path[2 * SCRATCH_MAX], first[NT_TOKEN_MAX], second[NT_TOKEN_MAX], error[NT_ERROR_MAX];
	char text[NT_TOKEN_MAX + 10];
	struct stat status;

	(void)state;
	scratch_make(dir);
	scratch_path(path, dir, "token");
	assert_int_equal(nt_token_of_file(path, first, error), 0);
	assert_int_equal(strspn(first, "0123456789abcdef"), 32);
	assert_int_equal(strlen(first), 32);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	/* It stays. */
	assert_int_equal(nt_token_of_file(path, second, error), 0);
	assert_string_equal(first, second);
	assert_int_equal(nt_token_new(second, error), 0);
	assert_string_not_equal(first, second);

	memset(text, 'x', sizeof(text));
	refuses_file(path, text, 20, 0644, "chmod g-w,o=");
	refuses_file(path, text, 20, 0602, "chmod g-w,o=");
	refuses_file(path, text, 20, 0620, "chmod g-w,o=");
	refuses_file(path, text, 15, 0640, "no token");
	refuses_file(path, text, 0, 0600, "no token");
	refuses_file(path, text, sizeof(text), 0600, "no token");
	refuses_file(path, text, NT_TOKEN_MAX, 0600, "no token");
	refuses_file(path, "two lines of text\nxxxxxxxxxxx\n", 30, 0600, "no token");
	refuses_file(path, "0123456789abcdef\0x\n", 19, 0600, "no token");
	scratch_write(path, text, NT_TOKEN_MAX - 1);
	assert_int_equal(nt_token_of_file(path, first, error), 0);
	assert_int_equal(strlen(first), NT_TOKEN_MAX - 1);
	scratch_write(path, "0123456789abcdef\n", 17);
	assert_int_equal(nt_token_of_file(path, first, error), 0);
	assert_string_equal(first, TOKEN);
	/* A directory, a file that cannot be made. */
	assert_int_equal(nt_token_of_file(dir, first, error), -1);
	assert_int_equal(nt_token_of_file("/nowhere/token", first, error), -1);
	scratch_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_listeners),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
