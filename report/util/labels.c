// SPDX-License-Identifier: GPL-2.0-only
/*
 * labels.c - see labels.h.
 */
#include "report/util/labels.h"

#include <errno.h>
#include <string.h>

#include "report/util/utf8.h"

int nt_labels_number(struct nt_labels *labels, const char *text, uint32_t *number)
{
	const char *clean = nt_arena_clean(&labels->arena, text, strlen(text));
	bool is_new;
	uint32_t found = clean ? nt_texts_number(&labels->texts, clean, &is_new) : 0;

	nt_arena_reset(&labels->arena);
	if (!found)
		return -ENOMEM;
	*number = found - 1;
	return 0;
}

int nt_labels_set(struct nt_labels *labels, int64_t id, const char *text)
{
	uint32_t number;
	int error = nt_labels_number(labels, text, &number);

	return error ? error : nt_id_map_set(&labels->ids, (uint64_t)id, (uint64_t)number + 1);
}

const char *nt_labels_text(const struct nt_labels *labels, uint32_t number)
{
	return nt_texts_text(&labels->texts, number + 1);
}

const char *nt_labels_of(struct nt_labels *labels, int64_t id)
{
	uint64_t number = nt_id_map_get(&labels->ids, (uint64_t)id);

	return number ? nt_texts_text(&labels->texts, (uint32_t)number) : NULL;
}

void nt_labels_release(struct nt_labels *labels)
{
	nt_texts_release(&labels->texts);
	nt_id_map_release(&labels->ids);
	nt_arena_release(&labels->arena);
}
