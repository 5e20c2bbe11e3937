/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * labels.h - the texts that ids stand for. Texts that are shown alike are one label; the first has the number 0. Pure.
 */
#pragma once

#include "report/util/arena.h"
#include "report/util/id_map.h"
#include "report/util/texts.h"

/* Zero-initialised is empty. Owner frees with nt_labels_release. */
struct nt_labels {
	struct nt_texts texts; /* valid UTF-8 */
	struct nt_id_map ids; /* the number of a label, + 1 */
	struct nt_arena arena; /* for one text that is being made valid */
};

/* The number of a text's label, new or known. 0, or -ENOMEM. */
int nt_labels_number(struct nt_labels *labels, const char *text, uint32_t *number);
/* From now on the id stands for this text. 0, or -ENOMEM. */
int nt_labels_set(struct nt_labels *labels, int64_t id, const char *text);
/* The text of a label. */
const char *nt_labels_text(const struct nt_labels *labels, uint32_t number);
/* The same of an id; NULL: it stands for none. */
const char *nt_labels_of(struct nt_labels *labels, int64_t id);
void nt_labels_release(struct nt_labels *labels);
