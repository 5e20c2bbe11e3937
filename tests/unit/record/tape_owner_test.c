// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_owner_test.c - whose the tape is: by sudo's and pkexec's variables, malformed ones, and by name; as root, and as
 * anybody else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/tape_owner.h"

/* The owner by these variables; NULL: not set. */
static struct nt_tape_owner called_by(const char *sudo_uid, const char *sudo_gid, const char *pkexec_uid, char *warning,
				      size_t size)
{
	static const char *const names[] = {"SUDO_UID", "SUDO_GID", "PKEXEC_UID"};
	const char *values[] = {sudo_uid, sudo_gid, pkexec_uid};
	struct nt_tape_owner owner;

	for (size_t i = 0; i < 3; i++) {
		if (values[i])
			setenv(names[i], values[i], 1);
		else
			unsetenv(names[i]);
	}
	nt_tape_owner_of_caller(&owner, warning, size);
	return owner;
}

static void test_callers(void **state)
{
	char warning[256];
	struct nt_tape_owner owner = called_by("12345", "23456", NULL, warning, sizeof(warning));

	(void)state;
	assert_string_equal(warning, "");
	assert_false(owner.is_asked);
	assert_int_equal(owner.is_other, geteuid() == 0);
	if (geteuid()) {
		print_message("SKIP: only root gives a tape away\n");
		skip();
	}
	assert_int_equal(owner.uid, 12345);
	assert_int_equal(owner.gid, 23456);
	/* Without a number of a group: the user's own, if he has one. */
	owner = called_by("12345", "users", NULL, warning, sizeof(warning));
	assert_int_equal(owner.uid, 12345);
	assert_true(getpwuid(12345) || owner.gid == (gid_t)-1);
	owner = called_by(NULL, "23456", "12345", warning, sizeof(warning));
	assert_true(owner.is_other);
	assert_int_equal(owner.uid, 12345);
	assert_true(owner.gid != 23456 || getpwuid(12345));
	/* Root called sudo: the tape stays his. */
	assert_false(called_by("0", "0", NULL, warning, sizeof(warning)).is_other);
	assert_false(called_by(NULL, NULL, NULL, warning, sizeof(warning)).is_other);
	assert_string_equal(warning, "");
}

static void test_malformed(void **state)
{
	static const char *const bad[] = {"",
					  " 1",
					  "+1",
					  "-1",
					  "1 ",
					  "0x10",
					  "root",
					  "1.5",
					  "4294967295",
					  "4294967296",
					  "18446744073709551617",
					  "99999999999999999999999999"};
	char warning[256];

	(void)state;
	if (geteuid()) {
		print_message("SKIP: only root gives a tape away\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(called_by(bad[i], "100", "12345", warning, sizeof(warning)).is_other);
		assert_non_null(strstr(warning, "SUDO_UID is not a user's number"));
		assert_false(called_by(NULL, NULL, bad[i], warning, sizeof(warning)).is_other);
		assert_non_null(strstr(warning, "PKEXEC_UID is not a user's number"));
	}
	assert_int_equal(called_by("4294967294", "4294967295", NULL, warning, sizeof(warning)).uid, 4294967294u);
}

static void test_named(void **state)
{
	char error[256] = "", number[32], name[NT_USER_NAME_MAX];
	const struct passwd *me = getpwuid(geteuid());
	struct nt_tape_owner owner;

	(void)state;
	assert_false(nt_tape_owner_named(&owner, "no such user", error, sizeof(error)));
	assert_non_null(strstr(error, "there is no user 'no such user'"));
	assert_false(nt_tape_owner_named(&owner, "", error, sizeof(error)));
	/* Oneself, by number: nothing is to be given away. */
	snprintf(number, sizeof(number), "%u", (unsigned int)geteuid());
	assert_true(nt_tape_owner_named(&owner, number, error, sizeof(error)));
	assert_false(owner.is_other);
	assert_true(owner.is_asked);
	if (me) {
		assert_true(nt_tape_owner_named(&owner, me->pw_name, error, sizeof(error)));
		assert_false(owner.is_other);
		assert_int_equal(owner.gid, me->pw_gid);
	}
	assert_int_equal(nt_tape_owner_named(&owner, "4294967294", error, sizeof(error)), geteuid() == 0);
	assert_string_equal(nt_user_name(4294967294u, name), "user 4294967294");
	if (geteuid())
		assert_non_null(strstr(error, "only root"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
