// SPDX-License-Identifier: GPL-2.0-only
/*
 * driver.c - runs a fuzz target without libFuzzer, for every check: each input as it is, and mutations of it,
 * always the same for the same NT_SEED.
 *
 *   NAME_fuzz [-n MUTATIONS] [-t SECONDS] [-o FILE] [INPUT|DIRECTORY...]
 *
 * Without inputs: those in tests/fuzz/corpus/NAME_fuzz. Every input runs once; then mutations of all in turn, 1000 of
 * each (-n), until 10 seconds (-t) are over. An input that ends in an abort or a sanitizer's report is written to FILE
 * (build/NAME_fuzz.failed).
 */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "schema/block.h"
#include "tests/support/rand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

#define INPUT_MAX (1u << 20)

struct driver {
	struct nt_buf *inputs;
	size_t n_inputs, capacity;
	unsigned long mutations; /* of each input */
	double seconds;
	struct nt_rand rand;
};

/* The input that is running, for save_running(). */
static const uint8_t *running;
static size_t running_size;
static char failed_path[4096];

static void save_running(void)
{
	FILE *file = fopen(failed_path, "wb");

	if (!file)
		return;
	fwrite(running, 1, running_size, file);
	fclose(file);
	fprintf(stderr, "the input is in %s\n", failed_path);
}

static void on_abort(int signal_number)
{
	(void)signal_number;
	save_running();
}

static void run(const struct nt_buf *input)
{
	/* In memory of just its size, so that the sanitizer sees what reads beyond. */
	uint8_t *exact = malloc(input->size ? input->size : 1);

	if (!exact)
		abort();
	if (input->size)
		memcpy(exact, input->data, input->size);
	running = exact;
	running_size = input->size;
	LLVMFuzzerTestOneInput(exact, input->size);
	free(exact);
}

static int add_file(struct driver *driver, const char *path)
{
	struct nt_buf input = {0};
	FILE *file = fopen(path, "rb");
	size_t n = 0;

	if (!file || nt_buf_reserve(&input, INPUT_MAX)) {
		fprintf(stderr, "%s: cannot read\n", path);
		return -1;
	}
	n = fread(input.data, 1, INPUT_MAX, file);
	fclose(file);
	input.size = n;
	if (driver->n_inputs == driver->capacity) {
		driver->capacity = driver->capacity ? driver->capacity * 2 : 16;
		driver->inputs = reallocarray(driver->inputs, driver->capacity, sizeof(*driver->inputs));
		if (!driver->inputs)
			return -1;
	}
	driver->inputs[driver->n_inputs++] = input;
	return 0;
}

static int add_path(struct driver *driver, const char *path)
{
	struct dirent **entries;
	struct stat stat_of;
	int n, err = 0;

	if (stat(path, &stat_of) == 0 && !S_ISDIR(stat_of.st_mode))
		return add_file(driver, path);
	n = scandir(path, &entries, NULL, alphasort);
	if (n < 0) {
		perror(path);
		return -1;
	}
	for (int i = 0; i < n; i++) {
		char below[4096];

		snprintf(below, sizeof(below), "%s/%s", path, entries[i]->d_name);
		if (!err && entries[i]->d_name[0] != '.')
			err = add_path(driver, below);
		free(entries[i]);
	}
	free(entries);
	return err;
}

static void overwrite(struct nt_rand *rand, struct nt_buf *input)
{
	static const uint64_t interesting[] = {0,      1,      0x7f,	   0x80,       0xff,
					       0x7fff, 0xffff, 0x7fffffff, 0xffffffff, UINT64_MAX};
	size_t widths[] = {1, 2, 4, 8}, width = widths[nt_rand_below(rand, 4)];
	uint64_t value = interesting[nt_rand_below(rand, 10)];

	if (input->size >= width)
		memcpy(input->data + nt_rand_below(rand, input->size - width + 1), &value, width);
}

