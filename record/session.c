// SPDX-License-Identifier: GPL-2.0-only
/*
 * session.c - see session.h. The loop sleeps until a ring is a quarter full or 20 ms have passed, drains
 * all rings, cuts old blocks, and once a second takes the snapshots. It never waits for the disk.
 */
#include "record/session.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "record/child.h"
#include "record/drop_reasons.h"
#include "record/energy.h"
#include "record/flows.h"
#include "record/host_view.h"
#include "record/kernel.h"
#include "record/meta.h"
#include "record/proc_names.h"
#include "record/proc_snapshots.h"
#include "record/server.h"
#include "record/status.h"
#include "record/stream.h"
#include "record/symbols.h"
#include "record/text.h"
#include "schema/meta_keys.h"

#define DRAIN_EVERY_MS 20
#define READ_EVERY_NS 1000000000ull
#define READ_ENERGY_AFTER_NS 2000000ull /* the session's start: a counter may be older than it is read */
#define READ_ENERGY_EVERY_NS 100000000ull /* where buckets of reports begin */
#define READ_ENERGY_LAST_NS 50000000ull /* after the reading before: less would say little */
#define REFRESH_AFTER_NS 500000000ull
#define SILENT_NS 10000000000ull /* longer, nothing is known of a CPU: who reads the tape meanwhile waits for that */

struct session {
	struct nt_record_options *options;
	struct nt_kernel kernel;
	struct nt_ids ids;
	struct nt_proc_names names;
	struct nt_symbols symbols; /* for probes that names_places() names */
	struct nt_drop_reasons reasons; /* for probes drops and deliver */
	struct nt_user_files files;
	struct nt_proc_snapshots snapshots;
	struct nt_flows flows; /* of the probe of this name */
	struct nt_energy energy; /* the same */
	struct nt_tape_writer *tape;
	struct nt_stream *streams; /* by CPU; a zeroed one has no ring yet */
	struct nt_child child;
	struct nt_server server; /* with --serve */
	struct nt_status status;
	sigset_t signals;
	int epoll_fd, signal_fd;
	int ended_by_signal; /* its number, or 0 */
	const char *stop; /* why it ended */
	struct nt_tape_totals written; /* as of the last second */
	uint64_t deadline_ns, next_snapshot_ns, chunk_begun_ns;
	uint64_t next_energy_ns, last_energy_ns; /* 0: energy is not recorded; or was not read yet */
	uint32_t generation; /* of ids, as the kernel side knows it */
	char hidden[512]; /* sentence: what the kernel hides, or "" */
	char not_prompt[256]; /* sentence: there is no real-time priority; or "" */
	bool failed_write; /* the tape cannot be written any more */
	bool is_short; /* it ended before it was to */
	bool wants_snapshot, makes_snapshot; /* asked for; being made, by the thread that writes the tape */
};

static int complain(const char *what, int error)
{
	fprintf(stderr, "nettape-record: %s: %s\n", what, strerror(-error));
	return error;
}

static int complain_of_tape(struct session *session, int error)
{
	struct nt_tape_totals written;

	session->failed_write = true;
	session->stop = error == -ENOSPC ? "disk full" : "write error";
	nt_status_hide(&session->status);
	/* Blocks queued before the failure may still be written. */
	nt_tape_writer_wait(session->tape);
	nt_tape_writer_written(session->tape, &written);
	fprintf(stderr, "nettape-record: cannot write %s: %s; %s: %srecord elsewhere with -o\n",
		nt_tape_writer_path(session->tape), strerror(-error),
		written.bytes ? "the part written before is whole and can be read" : "nothing was recorded",
		error == -ENOSPC || error == -EDQUOT ? "make room, or "
		: error == -E2BIG		     ? "a part of it alone is larger than --max-size: allow more, or "
		: error == -EFBIG		     ? "allow larger files (ulimit -f), or "
						     : "");
	return error;
}

/* The tape has its end: there was room for that. */
static int complain_of_little_room(const struct session *session)
{
	char min[NT_TEXT_MAX], dropped[NT_TEXT_MAX];

	nt_count_text(dropped, session->written.dropped_chunks);
	fprintf(stderr,
		"nettape-record: less than %s are free on the disk of %s%s%s%s: recorded no longer; what is there is "
		"whole. Make room, record elsewhere with -o, or allow less with --min-free\n",
		nt_bytes_text(min, nt_tape_writer_min_free(session->tape)), session->options->output,
		session->written.dropped_chunks ? ", also after " : "", session->written.dropped_chunks ? dropped : "",
		session->written.dropped_chunks ? " chunks were dropped" : "");
	return -ENOSPC;
}

/* ---- beginning ---- */

