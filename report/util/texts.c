// SPDX-License-Identifier: GPL-2.0-only
/*
 * texts.c - see texts.h: a tree of the texts, each with its number before it, and an array of them by number.
 */
#include "report/util/texts.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

struct nt_text {
	uint32_t number;
	char text[];
};

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The tree is one of the texts in them; each is freed below. */
static void leave(void *text)
{
	(void)text;
}

void nt_texts_reset(struct nt_texts *texts)
{
	tdestroy(texts->tree, leave);
	texts->tree = NULL;
	memset(texts->lately, 0, sizeof(texts->lately));
	while (texts->n)
		free(texts->texts[--texts->n]);
}

void nt_texts_release(struct nt_texts *texts)
{
	nt_texts_reset(texts);
	free(texts->texts);
	*texts = (struct nt_texts){0};
}

static struct nt_text *add(struct nt_texts *texts, const char *text)
{
	const size_t size = strlen(text) + 1;
	struct nt_text *added = malloc(sizeof(*added) + size);

	if (!added)
		return NULL;
	memcpy(added->text, text, size);
	if (NT_ROOM(texts->texts, texts->size, texts->n + 1) || !tsearch(added->text, &texts->tree, compare)) {
		free(added);
		return NULL;
	}
	texts->texts[texts->n] = added;
	added->number = ++texts->n;
	return added;
}

uint32_t nt_texts_find(const struct nt_texts *texts, const char *text)
{
	char *const *found = tfind(text, &texts->tree, compare);

	return found ? ((const struct nt_text *)(*found - offsetof(struct nt_text, text)))->number : 0;
}

static uint32_t find_or_add(struct nt_texts *texts, const char *text, bool *is_new)
{
	const uint32_t found = nt_texts_find(texts, text);
	const struct nt_text *added = found ? NULL : add(texts, text);

	*is_new = added;
	return added ? added->number : found;
}

uint32_t nt_texts_number(struct nt_texts *texts, const char *text, bool *is_new)
{
	uint32_t *lately = &texts->lately[(uintptr_t)text >> 3 & (NT_COUNT(texts->lately) - 1)];

	*is_new = false;
	/* Another text may stand there now. */
	if (!*lately || strcmp(nt_texts_text(texts, *lately), text) != 0)
		*lately = find_or_add(texts, text, is_new);
	return *lately;
}

const char *nt_texts_text(const struct nt_texts *texts, uint32_t number)
{
	return texts->texts[number - 1]->text;
}
