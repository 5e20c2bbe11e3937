// SPDX-License-Identifier: GPL-2.0-only
/*
 * demangle_test.c - names of C++ and Rust, what is none, and names that would become larger than any memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "report/symbols/demangle.h"

static char out[NT_DEMANGLED_SIZE];

static void is_written(const char *name, const char *as)
{
	assert_true(nt_demangle(name, out));
	assert_string_equal(out, as);
}

static void writes_names_as_in_their_sources(void **state)
{
	(void)state;
	is_written("_ZN4demo5Proxy7forwardEPKcm", "demo::Proxy::forward");
	is_written("_ZN3BoxISt6vectorIiSaIiEEE3hitEv", "Box<std::vector<int, std::allocator<int> > >::hit");
	is_written("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	is_written("_RNvC7mycrate3foo", "mycrate::foo");
}

static void leaves_other_names(void **state)
{
	static const char *const names[] = {"", "_", "_Z", "_R", "main", "_start", "_Zebra", "_ZN4demo", "__Z3foov"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(nt_demangle(names[i], out));
}

/* f<p<int, int>, p<A, A>, p<B, B>, ...>, where each is the one before it: twice as long with every 11 bytes. */
static void stops_at_names_without_bound(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[512], *at = name + sprintf(name, "_Z1fI1pIiiE");

	(void)state;
	for (int i = 1; i < 35; i++)
		at += sprintf(at, "S0_IS%c_S%c_E", digits[i], digits[i]);
	strcpy(at, "Evv");
	assert_false(nt_demangle(name, out));
	strcpy(name + 11 + 11 * 4, "Evv");
	assert_true(nt_demangle(name, out));
	assert_int_equal(strncmp(out, "f<p<int, int>, p<p<int, int>, p<int, int> >, ", 45), 0);
}

static void stops_at_names_that_are_too_long(void **state)
{
	static char name[8192];

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	memcpy(name, "_Z7000", 6);
	assert_false(nt_demangle(name, out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_names_as_in_their_sources),
		cmocka_unit_test(leaves_other_names),
		cmocka_unit_test(stops_at_names_without_bound),
		cmocka_unit_test(stops_at_names_that_are_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
