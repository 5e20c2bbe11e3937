/* SPDX-License-Identifier: GPL-2.0-only */
/* listen.h - where nettape-serve listens, as nettape-record --serve knows it, too. */
#pragma once

#define NT_LISTEN_PORT 9477 /* of 127.0.0.1, unless told otherwise */
#define NT_LISTEN_PASSED_FD 3 /* the first socket that a service finds open: sd_listen_fds(3) */
