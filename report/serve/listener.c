// SPDX-License-Identifier: GPL-2.0-only
/* listener.c - see listener.h. */
#include "report/serve/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#define UNIX "unix:"
#define BACKLOG 128

/* ---- reading an address ---- */

static bool parse_unix(struct nt_listener *listener, const char *path)
{
	struct sockaddr_un *address = (struct sockaddr_un *)&listener->address;

	if (!*path || strlen(path) >= sizeof(address->sun_path))
		return false;
	address->sun_family = AF_UNIX;
	strcpy(address->sun_path, path);
	listener->size = sizeof(*address);
	return true;
}

static bool parse_port(const char *text, in_port_t *port)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	*port = htons((uint16_t)value);
	return text[0] >= '0' && text[0] <= '9' && !*end && value <= UINT16_MAX;
}

static bool parse_ipv4(struct nt_listener *listener, const char *host, const char *port)
{
	struct sockaddr_in *address = (struct sockaddr_in *)&listener->address;

	address->sin_family = AF_INET;
	listener->size = sizeof(*address);
	return inet_pton(AF_INET, host, &address->sin_addr) == 1 && parse_port(port, &address->sin_port);
}

static bool parse_ipv6(struct nt_listener *listener, const char *host, const char *port)
{
	struct sockaddr_in6 *address = (struct sockaddr_in6 *)&listener->address;

	address->sin6_family = AF_INET6;
	listener->size = sizeof(*address);
	return inet_pton(AF_INET6, host, &address->sin6_addr) == 1 && parse_port(port, &address->sin6_port);
}

bool nt_listener_parse(struct nt_listener *listener, const char *text)
{
	char host[INET6_ADDRSTRLEN + 2];
	const char *port = strrchr(text, ':');
	size_t size = port ? (size_t)(port - text) : 0;

	memset(listener, 0, sizeof(*listener));
	listener->fd = -1;
	if (!strncmp(text, UNIX, strlen(UNIX)))
		return parse_unix(listener, text + strlen(UNIX));
	if (!port)
		return parse_ipv4(listener, "127.0.0.1", text);
	if (size >= sizeof(host))
		return false;
	memcpy(host, text, size);
	host[size] = 0;
	if (host[0] != '[' || host[size - 1] != ']')
		return parse_ipv4(listener, host, port + 1);
	host[size - 1] = 0;
	return parse_ipv6(listener, host + 1, port + 1);
}

/* ---- opening it ---- */

static const char *unix_path(const struct nt_listener *listener)
{
	return ((const struct sockaddr_un *)&listener->address)->sun_path;
}

bool nt_listener_is_unix(const struct nt_listener *listener)
{
	return listener->address.ss_family == AF_UNIX;
}

/* A socket that a server left behind, which did not end as it should. */
static void remove_left(const struct nt_listener *listener)
{
	const char *path = unix_path(listener);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct stat status;

	if (fd < 0)
		return;
	if (!lstat(path, &status) && S_ISSOCK(status.st_mode) &&
	    connect(fd, (const struct sockaddr *)&listener->address, listener->size) && errno == ECONNREFUSED)
		unlink(path);
	close(fd);
}

/* The socket has its mode from the begin: nobody else can have connected. */
static int bind_unix(struct nt_listener *listener)
{
	mode_t before;
	int result;

	remove_left(listener);
	before = umask(0177);
	result = bind(listener->fd, (const struct sockaddr *)&listener->address, listener->size);
	umask(before);
	return result ? result : lstat(unix_path(listener), &listener->file);
}

static int bind_tcp(struct nt_listener *listener)
{
	const int yes = 1;

	setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(listener->fd, (const struct sockaddr *)&listener->address, listener->size))
		return -1;
	return getsockname(listener->fd, (struct sockaddr *)&listener->address, &listener->size);
}

static int fail(struct nt_listener *listener, char error_text[NT_ERROR_MAX])
{
	char name[NT_LISTENER_NAME_MAX];
	const int error = errno;

	nt_listener_name(listener, name);
	if (listener->fd >= 0)
		close(listener->fd);
	listener->fd = -1;
	if (error == EADDRINUSE)
		return nt_fail(error_text, "%s is in use: --listen gives another %s.", name,
			       nt_listener_is_unix(listener) ? "path" : "port");
	return nt_fail(error_text, "%s cannot be listened on: %s.", name, strerror(error));
}

