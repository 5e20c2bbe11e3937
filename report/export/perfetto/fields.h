/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fields.h - the numbers of the fields of Perfetto's messages that an export uses, by message. They are fixed
 * for ever, as is the way of protocol buffers. Above each enum stand the messages that have these fields, by their
 * names in tests/perfetto/subset.proto, which has the same numbers for reading: tests/cli/perfetto_fields.sh compares
 * them.
 */
#pragma once

/* Trace */
enum nt_trace_field { NT_TRACE_PACKET = 1 };

/* TracePacket */
enum nt_packet_field {
	NT_PACKET_FTRACE_EVENTS = 1,
	NT_PACKET_PROCESS_TREE = 2,
	NT_PACKET_CLOCK_SNAPSHOT = 6,
	NT_PACKET_TIMESTAMP = 8,
	NT_PACKET_PROCESS_STATS = 9,
	NT_PACKET_SEQUENCE_ID = 10,
	NT_PACKET_TRACK_EVENT = 11,
	NT_PACKET_INTERNED_DATA = 12,
	NT_PACKET_SEQUENCE_FLAGS = 13,
	NT_PACKET_SYSTEM_INFO = 45,
	NT_PACKET_COMPRESSED_PACKETS = 50,
	NT_PACKET_TIMESTAMP_CLOCK_ID = 58,
	NT_PACKET_DEFAULTS = 59,
	NT_PACKET_TRACK_DESCRIPTOR = 60,
	NT_PACKET_PERF_SAMPLE = 66,
	NT_PACKET_TRACE_UUID = 89
};

/* Bits of NT_PACKET_SEQUENCE_FLAGS. */
enum nt_sequence_flag { NT_SEQUENCE_CLEARED = 1, NT_SEQUENCE_NEEDS_STATE = 2 };

/* TracePacketDefaults */
enum nt_defaults_field { NT_DEFAULTS_TRACK_EVENT = 11, NT_DEFAULTS_CLOCK_ID = 58 };
/* TracePacketDefaults.TrackEventDefaults */
enum nt_event_defaults_field { NT_EVENT_DEFAULTS_TRACK_UUID = 11 };

/* ClockSnapshot */
enum nt_clock_snapshot_field { NT_CLOCK_SNAPSHOT_CLOCKS = 1, NT_CLOCK_SNAPSHOT_PRIMARY = 2 };
/* ClockSnapshot.Clock */
enum nt_clock_field { NT_CLOCK_ID = 1, NT_CLOCK_TIMESTAMP = 2, NT_CLOCK_IS_INCREMENTAL = 3 };
enum nt_clock_id {
	NT_CLOCK_REALTIME = 1,
	NT_CLOCK_MONOTONIC = 3,
	NT_CLOCK_BOOTTIME = 6,
	NT_CLOCK_OF_SEQUENCE = 64 /* the first number that each sequence may use as it likes */
};

/* TraceUuid */
enum nt_trace_uuid_field { NT_TRACE_UUID_MSB = 1, NT_TRACE_UUID_LSB = 2 };
/* SystemInfo */
enum nt_system_info_field { NT_SYSTEM_INFO_UTSNAME = 1, NT_SYSTEM_INFO_NUM_CPUS = 8 };
/* SystemInfo.Utsname */
enum nt_utsname_field { NT_UTSNAME_SYSNAME = 1, NT_UTSNAME_RELEASE = 3, NT_UTSNAME_MACHINE = 4 };

/* ProcessTree */
enum nt_process_tree_field { NT_PROCESS_TREE_PROCESSES = 1, NT_PROCESS_TREE_THREADS = 2 };
/* ProcessTree.Process */
enum nt_process_field { NT_PROCESS_PID = 1, NT_PROCESS_PPID = 2, NT_PROCESS_CMDLINE = 3 };
/* ProcessTree.Thread */
enum nt_thread_field { NT_THREAD_TID = 1, NT_THREAD_NAME = 2, NT_THREAD_TGID = 3 };

/* ProcessStats */
enum nt_process_stats_field { NT_PROCESS_STATS_PROCESSES = 1 };
/* ProcessStats.Process */
enum nt_process_stats_process_field {
	NT_PROCESS_STATS_PID = 1,
	NT_PROCESS_STATS_RSS_ANON_KB = 4,
	NT_PROCESS_STATS_RSS_FILE_KB = 5,
	NT_PROCESS_STATS_RSS_SHMEM_KB = 6,
	NT_PROCESS_STATS_SWAP_KB = 7
};

/* FtraceEventBundle */
enum nt_bundle_field { NT_BUNDLE_CPU = 1, NT_BUNDLE_EVENT = 2, NT_BUNDLE_LOST_EVENTS = 3, NT_BUNDLE_COMPACT_SCHED = 4 };

/* FtraceEventBundle.CompactSched */
enum nt_compact_field {
	NT_COMPACT_SWITCH_TIMESTAMP = 1,
	NT_COMPACT_SWITCH_PREV_STATE = 2,
	NT_COMPACT_SWITCH_NEXT_PID = 3,
	NT_COMPACT_SWITCH_NEXT_PRIO = 4,
	NT_COMPACT_INTERN_TABLE = 5,
	NT_COMPACT_SWITCH_NEXT_COMM = 6,
	NT_COMPACT_WAKING_TIMESTAMP = 7,
	NT_COMPACT_WAKING_PID = 8,
	NT_COMPACT_WAKING_TARGET_CPU = 9,
	NT_COMPACT_WAKING_PRIO = 10,
	NT_COMPACT_WAKING_COMM = 11,
	NT_COMPACT_WAKING_FLAGS = 12
};

