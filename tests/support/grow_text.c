// SPDX-License-Identifier: GPL-2.0-only
/*
 * grow_text.c - see grow_text.h.
 */
#include "tests/support/grow_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "schema/kind.h"
#include "tests/support/must.h"

/* One word, and where it stands. */
struct word {
	const char *at;
	size_t size, name_size; /* the name: up to the "=", with it, or 0 */
	size_t line, number; /* from 0; number in the line */
};

/* A text that is being gone through. */
struct walk {
	struct text left;
	size_t line, number;
};

static void take(struct walk *walk, size_t n)
{
	walk->left.at += n;
	walk->left.size -= n;
}

/* Goes over what stands before the next word; gives how many bytes that was. */
static size_t pass_space(struct walk *walk)
{
	size_t n = 0;

	while (walk->left.size && isspace((unsigned char)*walk->left.at)) {
		if (*walk->left.at == '\n') {
			walk->line++;
			walk->number = 0;
		}
		take(walk, 1);
		n++;
	}
	return n;
}

/* The word that stands next; its size is 0 at the end. */
static struct word next_word(struct walk *walk)
{
	struct word word = {.at = walk->left.at, .line = walk->line, .number = walk->number++};

	while (word.size < walk->left.size && !isspace((unsigned char)word.at[word.size])) {
		word.size++;
		if (word.at[word.size - 1] == '=')
			word.name_size = word.size;
	}
	take(walk, word.size);
	return word;
}

static bool read_number(const struct word *word, uint64_t *value)
{
	*value = 0;
	for (size_t i = word->name_size; i < word->size; i++) {
		if (!isdigit((unsigned char)word->at[i]))
			return false;
		*value = *value * 10 + (uint64_t)(word->at[i] - '0');
	}
	return word->size > word->name_size;
}

static bool is_same(const struct word *a, const struct word *b)
{
	if (a->line != b->line || a->name_size != b->name_size)
		return false;
	return a->name_size ? !memcmp(a->at, b->at, a->name_size) : a->number == b->number;
}

/* The number that stands in `text` where `word` stands in its text; 0: there is none. */
static uint64_t same_number(struct text text, const struct word *word)
{
	struct walk walk = {.left = text};
	uint64_t value = 0;

	for (;;) {
		struct word other;

		pass_space(&walk);
		other = next_word(&walk);
		if (!other.size || other.line > word->line)
			return 0;
		if (is_same(&other, word))
			return read_number(&other, &value) ? value : 0;
	}
}

static void put(struct nt_buf *out, const void *data, size_t size)
{
	MUST(!nt_buf_append(out, data, size));
}

static void put_number(struct nt_buf *out, const struct word *word, uint64_t value)
{
	char digits[24];
	int size = snprintf(digits, sizeof(digits), "%" PRIu64, value);

	put(out, word->at, word->name_size);
	put(out, digits, (size_t)size);
}

/* Copies the space before the next word, and gives the word. */
static struct word copy_space(struct nt_buf *out, struct walk *walk)
{
	const char *begin = walk->left.at;

	put(out, begin, pass_space(walk));
	return next_word(walk);
}

static uint64_t growth(struct text first, struct text last, const struct word *word)
{
	uint64_t from = same_number(first, word), to = same_number(last, word);

	return to > from ? to - from : 0;
}

void grow_text(struct nt_buf *out, struct text text, struct text first, struct text last, uint64_t times)
{
	struct walk walk = {.left = text};
	struct word word;
	uint64_t value;

	while ((word = copy_space(out, &walk)).size) {
		if (read_number(&word, &value))
			put_number(out, &word, value + times * growth(first, last, &word));
		else
			put(out, word.at, word.size);
	}
}

/* The vector that a line begins with, NT_VEC_COUNT: none. */
static unsigned int vector_of(const struct word *word)
{
	unsigned int vec = 0;

	while (vec < NT_VEC_COUNT && (strlen(nt_vec_name(vec)) + 1 != word->size || word->at[word->size - 1] != ':' ||
				      memcmp(nt_vec_name(vec), word->at, word->size - 1) != 0))
		vec++;
	return vec;
}

/* The number of the CPU in whose column the word stands, by the first line: "CPU0 CPU1". */
static uint64_t cpu_of(struct text text, const struct word *word)
{
	const struct word head = {.number = word->number - 1};
	struct walk walk = {.left = text};
	struct word other;
	uint64_t cpu;

	do {
		pass_space(&walk);
		other = next_word(&walk);
	} while (other.size && !is_same(&other, &head));
	other.name_size = 3;
	return other.line == 0 && other.size > 3 && read_number(&other, &cpu) ? cpu : UINT64_MAX;
}

/* Going through a text of /proc/softirqs. */
struct softirqs {
	struct text text;
	struct walk walk;
	unsigned int vec; /* of the line */
};

/* Which number of all CPUs and vectors the word is; SIZE_MAX: none of a CPU below n_cpus. */
static size_t place_of(struct softirqs *softirqs, const struct word *word, uint32_t n_cpus)
{
	uint64_t value, cpu;

	if (!word->number)
		softirqs->vec = vector_of(word);
	if (!word->number || softirqs->vec == NT_VEC_COUNT || !read_number(word, &value))
		return SIZE_MAX;
	cpu = cpu_of(softirqs->text, word);
	return cpu < n_cpus ? cpu * NT_VEC_COUNT + softirqs->vec : SIZE_MAX;
}

void grow_softirqs(struct nt_buf *out, struct text text, const uint64_t *more, uint32_t n_cpus)
{
	struct softirqs softirqs = {.text = text, .walk = {.left = text}, .vec = NT_VEC_COUNT};
	struct word word;
	uint64_t value;

	while ((word = copy_space(out, &softirqs.walk)).size) {
		size_t place = place_of(&softirqs, &word, n_cpus);

		if (place != SIZE_MAX && read_number(&word, &value))
			put_number(out, &word, value + more[place]);
		else
			put(out, word.at, word.size);
	}
}

void read_softirqs(int64_t *sums, struct text last, struct text first, uint32_t n_cpus)
{
	struct softirqs softirqs = {.text = last, .walk = {.left = last}, .vec = NT_VEC_COUNT};
	struct word word;

	for (;;) {
		size_t place;

		pass_space(&softirqs.walk);
		word = next_word(&softirqs.walk);
		if (!word.size)
			return;
		place = place_of(&softirqs, &word, n_cpus);
		if (place != SIZE_MAX)
			sums[place] += (int64_t)growth(first, last, &word);
	}
}
