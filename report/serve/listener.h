/* SPDX-License-Identifier: GPL-2.0-only */
/* listener.h - where requests come in: a TCP port, or a Unix socket that its owner alone reaches (mode 0600). */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "report/util/fail.h"
#include "schema/cli/listen.h"

#define NT_LISTENER_TEXT(port) "127.0.0.1:" #port
#define NT_LISTENER_AT(port) NT_LISTENER_TEXT(port)
#define NT_LISTENER_DEFAULT NT_LISTENER_AT(NT_LISTEN_PORT)

struct nt_listener {
	int fd; /* -1: not open */
	struct sockaddr_storage address;
	socklen_t size; /* 0: none is chosen */
	struct stat file; /* of a Unix socket that we opened */
};

/* Reads "ADDRESS:PORT", "[ADDRESS]:PORT", "PORT" of 127.0.0.1, or "unix:PATH". False: it is none of these. */
bool nt_listener_parse(struct nt_listener *listener, const char *text);
/*
 * Takes the socket that whoever started us listens on, as sd_listen_fds(3) tells of it: systemd, or nettape-record. If
 * there is none, opens the one that was chosen, or that of NT_LISTENER_DEFAULT; a Unix socket that nobody listens on
 * any more is replaced. To be called once. 0, or -1 and a sentence.
 */
int nt_listener_open(struct nt_listener *listener, char error[NT_ERROR_MAX]);
/* Removes a Unix socket that we opened, unless another one has taken its place. A server that still answers should end
 * after that. */
void nt_listener_close(struct nt_listener *listener);

bool nt_listener_is_unix(const struct nt_listener *listener);
/* Whether only this host reaches it. */
bool nt_listener_is_local(const struct nt_listener *listener);
#define NT_LISTENER_NAME_MAX 128
/* "127.0.0.1:9477", with the port that it got, as a URL has it; or the path. Gives `name`. */
const char *nt_listener_name(const struct nt_listener *listener, char name[NT_LISTENER_NAME_MAX]);