static int open_chosen(struct nt_listener *listener, char error[NT_ERROR_MAX])
{
	const int family = listener->address.ss_family;

	listener->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listener->fd < 0 || (family == AF_UNIX ? bind_unix(listener) : bind_tcp(listener)) ||
	    listen(listener->fd, BACKLOG))
		return fail(listener, error);
	return 0;
}

/* ---- one that is open ---- */

/* How many sockets are meant for this process. */
static unsigned long count_passed(void)
{
	const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");

	return pid && n && strtoul(pid, NULL, 10) == (unsigned long)getpid() ? strtoul(n, NULL, 10) : 0;
}

static bool is_listening(int fd)
{
	int is = 0;
	socklen_t size = sizeof(is);

	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is, &size) && is;
}

/* Requests by a Unix socket need no token: so its file must not be everybody's, as it is unless systemd is told so. */
static int check_unix(const struct nt_listener *listener, char error[NT_ERROR_MAX])
{
	const char *path = unix_path(listener);
	struct stat status;

	if (!*path)
		return nt_fail(error, "the socket that was passed on has no path: give it one, or an address.");
	if (lstat(path, &status))
		return nt_fail(error, "%s, whose socket was passed on, cannot be looked at: %s.", path,
			       strerror(errno));
	/* To connect takes the right to write: unix(7). */
	if (status.st_mode & S_IWOTH)
		return nt_fail(error, "every user reaches %s: give it the mode 0600 (SocketMode= of systemd).", path);
	return 0;
}

static int take_passed(struct nt_listener *listener, unsigned long n, char error[NT_ERROR_MAX])
{
	if (listener->size)
		return nt_fail(error, "a socket was passed on (LISTEN_FDS): leave --listen out.");
	listener->size = sizeof(listener->address);
	if (n != 1 || !is_listening(NT_LISTEN_PASSED_FD) ||
	    getsockname(NT_LISTEN_PASSED_FD, (struct sockaddr *)&listener->address, &listener->size) ||
	    fcntl(NT_LISTEN_PASSED_FD, F_SETFD, FD_CLOEXEC) || fcntl(NT_LISTEN_PASSED_FD, F_SETFL, O_NONBLOCK))
		return nt_fail(error, "one socket that listens must be passed on, and no more (LISTEN_FDS).");
	listener->fd = NT_LISTEN_PASSED_FD;
	switch (listener->address.ss_family) {
	case AF_UNIX:
		return check_unix(listener, error);
	case AF_INET:
	case AF_INET6:
		return 0;
	default:
		return nt_fail(error, "the socket that was passed on is neither of IP nor a Unix socket.");
	}
}

int nt_listener_open(struct nt_listener *listener, char error[NT_ERROR_MAX])
{
	const unsigned long n = count_passed();

	/* What we start is not meant. */
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	if (n)
		return take_passed(listener, n, error);
	if (!listener->size)
		nt_listener_parse(listener, NT_LISTENER_DEFAULT);
	return open_chosen(listener, error);
}

void nt_listener_close(struct nt_listener *listener)
{
	struct stat now;

	if (listener->fd < 0)
		return;
	if (nt_listener_is_unix(listener) && !lstat(unix_path(listener), &now) && now.st_dev == listener->file.st_dev &&
	    now.st_ino == listener->file.st_ino)
		unlink(unix_path(listener));
	close(listener->fd);
	listener->fd = -1;
}

/* ---- its name ---- */

bool nt_listener_is_local(const struct nt_listener *listener)
{
	const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)&listener->address;
	const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)&listener->address;

	if (listener->address.ss_family == AF_INET)
		return ntohl(ipv4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return nt_listener_is_unix(listener) || IN6_IS_ADDR_LOOPBACK(&ipv6->sin6_addr);
}

const char *nt_listener_name(const struct nt_listener *listener, char name[NT_LISTENER_NAME_MAX])
{
	const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)&listener->address;
	const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)&listener->address;
	char address[INET6_ADDRSTRLEN];

	if (nt_listener_is_unix(listener))
		snprintf(name, NT_LISTENER_NAME_MAX, "%s", unix_path(listener));
	else if (listener->address.ss_family == AF_INET)
		snprintf(name, NT_LISTENER_NAME_MAX, "%s:%u",
			 inet_ntop(AF_INET, &ipv4->sin_addr, address, sizeof(address)), ntohs(ipv4->sin_port));
	else
		snprintf(name, NT_LISTENER_NAME_MAX, "[%s]:%u",
			 inet_ntop(AF_INET6, &ipv6->sin6_addr, address, sizeof(address)), ntohs(ipv6->sin6_port));
	return name;
}
