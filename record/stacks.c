// SPDX-License-Identifier: GPL-2.0-only
/*
 * stacks.c - see stacks.h.
 */
#include "record/stacks.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

_Static_assert(sizeof(struct nt_user_frame) == 32, "struct bpf_stack_build_id");

bool nt_stacks_is_message(const uint8_t *data, size_t size)
{
	return size >= sizeof(struct nt_stack_header) && data[offsetof(struct nt_record, kind)] == NT_STACK;
}

/* One frame more than the stack `parent`. */
static int put_frame(struct nt_ids *ids, uint64_t key, uint64_t parent, uint64_t symbol, bool is_user)
{
	union nt_any record;

	memset(&record.as_stack, 0, sizeof(record.as_stack));
	record.as_stack.kind = NT_STACK;
	record.as_stack.flags = is_user ? NT_STACK_USER : 0;
	record.as_stack.stack = key;
	record.as_stack.parent = parent;
	record.as_stack.symbol = symbol;
	return nt_ids_put(ids, &record);
}

/* A user symbol says all of itself but the file's path, which may come later. */
static int put_user_symbol(struct nt_ids *ids, struct nt_user_files *files, uint64_t key,
			   const struct nt_user_frame *frame, uint32_t pid)
{
	union nt_any record;

	if (nt_ids_knows(ids, NT_ROLE_SYMBOL, key))
		return 0;
	memset(&record.as_user_symbol, 0, sizeof(record.as_user_symbol));
	record.as_user_symbol.kind = NT_USER_SYMBOL;
	record.as_user_symbol.symbol = key;
	/*
	 * Without frame pointers in user space an "address" may be anything; the kernel then gives the nearest file's
	 * id, and an offset before it.
	 */
	record.as_user_symbol.place = frame->file_offset >> 47 ? 0 : frame->file_offset;
	if (frame->status == 1 && !(frame->file_offset >> 47)) {
		memcpy(record.as_user_symbol.build_id, frame->build_id, sizeof(frame->build_id));
		strcpy(record.as_user_symbol.path, nt_user_files_path(files, frame->build_id, pid));
	} else {
		record.as_user_symbol.flags = NT_USER_SYMBOL_ADDRESS;
		nt_user_files_want(files, key, record.as_user_symbol.place, pid);
	}
	return nt_ids_put(ids, &record);
}

/* The frame of this number, the innermost being 0: the key of its symbol. */
static int frame_symbol(struct nt_ids *ids, struct nt_user_files *files, const struct nt_stack_header *header,
			const uint8_t *frames, uint32_t i, uint64_t *symbol)
{
	struct nt_user_frame frame;

	if (!header->is_user) {
		memcpy(symbol, frames + i * sizeof(*symbol), sizeof(*symbol));
		return 0;
	}
	memcpy(&frame, frames + i * sizeof(frame), sizeof(frame));
	*symbol = nt_user_frame_key(&frame, header->pid);
	return put_user_symbol(ids, files, *symbol, &frame, header->pid);
}

int nt_stacks_put(struct nt_ids *ids, struct nt_user_files *files, const uint8_t *data, size_t size)
{
	struct nt_stack_header header;
	const uint8_t *frames = data + sizeof(header);
	uint64_t key, start, parent = 0, symbol;
	int error = 0;

	memcpy(&header, data, sizeof(header));
	if (header.n > NT_STACK_MAX_FRAMES ||
	    size < sizeof(header) + header.n * (header.is_user ? sizeof(struct nt_user_frame) : sizeof(uint64_t)))
		return -EBADMSG;
	start = header.is_user ? NT_STACK_USER_KEY : NT_STACK_KERNEL_KEY;
	for (uint32_t i = header.n; i-- > 0 && !error; parent = key) {
		error = frame_symbol(ids, files, &header, frames, i, &symbol);
		key = nt_stack_key(parent ? parent : start, symbol);
		if (!error && !nt_ids_knows(ids, NT_ROLE_STACK, key))
			error = put_frame(ids, key, parent, symbol, header.is_user);
	}
	return error;
}
