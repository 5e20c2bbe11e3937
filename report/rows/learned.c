// SPDX-License-Identifier: GPL-2.0-only
/*
 * learned.c - the part of rows.h that learns the identities and clocks of a tape, and the pass over blocks that it
 * shares with blocks.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "report/rows/state.h"
#include "report/tape/follow.h"
#include "schema/meta_keys.h"

int nt_block_pass_next(struct nt_block_pass *pass, unsigned int wanted, const struct nt_block_ref **out)
{
	for (;; pass->chunk++, pass->block = 0) {
		if (pass->chunk == pass->tape->n_chunks && nt_tape_is_followed(pass->tape))
			return -EAGAIN;
		if (pass->chunk == pass->tape->n_chunks) {
			pass->chunk = 0;
			return 1;
		}
		if (!pass->contents) {
			int error = nt_tape_hold(pass->tape, pass->chunk, &pass->contents);

			if (error)
				return error;
		}
		while (pass->block < pass->contents->n_blocks) {
			const struct nt_block_ref *block = &pass->contents->blocks[pass->block++];
			int error;

			if (block->header.type >= 32 || !(wanted & 1u << block->header.type))
				continue;
			error = nt_tape_load(pass->tape, pass->chunk, block, &pass->raw);
			*out = block;
			if (error != -EBADMSG)
				return error;
		}
		if (pass->tape->chunks[pass->chunk].grows)
			return -EAGAIN;
		nt_tape_drop(pass->tape, pass->chunk);
		pass->contents = NULL;
	}
}

void nt_block_pass_release(struct nt_block_pass *pass)
{
	if (pass->contents)
		nt_tape_drop(pass->tape, pass->chunk);
	pass->contents = NULL;
	nt_buf_release(&pass->raw);
}

int nt_block_pass_identities(struct nt_block_pass *pass, int (*visit)(void *arg, const union nt_any *record), void *arg)
{
	size_t offset = 0;
	union nt_any record;
	int error;

	while (!(error = nt_identity_next(pass->raw.data, pass->raw.size, &offset, &record))) {
		error = visit(arg, &record);
		if (error)
			return error;
	}
	return error == 1 ? 0 : error;
}

static int learn_identity(void *arg, const union nt_any *record)
{
	struct nt_learned *learned = arg;

	return nt_identities_learn(&learned->ids, record);
}

static int learn_clock(struct nt_learned *learned, const struct nt_buf *raw)
{
	struct nt_clock clock;
	int error = nt_clock_decode(raw->data, raw->size, &clock);

	return error ? error : nt_clocks_add(&learned->clocks, &clock);
}

int nt_learned_block(struct nt_learned *learned, struct nt_block_pass *pass, const struct nt_block_ref *block)
{
	int error;

	if (block->header.type == NT_BLOCK_CLOCK)
		error = learn_clock(learned, &pass->raw);
	else
		error = nt_block_pass_identities(pass, learn_identity, learned);
	return error == -EBADMSG ? nt_tape_bad_block(pass->tape, pass->chunk, block->offset) : error;
}

struct nt_learned *nt_learned_begin(const struct nt_tape *tape)
{
	struct nt_learned *learned = calloc(1, sizeof(*learned));
	char hash[8];

	if (learned)
		learned->ids.keeps_flows = !nt_tape_meta(tape, NT_META_FLOW_HASH, hash, sizeof(hash));
	return learned;
}

int nt_learned_new(struct nt_learned **out, struct nt_tape *tape)
{
	struct nt_learned *learned = nt_learned_begin(tape);
	struct nt_block_pass pass = {.tape = tape};
	const struct nt_block_ref *block;
	int error = learned ? 0 : -ENOMEM;

	while (!error && !(error = nt_block_pass_next(&pass, 1u << NT_BLOCK_IDENTITIES | 1u << NT_BLOCK_CLOCK, &block)))
		error = nt_learned_block(learned, &pass, block);
	nt_block_pass_release(&pass);
	if (error < 0) {
		nt_learned_free(learned);
		return error;
	}
	nt_clocks_settle(&learned->clocks);
	*out = learned;
	return 0;
}

void nt_learned_free(struct nt_learned *learned)
{
	if (!learned)
		return;
	nt_identities_release(&learned->ids);
	nt_clocks_release(&learned->clocks);
	nt_socket_users_release(&learned->users);
	nt_stack_stages_release(&learned->stages);
	free(learned);
}
