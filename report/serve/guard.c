// SPDX-License-Identifier: GPL-2.0-only
/* guard.c - see guard.h. */
#include "report/serve/guard.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "report/serve/token.h"
#include "report/util/array.h"

#define FORBIDDEN 403
#define UNAUTHORIZED 401
#define HOST_MAX 256

/* An address cannot be made to mean another host, as a name can. */
static bool is_address(const char *name)
{
	unsigned char address[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

/* The name in "name:port", "[address]:port", or either without a port. False: it is none of these. */
static bool take_name(const char *host, char name[HOST_MAX])
{
	const bool has_brackets = host[0] == '[';
	const char *end;
	size_t size;

	host += has_brackets;
	size = strcspn(host, has_brackets ? "]" : ":");
	end = host + size + (has_brackets && host[size]);
	if (!size || size >= HOST_MAX || (has_brackets && !host[size]))
		return false;
	snprintf(name, HOST_MAX, "%.*s", (int)size, host);
	return !*end || (*end == ':' && strspn(end + 1, "0123456789") == strlen(end + 1));
}

static bool is_known(const struct nt_guard *guard, const char *host)
{
	char name[HOST_MAX];

	if (!host || !take_name(host, name))
		return false;
	return is_address(name) || !strcasecmp(name, "localhost") ||
	       NT_ANY(guard->n_names, i, !strcasecmp(guard->names[i], name));
}

/* The token of "Bearer TOKEN"; NULL: there is none. */
static const char *bearer(const char *authorization)
{
	static const char scheme[] = "Bearer ";

	if (!authorization || strncasecmp(authorization, scheme, strlen(scheme)) != 0)
		return NULL;
	authorization += strlen(scheme);
	return authorization + strspn(authorization, " ");
}

unsigned int nt_guard_refuses(const struct nt_guard *guard, const struct nt_request *request)
{
	if (!guard->token)
		return 0;
	if (!is_known(guard, request->host))
		return FORBIDDEN;
	if (nt_token_is(guard->token, bearer(request->authorization)) || nt_token_is(guard->token, request->token))
		return 0;
	return UNAUTHORIZED;
}
