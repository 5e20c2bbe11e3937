// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring_test.c - reading a BPF ring buffer through its shared pages: the pages are made here, by the kernel's contract,
 * and filled beside a list of what must come out, while the reader lags by random amounts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include <string.h>

#include "record/ring.h"
#include "tests/support/rand.h"

#include <bpf/bpf.h>

/* For nt_ring_reader_init, which no test here calls. */
int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_size, __u32 value_size, __u32 max_entries,
		   const struct bpf_map_create_opts *opts)
{
	(void)type, (void)name, (void)key_size, (void)value_size, (void)max_entries, (void)opts;
	return -1;
}

#define SIZE (1u << 18)

static struct {
	unsigned long consumer, producer;
	_Alignas(8) uint8_t data[2 * SIZE];
} pages;
static struct nt_ring_reader ring;

static int set_up(void **state)
{
	(void)state;
	memset(&pages, 0, sizeof(pages));
	ring = (struct nt_ring_reader){
		.fd = -1, .size = SIZE, .consumer = &pages.consumer, .producer = &pages.producer, .data = pages.data};
	return 0;
}

/* The data stands twice in a row: as the kernel maps it. */
static void put_bytes(unsigned long at, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		pages.data[(at + i) % SIZE] = pages.data[(at + i) % SIZE + SIZE] = ((const uint8_t *)bytes)[i];
}

/* A sample whose bytes all are `fill`. Gives where its header stands. */
static unsigned long put(uint8_t fill, uint32_t size, uint32_t bits)
{
	unsigned long at = pages.producer;
	uint8_t bytes[512];
	uint32_t header[2] = {size | bits, 0};

	memset(bytes, fill, size);
	put_bytes(at, header, sizeof(header));
	put_bytes(at + BPF_RINGBUF_HDR_SZ, bytes, size);
	pages.producer = at + ((size + BPF_RINGBUF_HDR_SZ + 7) & ~7ul);
	return at;
}

static struct {
	uint8_t fills[100000];
	uint32_t sizes[100000];
	size_t n;
	int refuse_at; /* which sample is refused; -1: none */
	unsigned long consumer_seen; /* what was given back when the last one came */
} got;

static int take(void *arg, const uint8_t *data, size_t size)
{
	assert_ptr_equal(arg, &got);
	for (size_t i = 1; i < size; i++)
		assert_int_equal(data[i], data[0]);
	got.fills[got.n] = size ? data[0] : 0;
	got.sizes[got.n++] = (uint32_t)size;
	got.consumer_seen = pages.consumer;
	return got.refuse_at == (int)got.n - 1 ? -7 : 0;
}

static int drain(void)
{
	got.n = 0;
	return nt_ring_reader_drain(&ring, take, &got);
}

static void gives_all_in_order(void **state)
{
	static uint8_t fills[100000];
	static uint32_t sizes[100000];
	struct nt_rand rand = {.state = 5};

	(void)state;
	got.refuse_at = -1;
	assert_true(nt_ring_reader_is_empty(&ring));
	for (int turn = 0; turn < 200; turn++) {
		size_t n = 0, room = nt_rand_below(&rand, SIZE - 1024);

		while (pages.producer - pages.consumer < room) {
			uint32_t size = (uint32_t)nt_rand_below(&rand, 400), bits = 0;

			if (!nt_rand_below(&rand, 5))
				bits = BPF_RINGBUF_DISCARD_BIT;
			fills[n] = size ? (uint8_t)nt_rand_u64(&rand) : 0;
			sizes[n] = size;
			put(fills[n], size, bits);
			n += !bits;
		}
		assert_int_equal(drain(), 0);
		assert_int_equal(got.n, n);
		assert_memory_equal(got.fills, fills, n);
		assert_memory_equal(got.sizes, sizes, n * sizeof(sizes[0]));
		assert_true(nt_ring_reader_is_empty(&ring));
		assert_int_equal(pages.consumer, pages.producer);
	}
	/* It has been round. */
	assert_true(pages.producer > 10ul * SIZE);
}

/* A sample that is reserved but not yet submitted ends the drain; those behind it come once it is submitted. */
static void waits_for_a_writer(void **state)
{
	unsigned long at;

	(void)state;
	got.refuse_at = -1;
	put(1, 16, 0);
	at = put(2, 24, BPF_RINGBUF_BUSY_BIT);
	put(3, 8, 0);
	assert_int_equal(drain(), 0);
	assert_int_equal(got.n, 1);
	assert_int_equal(pages.consumer, at);
	assert_false(nt_ring_reader_is_empty(&ring));
	assert_int_equal(drain(), 0);
	assert_int_equal(got.n, 0);
	put_bytes(at, (const uint32_t[]){24}, 4);
	assert_int_equal(drain(), 0);
	assert_int_equal(got.n, 2);
	assert_int_equal(got.fills[0], 2);
	assert_int_equal(got.fills[1], 3);
}

static void a_refused_sample_is_read(void **state)
{
	(void)state;
	for (uint8_t i = 0; i < 4; i++)
		put(i, 16, 0);
	got.refuse_at = 1;
	assert_int_equal(drain(), -7);
	assert_int_equal(got.n, 2);
	got.refuse_at = -1;
	assert_int_equal(drain(), 0);
	assert_int_equal(got.n, 2);
	assert_int_equal(got.fills[0], 2);
}

/* A long drain gives room back on its way, and not for each sample. */
static void gives_room_back(void **state)
{
	(void)state;
	got.refuse_at = -1;
	while (pages.producer < SIZE - 1024)
		put(9, 248, 0);
	assert_int_equal(drain(), 0);
	assert_in_range(got.consumer_seen, SIZE / 2, pages.producer - 1);
	assert_int_equal(pages.consumer, pages.producer);
	for (int i = 0; i < 10; i++)
		put(9, 248, 0);
	assert_int_equal(drain(), 0);
	assert_int_equal(got.consumer_seen, pages.consumer - 10 * 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(gives_all_in_order, set_up),
		cmocka_unit_test_setup(waits_for_a_writer, set_up),
		cmocka_unit_test_setup(a_refused_sample_is_read, set_up),
		cmocka_unit_test_setup(gives_room_back, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
