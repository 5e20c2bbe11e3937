// SPDX-License-Identifier: GPL-2.0-only
/*
 * file_kind.c - see file_kind.h.
 */
#include "report/tape/file_kind.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/util/array.h"

#define HEAD_SIZE 512
#define DB_ID_AT 68 /* in the header of SQLite's files: the application's id, big-endian */

static const struct magic {
	size_t at, size;
	const char *bytes;
	const char *what;
} magics[] = {
	{0, 8, "PERFILE2", "a recording of perf: perf report reads it"},
	{0, 10, "\x17\x08\x44tracing", "a recording of trace-cmd: trace-cmd report reads it"},
	{0, 4, "\xd4\xc3\xb2\xa1", "a capture of packets: tcpdump and wireshark read it"},
	{0, 4, "\x4d\x3c\xb2\xa1", "a capture of packets: tcpdump and wireshark read it"},
	{0, 4, "\x0a\x0d\x0d\x0a", "a capture of packets: tcpdump and wireshark read it"},
	{0, 2, "\x1f\x8b", "a compressed file: unpack it first"},
	{0, 4, "\x28\xb5\x2f\xfd", "a compressed file: unpack it first"},
	{0, 4, "\x04\x22\x4d\x18", "a compressed file: unpack it first"},
	{0, 6, "\3757zXZ\0", "a compressed file: unpack it first"},
	{0, 3, "BZh", "a compressed file: unpack it first"},
	{0, 4, "PK\x03\x04", "an archive: unpack it first"},
	{257, 5, "ustar", "an archive: unpack it first"},
	{0, 4, "\177ELF", "a program"},
	{0, 15, "<!doctype html>", "a web page: a browser opens it"},
	{0, 5, "<?xml", "XML or a picture: a browser opens it"},
	{0, 4, "<svg", "a picture: a browser opens it"},
};

static bool has_magic(const unsigned char *head, size_t size, const struct magic *magic)
{
	return size >= magic->at + magic->size && !memcmp(head + magic->at, magic->bytes, magic->size);
}

static const char *database_kind(const unsigned char *head, size_t size)
{
	uint32_t id = 0;

	if (size < DB_ID_AT + 4)
		return "an SQLite database that was cut off";
	for (size_t i = 0; i < 4; i++)
		id = id << 8 | head[DB_ID_AT + i];
	return id == NT_DB_APPLICATION_ID
		       ? "a database that nettape-report import made: look at it with nettape-report summary or query"
		       : "an SQLite database of another program";
}

/* A trace is packets, which are field 1: a byte 0x0a, a length, and behind that the next one or the file's end. */
static bool is_trace(int fd, const unsigned char *head, size_t size)
{
	size_t length = 0, at = 1;
	struct stat status;
	char next;

	if (size < 4 || head[0] != 0x0a || fstat(fd, &status))
		return false;
	for (unsigned int shift = 0; at < size && shift < 28; shift += 7) {
		length |= (size_t)(head[at] & 0x7f) << shift;
		if (!(head[at++] & 0x80))
			break;
	}
	if (at + length == (size_t)status.st_size)
		return true;
	return length && pread(fd, &next, 1, (off_t)(at + length)) == 1 && next == 0x0a;
}

static bool is_text(const unsigned char *head, size_t size)
{
	return !NT_ANY(size, i, (head[i] < ' ' && !strchr("\t\n\r\f\033", head[i])) || head[i] == 0x7f || !head[i]);
}

static const char *content_kind(int fd, const unsigned char *head, size_t size)
{
	static const char database[16] = "SQLite format 3";

	if (!size)
		return "an empty file";
	if (size >= sizeof(database) && !memcmp(head, database, sizeof(database)))
		return database_kind(head, size);
	for (size_t i = 0; i < NT_COUNT(magics); i++) {
		if (has_magic(head, size, &magics[i]))
			return magics[i].what;
	}
	if (is_text(head, size))
		return "a text file";
	return is_trace(fd, head, size) ? "a trace for Perfetto: https://ui.perfetto.dev opens it" : NULL;
}

static const char *directory_kind(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	bool is_empty = true, has_chunk = false;

	if (!directory)
		return NULL;
	while ((entry = readdir(directory))) {
		is_empty = is_empty && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."));
		has_chunk = has_chunk || !strncmp(entry->d_name, "chunk-", 6);
	}
	closedir(directory);
	if (has_chunk)
		return NULL;
	return is_empty ? NT_EMPTY_DIRECTORY : "a directory without chunk files (chunk-000000.ntc)";
}

const char *nt_file_kind(const char *path)
{
	/* Opening a pipe must not wait. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char head[HEAD_SIZE];
	const char *kind = NULL;
	struct stat status;
	ssize_t size;

	if (fd < 0 || fstat(fd, &status)) {
		kind = NULL;
	} else if (S_ISDIR(status.st_mode)) {
		kind = directory_kind(path);
	} else if (!S_ISREG(status.st_mode)) {
		kind = "neither a file nor a directory";
	} else {
		size = read(fd, head, sizeof(head));
		kind = size < 0 ? NULL : content_kind(fd, head, (size_t)size);
	}
	if (fd >= 0)
		close(fd);
	return kind;
}
