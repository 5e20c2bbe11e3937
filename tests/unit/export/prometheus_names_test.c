// SPDX-License-Identifier: GPL-2.0-only
/*
 * prometheus_names_test.c - the names that groups get while a tape is followed, against the rule in words: a group has
 * a name once it has weighed a hundredth of all, there are no more names than the limit, and it keeps its name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "report/export/prometheus/groups.h"
#include "tests/support/rand.h"

#define N_GROUPS 400
#define LIMIT 6

struct model {
	double weights[N_GROUPS], total; /* of all rounds so far */
	double named[N_GROUPS], others; /* as they were given */
	bool has_name[N_GROUPS];
	size_t n_names;
};

/* The number in a group's name. */
static unsigned int number_of(const char *name)
{
	unsigned int number = N_GROUPS;

	assert_int_equal(sscanf(name, "g%u", &number), 1);
	assert_true(number < N_GROUPS);
	return number;
}

static int visit(void *arg, const char *name, const struct nt_prometheus_group *group)
{
	struct model *model = arg;
	const unsigned int number = *(const unsigned int *)group->figures;

	model->weights[number] += group->weight;
	if (!model->has_name[number] && model->n_names < LIMIT && group->weight > 0 &&
	    model->weights[number] * NT_NAMED_SHARE >= model->total) {
		model->has_name[number] = true;
		model->n_names++;
	}
	assert_int_equal(strcmp(name, "other") != 0, model->has_name[number]);
	if (model->has_name[number])
		assert_int_equal(number_of(name), number);
	*(model->has_name[number] ? &model->named[number] : &model->others) += group->weight;
	return 0;
}

static void add_round(struct nt_rand *rand, struct nt_prometheus_groups *groups, const struct nt_sheet *sheet,
		      struct model *model)
{
	for (unsigned int i = 0, n = 1 + (unsigned int)nt_rand_below(rand, 30); i < n; i++) {
		/* A few weigh much. */
		const unsigned int number = (unsigned int)nt_rand_below(rand, nt_rand_below(rand, 2) ? 10 : N_GROUPS);
		const uint64_t weight = nt_rand_below(rand, number < 10 ? 1000 : 20);
		struct nt_prometheus_group *group;
		char name[16];

		snprintf(name, sizeof(name), "g%u", number);
		group = nt_prometheus_group(groups, sheet, name, sizeof(number));
		assert_non_null(group);
		*(unsigned int *)group->figures = number;
		group->weight += (double)weight;
		model->total += (double)weight;
	}
}

static void test_names(void **state)
{
	const uint64_t seed = nt_rand_seed();
	struct nt_rand rand = {seed};
	struct nt_sheet sheet = {0};
	struct nt_prometheus_named named = {0};
	struct model model = {.n_names = 0};
	double sum;

	(void)state;
	assert_int_equal(nt_sheet_begin(&sheet, "", 0), 0);
	for (unsigned int round = 0; round < 300; round++) {
		struct nt_prometheus_groups groups = {0};

		add_round(&rand, &groups, &sheet, &model);
		assert_int_equal(nt_prometheus_each_new(&groups, LIMIT, &named, &sheet, visit, &model), 0);
		nt_prometheus_release_groups(&groups, NULL);
		sum = model.others;
		for (unsigned int i = 0; i < N_GROUPS; i++)
			sum += model.named[i];
		assert_true(sum == model.total);
	}
	assert_int_equal(model.n_names, LIMIT);
	nt_prometheus_release_named(&named);
	nt_sheet_release(&sheet);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
