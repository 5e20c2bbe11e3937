/* SPDX-License-Identifier: GPL-2.0-only */
/* listener.h - where requests come in: a TCP port, or a Unix socket that its owner alone reaches (mode 0600). */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "report/util/fail.h"

#define NT_LISTENER_DEFAULT "127.0.0.1:9477"

struct nt_listener {
	int fd; /* -1: not open */
	struct sockaddr_storage address;
	socklen_t size;
	struct stat file; /* of a Unix socket that is open */
};

/* Reads "ADDRESS:PORT", "[ADDRESS]:PORT", "PORT" of 127.0.0.1, or "unix:PATH". False: it is none of these. */
bool nt_listener_parse(struct nt_listener *listener, const char *text);
/* 0, or -1 and a sentence. A Unix socket that nobody listens on any more is replaced. */
int nt_listener_open(struct nt_listener *listener, char error[NT_ERROR_MAX]);
/* Removes a Unix socket, unless another one has taken its place. A server that still answers should end after that. */
void nt_listener_close(struct nt_listener *listener);

bool nt_listener_is_unix(const struct nt_listener *listener);
/* Whether only this host reaches it. */
bool nt_listener_is_local(const struct nt_listener *listener);
#define NT_LISTENER_NAME_MAX 128
/* "127.0.0.1:9477", with the port that it got, as a URL has it; or the path. Gives `name`. */
const char *nt_listener_name(const struct nt_listener *listener, char name[NT_LISTENER_NAME_MAX]);