/* FtraceEvent */
enum nt_ftrace_field {
	NT_FTRACE_TIMESTAMP = 1,
	NT_FTRACE_PID = 2,
	NT_FTRACE_SCHED_SWITCH = 4,
	NT_FTRACE_COMMON_FLAGS = 5,
	NT_FTRACE_SCHED_WAKING = 20,
	NT_FTRACE_SOFTIRQ_ENTRY = 24,
	NT_FTRACE_SOFTIRQ_EXIT = 25,
	NT_FTRACE_IRQ_ENTRY = 36,
	NT_FTRACE_IRQ_EXIT = 37,
	NT_FTRACE_SCHED_WAKEUP_NEW = 114,
	NT_FTRACE_TASK_NEWTASK = 235
};

/* FtraceEvent.SchedSwitch */
enum nt_switch_field {
	NT_SWITCH_PREV_COMM = 1,
	NT_SWITCH_PREV_PID = 2,
	NT_SWITCH_PREV_PRIO = 3,
	NT_SWITCH_PREV_STATE = 4,
	NT_SWITCH_NEXT_COMM = 5,
	NT_SWITCH_NEXT_PID = 6,
	NT_SWITCH_NEXT_PRIO = 7
};
/* FtraceEvent.Waking, FtraceEvent.WakeupNew */
enum nt_wakeup_field { NT_WAKEUP_COMM = 1, NT_WAKEUP_PID = 2, NT_WAKEUP_PRIO = 3, NT_WAKEUP_TARGET_CPU = 5 };
/* FtraceEvent.NewTask */
enum nt_newtask_field { NT_NEWTASK_PID = 1, NT_NEWTASK_COMM = 2, NT_NEWTASK_CLONE_FLAGS = 3 };
/* FtraceEvent.Softirq */
enum nt_softirq_field { NT_SOFTIRQ_VEC = 1 };
/* FtraceEvent.IrqEntry, FtraceEvent.IrqExit */
enum nt_irq_field { NT_IRQ_IRQ = 1, NT_IRQ_NAME_TEXT = 2, NT_IRQ_RET = 2 };

/* TrackDescriptor */
enum nt_track_field {
	NT_TRACK_UUID = 1,
	NT_TRACK_NAME = 2,
	NT_TRACK_PROCESS = 3,
	NT_TRACK_THREAD = 4,
	NT_TRACK_PARENT_UUID = 5,
	NT_TRACK_COUNTER = 8,
	NT_TRACK_RANK = 12,
	NT_TRACK_MERGE = 15
};
#define NT_TRACK_MERGE_NONE 2

/* TrackDescriptor.Process */
enum nt_track_process_field { NT_TRACK_PROCESS_PID = 1, NT_TRACK_PROCESS_NAME = 6, NT_TRACK_PROCESS_LABELS = 8 };
/* TrackDescriptor.Thread */
enum nt_track_thread_field { NT_TRACK_THREAD_PID = 1, NT_TRACK_THREAD_TID = 2, NT_TRACK_THREAD_NAME = 5 };
/* TrackDescriptor.Counter */
enum nt_counter_field { NT_COUNTER_UNIT = 3, NT_COUNTER_UNIT_NAME = 6 };
#define NT_COUNTER_UNIT_COUNT 2

/* TrackEvent */
enum nt_event_field {
	NT_EVENT_ANNOTATIONS = 4,
	NT_EVENT_TYPE = 9,
	NT_EVENT_NAME_IID = 10,
	NT_EVENT_TRACK_UUID = 11,
	NT_EVENT_COUNTER_VALUE = 30,
	NT_EVENT_DOUBLE_COUNTER_VALUE = 44,
	NT_EVENT_FLOW_IDS = 47,
	NT_EVENT_TERMINATING_FLOW_IDS = 48
};

/* TrackEvent.Annotation */
enum nt_annotation_field { NT_ANNOTATION_NAME_IID = 1, NT_ANNOTATION_INT = 4, NT_ANNOTATION_TEXT_IID = 17 };

/* InternedData */
enum nt_interned_field {
	NT_INTERNED_NAMES = 2,
	NT_INTERNED_ANNOTATION_NAMES = 3,
	NT_INTERNED_FUNCTION_NAMES = 5,
	NT_INTERNED_FRAMES = 6,
	NT_INTERNED_CALLSTACKS = 7,
	NT_INTERNED_MAPPING_PATHS = 17,
	NT_INTERNED_MAPPINGS = 19,
	NT_INTERNED_TEXTS = 29
};
/* InternedData.Entry, InternedData.Frame, InternedData.Callstack, InternedData.Mapping */
enum nt_interned_iid_field { NT_INTERNED_IID = 1 };
/* InternedData.Entry */
enum nt_interned_entry_field { NT_INTERNED_VALUE = 2 };
/* InternedData.Frame */
enum nt_frame_field { NT_FRAME_FUNCTION_NAME_IID = 2, NT_FRAME_MAPPING_IID = 3 };
/* InternedData.Callstack */
enum nt_callstack_field { NT_CALLSTACK_FRAME_IIDS = 2 };
/* InternedData.Mapping */
enum nt_mapping_field { NT_MAPPING_PATH_IIDS = 7 };

/* PerfSample */
enum nt_sample_field {
	NT_SAMPLE_CPU = 1,
	NT_SAMPLE_PID = 2,
	NT_SAMPLE_TID = 3,
	NT_SAMPLE_CALLSTACK_IID = 4,
	NT_SAMPLE_MODE = 5
};
