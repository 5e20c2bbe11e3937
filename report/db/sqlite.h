/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sqlite.h - SQLite, as a program or as an extension of one (extension.c). An extension calls the SQLite of the program
 * that loaded it, through a table of pointers.
 */
#pragma once

#ifdef NT_EXTENSION
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif
