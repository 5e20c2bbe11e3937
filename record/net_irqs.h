/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net_irqs.h - which interrupts are network devices', as sysfs tells: those of the bus device behind each network
 * device that this network namespace has; and those of PCI network cards that another namespace has, by the card's
 * address. An interrupt of a USB adapter is its host controller's, so it is nobody's here.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "schema/event.h"

struct nt_net_irq {
	uint32_t number;
	char device[NT_IFNAME_LEN];
};

/* Zero-initialised is empty. */
struct nt_net_irqs {
	struct nt_net_irq *irqs;
	size_t n, capacity;
};

/* `sys`: where sysfs is. Files that cannot be read are left out. 0 or -ENOMEM. */
int nt_net_irqs_read(struct nt_net_irqs *irqs, const char *sys);
/* The device that has the interrupt; "": no network device. */
const char *nt_net_irqs_device(const struct nt_net_irqs *irqs, uint32_t number);
void nt_net_irqs_release(struct nt_net_irqs *irqs);