/* A stretch of this input, or of another, is put over, put in, or taken out. */
static void splice(struct nt_rand *rand, struct nt_buf *input, const struct nt_buf *other)
{
	size_t at = nt_rand_below(rand, input->size + 1), from = nt_rand_below(rand, other->size + 1);
	size_t size = nt_rand_below(rand, 1 + nt_rand_below(rand, 300));

	if (size > other->size - from)
		size = other->size - from;
	switch (nt_rand_below(rand, 3)) {
	case 0:
		if (size <= input->size - at)
			memmove(input->data + at, other->data + from, size);
		break;
	case 1:
		if (other == input || input->size + size > INPUT_MAX || nt_buf_reserve(input, size))
			break;
		memmove(input->data + at + size, input->data + at, input->size - at);
		memcpy(input->data + at, other->data + from, size);
		input->size += size;
		break;
	default:
		if (size > input->size - at)
			size = input->size - at;
		memmove(input->data + at, input->data + at + size, input->size - at - size);
		input->size -= size;
	}
}

static void mutate(struct driver *driver, struct nt_buf *input)
{
	struct nt_rand *rand = &driver->rand;
	uint64_t steps = 1 + nt_rand_below(rand, 1 + nt_rand_below(rand, 8));

	while (steps--) {
		switch (nt_rand_below(rand, 8)) {
		case 0:
		case 1:
			if (input->size)
				input->data[nt_rand_below(rand, input->size)] ^= (uint8_t)(1 << nt_rand_below(rand, 8));
			break;
		case 2:
		case 3:
			if (input->size)
				input->data[nt_rand_below(rand, input->size)] = (uint8_t)nt_rand_u64(rand);
			break;
		case 4:
			overwrite(rand, input);
			break;
		case 5:
			input->size = nt_rand_below(rand, input->size + 1);
			break;
		default:
			splice(rand, input,
			       nt_rand_below(rand, 2) ? input : &driver->inputs[nt_rand_below(rand, driver->n_inputs)]);
		}
	}
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static unsigned long run_all(struct driver *driver)
{
	double end = now() + driver->seconds;
	struct nt_buf mutated = {0};
	unsigned long runs = 0;

	for (size_t i = 0; i < driver->n_inputs; i++, runs++)
		run(&driver->inputs[i]);
	for (unsigned long k = 0; k < driver->mutations && now() < end; k++) {
		for (size_t i = 0; i < driver->n_inputs; i++, runs++) {
			mutated.size = 0;
			if (nt_buf_append(&mutated, driver->inputs[i].data, driver->inputs[i].size))
				abort();
			mutate(driver, &mutated);
			run(&mutated);
		}
	}
	nt_buf_release(&mutated);
	return runs;
}

static int add_inputs(struct driver *driver, int argc, char **argv, const char *name)
{
	char corpus[4096];

	if (optind == argc) {
		snprintf(corpus, sizeof(corpus), "tests/fuzz/corpus/%s", name);
		return add_path(driver, corpus);
	}
	for (int i = optind; i < argc; i++)
		if (add_path(driver, argv[i]))
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	struct driver driver = {.mutations = 1000, .seconds = 10, .rand = {nt_rand_seed()}};
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
	double begin = now();
	unsigned long runs;
	int option;

	snprintf(failed_path, sizeof(failed_path), "build/%s.failed", name);
	while ((option = getopt(argc, argv, "n:t:o:")) != -1) {
		if (option == 'n')
			driver.mutations = strtoul(optarg, NULL, 0);
		else if (option == 't')
			driver.seconds = strtod(optarg, NULL);
		else if (option == 'o')
			snprintf(failed_path, sizeof(failed_path), "%s", optarg);
		else
			return 2;
	}
	signal(SIGABRT, on_abort);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(save_running);
	if (add_inputs(&driver, argc, argv, name) || !driver.n_inputs) {
		fprintf(stderr, "%s: no inputs\n", name);
		return 1;
	}
	runs = run_all(&driver);
	printf("%s: %zu inputs and %lu mutations ran in %.1f s\n", name, driver.n_inputs, runs - driver.n_inputs,
	       now() - begin);
	for (size_t i = 0; i < driver.n_inputs; i++)
		nt_buf_release(&driver.inputs[i]);
	free(driver.inputs);
	return 0;
}