static int set_up_signals(struct session *session)
{
	sigemptyset(&session->signals);
	sigaddset(&session->signals, SIGINT);
	sigaddset(&session->signals, SIGTERM);
	sigaddset(&session->signals, SIGHUP);
	sigaddset(&session->signals, SIGUSR1);
	sigaddset(&session->signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &session->signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit on files' sizes is then an error of writing */
	/* Whoever started us may ignore it, and then nobody learns how a child ended. */
	signal(SIGCHLD, SIG_DFL);
	session->signal_fd = signalfd(-1, &session->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	session->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return session->signal_fd < 0 || session->epoll_fd < 0 ? -errno : 0;
}

/* Edge-triggered: a ring that holds data, but less than a wake-up's worth, must not wake us. */
static int watch(struct session *session, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};

	return epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int add_stream(struct session *session, uint32_t cpu)
{
	int error = nt_stream_init(&session->streams[cpu], cpu, &session->ids, &session->files, session->tape);

	return error ? error : watch(session, session->kernel.rings[cpu].fd, EPOLLIN | EPOLLET);
}

/* A stream for each ring that has none. */
static int add_streams(struct session *session)
{
	int error = 0;

	for (uint32_t cpu = 0; cpu < session->kernel.n_cpus && !error; cpu++)
		if (session->kernel.rings[cpu].fd && !session->streams[cpu].events)
			error = add_stream(session, cpu);
	return error;
}

static int open_tape(struct session *session)
{
	const struct nt_record_options *options = session->options;
	struct nt_chunk_header header;
	char message[3 * PATH_MAX];
	int error;

	nt_meta_header(&header);
	error = nt_tape_writer_new(&session->tape, options->output, &options->owner, &options->retention, &header,
				   message, sizeof(message));
	if (error)
		fprintf(stderr, "nettape-record: %s\n", message);
	return error;
}

static int check_snapshots(const struct session *session)
{
	char message[3 * PATH_MAX];
	int error = nt_snapshot_check(session->options->output, session->options->snapshots, message, sizeof(message));

	if (error)
		fprintf(stderr, "nettape-record: %s\n", message);
	return error;
}

/* The user who called sudo may not own what is here: on a file system without owners, say. */
static void tell_what_was_kept(const struct session *session)
{
	const struct nt_record_options *options = session->options;
	int error = nt_tape_writer_kept(session->tape);
	char name[NT_USER_NAME_MAX];

	if (error && !options->quiet)
		fprintf(stderr,
			"nettape-record: cannot give %s to %s: %s; it still belongs to root, and only root can read "
			"it\n",
			options->output, nt_user_name(options->owner.uid, name), strerror(-error));
}

static int write_meta(struct session *session)
{
	struct nt_block_header header = {.type = NT_BLOCK_META};
	struct nt_buf raw = {};
	const char *nameless[] = {nt_symbols_uncovered(&session->symbols), nt_proc_names_uncovered(&session->names),
				  nt_proc_snapshots_uncovered(&session->snapshots),
				  nt_energy_uncovered(&session->energy),
				  session->not_prompt[0] ? session->not_prompt : NULL};
	int error = nt_meta_open(&raw, session->options, &session->kernel, session->hidden);

	for (size_t i = 0; i < sizeof(nameless) / sizeof(nameless[0]) && !error; i++)
		if (nameless[i])
			error = nt_meta_append(&raw, NT_META_UNCOVERED, nameless[i]);
	if (!error)
		error = nt_tape_writer_block(session->tape, &header, raw.data, raw.size);
	nt_buf_release(&raw);
	return error;
}

static int put_irqs(struct session *session)
{
	struct nt_net_irqs net = {};
	int error = nt_net_irqs_read(&net, "/sys");

	if (!error)
		error = nt_proc_names_put_irqs(&session->ids, nt_now(), &net);
	nt_net_irqs_release(&net);
	return error;
}

/* Also at the end: a device may have come since the chunk began. */
static int put_block_devices(struct session *session)
{
	return session->options->plan.chosen[NT_PROBE_BLOCK] ? nt_proc_names_put_block_devices(&session->ids, nt_now())
							     : 0;
}

/* Records that are of no CPU go where those of the first one are. */
static struct nt_stream *first_stream(const struct session *session)
{
	uint32_t cpu = 0;

	while (cpu + 1 < session->kernel.n_cpus && !session->streams[cpu].events)
		cpu++;
	return &session->streams[cpu];
}

/* Counted as what the programs write, so that the tape can be compared. */
static int put_memory_of_process(void *arg, union nt_any *record)
{
	struct session *session = arg;
	struct nt_stream *stream = first_stream(session);
	int error;

	__atomic_fetch_add(&session->kernel.cpus[stream->cpu].counts.written[record->record.kind][NT_PROGRAM_control],
			   1, __ATOMIC_RELAXED);
	error = nt_stream_put(stream, record, record->record.end_ns);
	return error ? error : 1;
}

/* Each chunk can be read alone: so it begins with what processes have. */
static int put_memory(struct session *session)
{
	return session->options->plan.chosen[NT_PROBE_MEMORY]
		       ? nt_kernel_seed_memory(&session->kernel, put_memory_of_process, session)
		       : 0;
}

/* So many records were in earlier chunks, which a flight recorder drops: check then still knows how many there were. */
static int put_earlier(struct session *session)
{
	struct nt_buf text = {};
	int error = 0;

	if (!nt_retention_drops(&session->options->retention))
		return 0;
	for (uint32_t cpu = 0; cpu < session->kernel.n_cpus && !error; cpu++)
		error = nt_stream_print(&session->streams[cpu], &text);
	if (!error)
		error = nt_proc_snapshots_earlier(&session->snapshots, &text);
	nt_buf_release(&text);
	return error;
}

static int begin_chunk(struct session *session)
{
	int error = nt_tape_writer_begin_chunk(session->tape);

	session->chunk_begun_ns = nt_now();
	nt_ids_next_chunk(&session->ids, nt_tape_writer_number(session->tape));
	if (!error)
		error = write_meta(session);
	if (!error)
		error = nt_proc_snapshots_clock(&session->snapshots);
	if (!error)
		error = put_earlier(session);
	if (!error)
		error = put_irqs(session);
	if (!error)
		error = put_block_devices(session);
	if (!error)
		error = nt_proc_snapshots_packages(&session->snapshots);
	if (!error)
		error = nt_drop_reasons_put(&session->reasons, &session->ids, nt_now());
	return error ? error : put_memory(session);
}

/*
 * Each CPU takes a descriptor for its ring, and two for its clock with the probe stacks: on a large machine more than
 * the 1024 that a shell allows at first. The command was made before and keeps what it had.
 */
static void allow_descriptors(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

/* Whether records name places in the kernel's code. */
static bool names_places(const struct nt_plan *plan)
{
	return plan->chosen[NT_PROBE_DROPS] || plan->chosen[NT_PROBE_STACKS] || plan->chosen[NT_PROBE_KMEM];
}

/* ---- beginning at a time ---- */

static void read_signals(struct session *session)
{
	struct signalfd_siginfo info;

	while (read(session->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			session->wants_snapshot = true;
		else if (info.ssi_signo != SIGCHLD) {
			session->ended_by_signal = info.ssi_signo;
			session->stop = "signal";
		}
	}
	if (!session->stop && nt_child_has_ended(&session->child))
		session->stop = "command";
}

static uint64_t left_ns(uint64_t due_ns, uint64_t now_ns)
{
	return due_ns > now_ns ? due_ns - now_ns : 0;
}

#define LEAD_NS 5000000000ull /* to load the programs in; longer, they would only cost time */

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The next multiple of --start-at, so much from now at least. */
static uint64_t next_start_ns(const struct session *session, uint64_t from_now_ns)
{
	const uint64_t every_ns = session->options->start_at_ns;

	return (wall_ns() + from_now_ns + every_ns - 1) / every_ns * every_ns;
}

/* Until that time of the clock on the wall, which may be set meanwhile. -EINTR: a signal came, and there is no more. */
static int wait_until(struct session *session, uint64_t at_ns)
{
	struct pollfd signal = {.fd = session->signal_fd, .events = POLLIN};
	uint64_t left = 0;

	while (!session->stop && (left = left_ns(at_ns, wall_ns()))) {
		poll(&signal, 1, left > 1000000000 ? 1000 : (int)(left / 1000000));
		/* The last part of a ms is less than poll can wait. */
		if (left < 1000000)
			nanosleep(&(struct timespec){.tv_nsec = (long)left}, NULL);
		read_signals(session);
	}
	return session->stop ? -EINTR : 0;
}

static int complain_of_end(int error)
{
	fprintf(stderr, "nettape-record: ended before the recording began\n");
	return error;
}

/* Up to when the programs should be loaded. */
static int wait_for_loading(struct session *session)
{
	const struct nt_record_options *options = session->options;
	uint64_t at_ns;
	char text[64];

	if (!options->start_at_ns)
		return 0;
	at_ns = next_start_ns(session, 0);
	if (!options->quiet) {
		const time_t seconds = (time_t)(at_ns / 1000000000u);
		struct tm utc;

		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", gmtime_r(&seconds, &utc));
		fprintf(stderr, "waits until %s UTC\n", text);
	}
	return wait_until(session, at_ns - LEAD_NS);
}

/* If to load took longer than the time that was left, the next one is taken: all hosts still begin at such. */
static int wait_for_start(struct session *session)
{
	return session->options->start_at_ns ? wait_until(session, next_start_ns(session, 0)) : 0;
}

/* The kernel side, up to the open gates. An error has been explained to the user already. */
static int begin_kernel(struct session *session)
{
	char message[1024];
	uint64_t before_ns;
	int error = nt_host_view_processes(message, sizeof(message));

	if (error) {
		fprintf(stderr, "nettape-record: %s\n", message);
		return error;
	}
	error = wait_for_loading(session);
	if (error)
		return complain_of_end(error);
	allow_descriptors();
	error = nt_kernel_load(&session->kernel, session->options, message, sizeof(message));
	if (error) {
		fprintf(stderr, "nettape-record: %s\n", message);
		return error;
	}
	if (names_places(&session->options->plan) && (error = nt_symbols_init(&session->symbols)))
		return complain("cannot read the names of the kernel's functions", error);
	if ((session->options->plan.chosen[NT_PROBE_DROPS] || session->options->plan.chosen[NT_PROBE_DELIVER]) &&
	    (error = nt_drop_reasons_read(&session->reasons)))
		return complain("cannot read the kernel's reasons for drops", error);
	nt_proc_names_init(&session->names, &session->options->plan.hierarchy);
	session->snapshots = (struct nt_proc_snapshots){
		.tape = session->tape,
		.cpus = session->kernel.cpus,
		.n_cpus = session->kernel.n_cpus,
		.object = session->kernel.object,
		.has_memory = session->options->plan.chosen[NT_PROBE_MEMORY] != NULL,
		.energy = session->options->plan.chosen[NT_PROBE_ENERGY] ? &session->energy : NULL,
	};
	if (session->snapshots.energy && (error = nt_energy_open(&session->energy, "/sys")))
		return complain("cannot read the energy counters", error);
	if (session->options->plan.chosen[NT_PROBE_FLOWS] && (error = nt_flows_init(&session->flows, &session->kernel)))
		return complain("cannot read what the kernel counts by flow", error);
	error = wait_for_start(session);
	if (error)
		return complain_of_end(error);
	session->streams = calloc(session->kernel.n_cpus, sizeof(*session->streams));
	error = session->streams ? add_streams(session) : -ENOMEM;
	if (!error)
		error = nt_kernel_seed(&session->kernel, &session->ids);
	if (!error)
		error = nt_kernel_seed_sockets(&session->kernel, &session->options->plan, &session->ids);
	if (!error)
		error = nt_proc_names_hidden(&session->ids, nt_now(), session->hidden, sizeof(session->hidden));
	before_ns = nt_now();
	if (!error)
		error = nt_kernel_start(&session->kernel);
	nt_flows_start(&session->flows);
	if (error)
		return complain("cannot start the programs in the kernel", error);
	error = nt_host_view_clock(session->kernel.start_ns, before_ns, nt_now(), message, sizeof(message));
	if (error)
		fprintf(stderr, "nettape-record: %s\n", message);
	return error;
}

/*
 * The rings are small, so that they stay in the CPU's cache, and a host that is worth recording is busy: what drains
 * them must not wait behind it. Without the right to do so we go on as we are, and say so.
 */
static void be_prompt(struct session *session)
{
	struct sched_param priority = {.sched_priority = 1};

	if (session->options->no_realtime || !sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &priority))
		return;
	snprintf(session->not_prompt, sizeof(session->not_prompt),
		 "Real-time priority was refused to the recorder (%s): it drains the rings at normal priority, and a "
		 "busy host may lose more records.",
		 strerror(errno));
	fprintf(stderr,
		"nettape-record: no real-time priority (%s), so a busy host may lose more records: allow it by "
		"CAP_SYS_NICE, and in its cgroup where there is cpu.rt_runtime_us, or give --no-realtime\n",
		strerror(errno));
}

static int prepare_server(struct session *session)
{
	char message[PATH_MAX + 512];
	int error = nt_server_prepare(&session->server, session->options, &session->signals, message, sizeof(message));

	if (error)
		fprintf(stderr, "nettape-record: %s\n", message);
	return error;
}

static int begin(struct session *session)
{
	struct nt_record_options *options = session->options;
	int error = set_up_signals(session);

	if (!error)
		error = nt_ids_init(&session->ids);
	if (error)
		return complain("cannot begin", error);
	error = open_tape(session);
	if (!error)
		error = check_snapshots(session);
	if (error)
		return error;
	if (options->command) {
		error = nt_child_prepare(&session->child, options->command, &session->signals, NULL, NULL);
		if (error)
			return complain("cannot start the command", error);
	}
	/* Behind the command, which would else hold its pipes for as long as it waits. */
	if (options->serves && (error = prepare_server(session)))
		return error;
	error = begin_kernel(session);
	if (error)
		return error;
	watch(session, session->signal_fd, EPOLLIN);
	session->next_snapshot_ns = nt_now();
	if (session->energy.n)
		session->next_energy_ns = session->kernel.start_ns + READ_ENERGY_AFTER_NS;
	if (options->duration_ns)
		session->deadline_ns = session->kernel.start_ns + options->duration_ns;
	be_prompt(session);
	error = begin_chunk(session);
	if (error)
		return complain_of_tape(session, error);
	tell_what_was_kept(session);
	nt_status_begin(&session->status, options);
	nt_server_go(&session->server);
	nt_child_go(&session->child);
	return 0;
}

/* ---- recording ---- */

static int drain(struct session *session)
{
	uint64_t now_ns = nt_now();
	int error = 0;

	for (uint32_t cpu = 0; cpu < session->kernel.n_cpus && !error; cpu++) {
		struct nt_stream *stream = &session->streams[cpu];

		if (!stream->events)
			continue;
		nt_stream_begin_drain(stream, now_ns);
		error = nt_ring_reader_drain(&session->kernel.rings[cpu], nt_stream_take_item, stream);
		nt_stream_end_drain(stream);
		if (!error)
			error = nt_stream_flush_old(stream, now_ns);
	}
	return error;
}

static int flush(struct session *session)
{
	int error = nt_flush_identities(&session->ids, session->tape, true);

	for (uint32_t cpu = 0; cpu < session->kernel.n_cpus && !error; cpu++)
		if (session->streams[cpu].events)
			error = nt_stream_flush(&session->streams[cpu]);
	return error;
}

/* Keeps the memory for identities bounded. */
static void forget(struct session *session, uint64_t now_ns)
{
	const uint32_t generation = nt_ids_forget(&session->ids, now_ns);

	if (generation != session->generation)
		nt_kernel_begin_generation(&session->kernel, generation);
	session->generation = generation;
}

static uint64_t lag_max_ns(const struct session *session)
{
	uint64_t most = 0;

	for (uint32_t cpu = 0; cpu < session->kernel.n_cpus; cpu++)
		if (session->streams[cpu].lag_max_ns > most)
			most = session->streams[cpu].lag_max_ns;
	return most;
}

static int rotate(struct session *session)
{
	int error = nt_symbols_resolve(&session->symbols, &session->ids, nt_now(), NT_SYMBOLS_NOW);

	if (!error)
		error = flush(session);

	if (!error)
		error = nt_tape_writer_finish_chunk(session->tape);
	if (!error)
		error = begin_chunk(session);
	/* A CPU that is silent for long would else not be in a chunk of less. */
	if (!error && nt_retention_drops(&session->options->retention))
		nt_kernel_refresh(&session->kernel, nt_now(), 0, 0);
	return error;
}

static int follow_hotplug(struct session *session)
{
	unsigned int changed;
	int error;

	for (uint32_t cpu = 0; cpu < session->kernel.n_cpus; cpu++) {
		if (session->streams[cpu].came_online)
			nt_sampler_forget(&session->kernel.sampler, cpu);
		session->streams[cpu].came_online = false;
	}
	error = nt_kernel_follow_hotplug(&session->kernel, session->options->ring_size, &changed);

	/* Without a ring the new CPU's events are counted as lost: the recording goes on. */
	if (error || !changed)
		return 0;
	error = add_streams(session);
	return error ? error : nt_proc_snapshots_packages(&session->snapshots);
}

/* Names for what has been referred to since the last time. */
static int resolve(struct session *session, uint64_t now_ns, enum nt_symbols_when when)
{
	int error = nt_proc_names_resolve(&session->names, &session->ids, now_ns);

	if (!error)
		error = nt_symbols_resolve(&session->symbols, &session->ids, now_ns, when);
	return error ? error : nt_user_files_resolve(&session->files, &session->ids, now_ns, when == NT_SYMBOLS_LAST);
}

static void sum_up(const struct session *session, uint64_t end_ns, struct nt_totals *totals)
{
	memset(totals, 0, sizeof(*totals));
	totals->duration_ns = end_ns > session->kernel.start_ns ? end_ns - session->kernel.start_ns : 0;
	for (uint32_t cpu = 0; cpu < session->kernel.n_cpus; cpu++) {
		const struct nt_stream *stream = &session->streams[cpu];

		totals->events += nt_stream_events(stream);
		totals->lost += stream->lost_total;
		totals->missed += stream->missed_total;
		totals->many +=
			session->kernel.cpus[cpu].counts.outcome[NT_OUTCOME_noted_many][NT_PROGRAM_netif_receive_skb];
		if (stream->lost_bytes_max > totals->lost_bytes_max)
			totals->lost_bytes_max = stream->lost_bytes_max;
	}
}

static void show_status(struct session *session, uint64_t now_ns)
{
	struct nt_totals totals;

	sum_up(session, now_ns, &totals);
	nt_status_show(&session->status, &totals, nt_tape_writer_bytes(session->tape) - session->written.dropped_bytes);
}

static bool is_chunk_full(const struct session *session, uint64_t now_ns)
{
	const struct nt_retention_limits *limits = &session->options->retention;

	return nt_tape_writer_chunk_size(session->tape) >= nt_retention_chunk_bytes(limits) ||
	       now_ns - session->chunk_begun_ns >= nt_retention_chunk_ns(limits);
}

/* The work of each second. */
static int tick(struct session *session, uint64_t now_ns)
{
	int error;

	session->next_snapshot_ns += READ_EVERY_NS;
	if (session->next_snapshot_ns < now_ns)
		session->next_snapshot_ns = now_ns + READ_EVERY_NS;
	error = resolve(session, now_ns, NT_SYMBOLS_SOON);
	if (!error)
		error = nt_flush_identities(&session->ids, session->tape, true);
	if (!error)
		error = nt_proc_snapshots_take(&session->snapshots, NT_PROC_SNAPSHOTS_ALL, lag_max_ns(session));
	if (!error)
		error = nt_proc_snapshots_clock(&session->snapshots);
	if (!error)
		error = follow_hotplug(session);
	nt_kernel_refresh(&session->kernel, now_ns, REFRESH_AFTER_NS, SILENT_NS);
	nt_flows_turn(&session->flows, now_ns);
	nt_server_print(&session->server, &session->status, !session->stop);
	nt_tape_writer_written(session->tape, &session->written);
	if (session->written.is_low && !session->stop) {
		session->stop = "disk nearly full";
		session->is_short = true;
	}
	show_status(session, now_ns);
	return error ? error : nt_tape_writer_sync(session->tape);
}

/* ---- snapshots ---- */

/* The end of the recording, or of a snapshot: all records that ended before are on the tape. */
static int write_closing_meta(struct session *session, uint64_t end_ns, const char *stop)
{
	struct nt_block_header header = {.type = NT_BLOCK_META};
	struct nt_totals totals;
	struct nt_buf raw = {};
	int error;

	sum_up(session, end_ns, &totals);
	error = nt_meta_close(&raw, end_ns, stop, &totals);
	if (!error)
		error = nt_tape_writer_block(session->tape, &header, raw.data, raw.size);
	nt_buf_release(&raw);
	return error;
}

#define PATIENCE_MS 1000

/* Whether the tape has a state of each CPU that is no older. `or_offline`: or the CPU writes none, as one offline. */
static bool are_known_until(const struct session *session, uint64_t ns, bool or_offline)
{
	for (uint32_t cpu = 0; cpu < session->kernel.n_cpus; cpu++) {
		const uint64_t written_ns = __atomic_load_n(&session->kernel.cpus[cpu].state_ns, __ATOMIC_RELAXED);

		if (session->streams[cpu].events && session->streams[cpu].state_ns < ns &&
		    (written_ns >= ns || !or_offline))
			return false;
	}
	return true;
}

#define OFFLINE_MS 10

/*
 * All that the programs have written until now_ns, and the state of each CPU: so the time up to then is known. A
 * program that was interrupted writes what it holds when it goes on, and one that may be preempted fills the room that
 * it has taken in a ring: for these it is waited.
 */
static int drain_until(struct session *session, uint64_t now_ns)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	int error = 0;

	for (int waited_ms = 0; !error && waited_ms < PATIENCE_MS; waited_ms++) {
		nt_kernel_refresh(&session->kernel, nt_now(), 0, 0);
		error = drain(session);
		if (are_known_until(session, now_ns, waited_ms >= OFFLINE_MS))
			break;
		nanosleep(&pause, NULL);
	}
	return error;
}

/* What a tape has before it ends. */
static int close_window(struct session *session, uint64_t now_ns)
{
	int error = drain_until(session, now_ns);

	if (!error)
		error = nt_proc_snapshots_take(&session->snapshots, NT_PROC_SNAPSHOTS_ALL, lag_max_ns(session));
	if (!error)
		error = resolve(session, nt_now(), NT_SYMBOLS_NOW);
	if (!error)
		error = put_block_devices(session);
	if (!error)
		error = flush(session);
	if (!error)
		error = nt_proc_snapshots_clock(&session->snapshots);
	if (!error)
		error = write_closing_meta(session, now_ns, NT_STOP_SNAPSHOT);
	return error ? error : nt_tape_writer_finish_chunk(session->tape);
}

/* The chunk is closed, and the thread that writes the tape links it and those before it. The recording goes on. */
static int take_snapshot(struct session *session)
{
	const struct nt_record_options *options = session->options;
	struct nt_snapshot *snapshot = nt_snapshot_new(options->output, options->snapshots, &options->owner);
	int error = snapshot ? 0 : -ENOMEM;

	session->wants_snapshot = false;
	session->makes_snapshot = !error;
	if (!error && !snapshot->message[0])
		error = close_window(session, nt_now());
	else if (!error)
		return nt_tape_writer_snapshot(session->tape, snapshot);
	if (error) {
		nt_snapshot_free(snapshot);
		return error;
	}
	error = nt_tape_writer_snapshot(session->tape, snapshot);
	return error ? error : begin_chunk(session);
}

/* What has become of the last one. */
static void tell_of_snapshot(struct session *session)
{
	struct nt_snapshot *snapshot = nt_tape_writer_take_snapshot(session->tape);

	if (!snapshot)
		return;
	session->makes_snapshot = false;
	nt_status_hide(&session->status);
	if (snapshot->message[0])
		fprintf(stderr, "nettape-record: no snapshot: %s\n", snapshot->message);
	else if (!session->options->quiet)
		fprintf(stderr, "snapshot: %s\n", snapshot->path);
	nt_snapshot_free(snapshot);
}

/* How long to sleep: until the next drain; or the deadline, or the next reading of energy, if these are nearer. */
static int sleep_ms(const struct session *session, uint64_t now_ns)
{
	uint64_t ms = DRAIN_EVERY_MS, left_ms;

	if (session->deadline_ns && (left_ms = left_ns(session->deadline_ns, now_ns) / 1000000) < ms)
		ms = left_ms;
	if (session->next_energy_ns && (left_ms = (left_ns(session->next_energy_ns, now_ns) + 999999) / 1000000) < ms)
		ms = left_ms;
	return (int)ms;
}

static int read_energy(struct session *session, uint64_t now_ns)
{
	const uint64_t start_ns = session->kernel.start_ns;

	session->last_energy_ns = now_ns;
	session->next_energy_ns = now_ns - (now_ns - start_ns) % READ_ENERGY_EVERY_NS + READ_ENERGY_EVERY_NS;
	return nt_proc_snapshots_energy(&session->snapshots);
}

static int record(struct session *session)
{
	struct epoll_event events[16];
	int error = 0;

	while (!session->stop && !error) {
		uint64_t now_ns = nt_now();

		epoll_wait(session->epoll_fd, events, 16, sleep_ms(session, now_ns));
		read_signals(session);
		now_ns = nt_now();
		if (session->deadline_ns && now_ns >= session->deadline_ns && !session->stop)
			session->stop = "duration";
		/* First: what a drain takes would make it late. */
		if (session->next_energy_ns && now_ns >= session->next_energy_ns)
			error = read_energy(session, now_ns);
		if (!error)
			error = drain(session);
		if (!error)
			error = nt_flows_take(&session->flows, first_stream(session), now_ns);
		forget(session, now_ns);
		if (!error && now_ns >= session->next_snapshot_ns)
			error = tick(session, now_ns);
		if (!error && !session->stop && session->wants_snapshot && !session->makes_snapshot)
			error = take_snapshot(session);
		else if (!error && !session->stop && is_chunk_full(session, now_ns))
			error = rotate(session);
		if (session->makes_snapshot)
			tell_of_snapshot(session);
	}
	return error ? complain_of_tape(session, error) : 0;
}

/* ---- ending ---- */

static bool all_are_empty(const struct session *session)
{
	for (uint32_t cpu = 0; cpu < session->kernel.n_cpus; cpu++)
		if (session->kernel.rings[cpu].fd && !nt_ring_reader_is_empty(&session->kernel.rings[cpu]))
			return false;
	return true;
}

/*
 * A program that may be preempted can have taken room in a ring and not have filled it yet; what others wrote behind
 * it, also the CPU's last state, is read when it has. It runs when its task does: for that it is waited.
 */
static int drain_to_the_end(struct session *session)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	int error = drain(session);

	for (int waited_ms = 0; !error && waited_ms < PATIENCE_MS && !all_are_empty(session); waited_ms++) {
		nanosleep(&pause, NULL);
		error = drain(session);
	}
	return error;
}

/*
 * Everything that was in the rings, what the CPUs still had to say of losses, and what they had not put into the rings.
 */
static int drain_rest(struct session *session)
{
	int error = drain(session);

	nt_kernel_flush_losses(&session->kernel);
	if (!error)
		error = drain_to_the_end(session);
	for (uint32_t cpu = 0; cpu < session->kernel.n_cpus && !error; cpu++) {
		struct nt_stream *stream = &session->streams[cpu];

		if (!stream->events)
			continue;
		error = nt_kernel_drain_batch(&session->kernel, cpu, nt_stream_take_item, stream);
		/* Losses that were told there belong to the drain before. */
		nt_stream_end_drain(stream);
	}
	return error;
}

static int end(struct session *session)
{
	const uint64_t now_ns = nt_now();
	int error = 0;

	if (session->next_energy_ns && now_ns >= session->last_energy_ns + READ_ENERGY_LAST_NS)
		error = read_energy(session, now_ns);
	if (!error)
		error = nt_proc_snapshots_take(&session->snapshots, NT_PROC_SNAPSHOTS_ALL, lag_max_ns(session));

	nt_kernel_stop(&session->kernel, &session->options->plan);
	if (!error)
		error = drain_rest(session);
	if (!error)
		error = nt_flows_end(&session->flows, first_stream(session));
	if (!error)
		error = nt_kernel_seed_sockets(&session->kernel, &session->options->plan, &session->ids);
	if (!error)
		error = resolve(session, nt_now(), NT_SYMBOLS_LAST);
	if (!error)
		error = put_block_devices(session);
	if (!error)
		error = flush(session);
	if (!error)
		error = nt_proc_snapshots_take(&session->snapshots, NT_PROC_SNAPSHOTS_OWN, lag_max_ns(session));
	if (!error)
		error = nt_proc_snapshots_clock(&session->snapshots);
	if (!error)
		error = write_closing_meta(session, session->kernel.end_ns, session->stop);
	if (!error)
		error = nt_tape_writer_finish_chunk(session->tape);
	if (!error)
		error = nt_tape_writer_wait(session->tape);
	return error ? complain_of_tape(session, error) : 0;
}

/*
 * Of what was recorded only what is on the disk counts: the rings' last records, and what was queued for a disk that is
 * full, are not there for anybody. A tape without its end ends with its last record.
 */
static void print_end(struct session *session, struct nt_totals *totals)
{
	struct nt_tape_totals written;
	uint64_t end_ns = session->kernel.end_ns;

	nt_tape_writer_written(session->tape, &written);
	/* That has been said, and there is no tape. */
	if (!written.bytes)
		return;
	if (session->failed_write && written.last_end_ns < end_ns)
		end_ns = written.last_end_ns;
	sum_up(session, end_ns, totals);
	totals->events = written.events;
	totals->lost = written.lost;
	totals->missed = written.missed;
	totals->dropped_chunks = written.dropped_chunks;
	totals->dropped_bytes = written.dropped_bytes;
	totals->dropped_events = written.dropped_events;
	totals->kept_ns = end_ns > written.dropped_until_ns ? end_ns - written.dropped_until_ns : 0;
	totals->left_out =
		nt_proc_snapshots_left_out(&session->snapshots, &totals->most_left_out, &totals->left_out_most);
	nt_proc_snapshots_own_cost(&session->snapshots, &totals->own);
	nt_status_end(&session->status, totals, written.bytes);
}

/* As the manual's section EXIT STATUS has it. */
static int exit_status(const struct session *session, int error, const struct nt_totals *totals)
{
	int status = 0;

	if (error)
		return 1;
	if (session->options->command)
		status = session->ended_by_signal ? 128 + session->ended_by_signal : session->child.status;
	return !status && totals->lost ? NT_RECORD_LOST : status;
}

static void release(struct session *session)
{
	for (uint32_t cpu = 0; cpu < session->kernel.n_cpus && session->streams; cpu++)
		nt_stream_release(&session->streams[cpu]);
	free(session->streams);
	nt_status_release(&session->status);
	nt_tape_writer_free(session->tape);
	nt_proc_snapshots_release(&session->snapshots);
	nt_energy_release(&session->energy);
	nt_proc_names_release(&session->names);
	nt_symbols_release(&session->symbols);
	nt_drop_reasons_release(&session->reasons);
	nt_user_files_release(&session->files);
	nt_ids_release(&session->ids);
	nt_flows_release(&session->flows);
	nt_kernel_release(&session->kernel);
	if (session->signal_fd > 0)
		close(session->signal_fd);
	if (session->epoll_fd > 0)
		close(session->epoll_fd);
}

int nt_session_run(struct nt_record_options *options)
{
	struct session session = {
		.options = options,
		.status.terminal = -1,
		.kernel.stats_fd = -1,
		.kernel.stamps_fd = -1,
		.names.cgroup_fd = -1,
	};
	struct nt_totals totals = {};
	int error = begin(&session), status;
	bool began = !error;

	if (!error)
		error = record(&session);
	if (began && !session.failed_write)
		error = end(&session);
	else
		nt_kernel_stop(&session.kernel, &options->plan);
	if (session.makes_snapshot)
		tell_of_snapshot(&session);
	if (session.wants_snapshot)
		fprintf(stderr, "nettape-record: no snapshot: the recording ended before\n");
	if (!error && session.is_short)
		error = complain_of_little_room(&session);
	nt_server_print(&session.server, &session.status, false);
	nt_server_release(&session.server);
	if (began)
		print_end(&session, &totals);
	/* The tape is whole; the command may go on until it ends, or the user has enough. */
	sigdelset(&session.signals, SIGUSR1);
	if (began && !session.ended_by_signal)
		session.ended_by_signal = nt_child_wait(&session.child, &session.signals);
	if (began && session.ended_by_signal)
		nt_child_end(&session.child, SIGTERM);
	else if (!began && session.child.pid)
		nt_child_end(&session.child, SIGKILL);
	status = exit_status(&session, error, &totals);
	if (!began || session.failed_write)
		nt_tape_writer_discard(session.tape); /* what holds nothing is no tape */
	release(&session);
	return status;
}
