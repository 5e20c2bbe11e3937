/* SPDX-License-Identifier: GPL-2.0-only */
/* socket_cookies.h - makes the kernel number sockets, where no program may (nt_config.reads_cookies). */
#pragma once

/*
 * Every TCP and UDP socket that there is has a cookie then, in each network namespace that can be entered: another than
 * the own needs CAP_SYS_ADMIN. The others get theirs when something is done with them. The kernel may load tcp_diag and
 * udp_diag for this, as it does for `ss`. 0 or a negative errno: nothing was done.
 */
int nt_socket_cookies_make(void);
