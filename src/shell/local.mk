# src/shell: fluxq-shell, a static PIE. Compiled by $(MUSL_CC) $(AGENT_CPPFLAGS) $(AGENT_CFLAGS).
#
# All in one command: one static program, small enough to travel in a ConfigMap, from its own
# sources and the parts of src/protocol and src/common that need nothing but libc.
SHELL_PARTS = \
	src/shell/adminrun.c \
	src/shell/api.c \
	src/shell/bcast.c \
	src/shell/birth.c \
	src/shell/cgroup.c \
	src/shell/cpubind.c \
	src/shell/cpubind_os.c \
	src/shell/descend.c \
	src/shell/door.c \
	src/shell/env.c \
	src/shell/guardian.c \
	src/shell/hold.c \
	src/shell/hostfile.c \
	src/shell/http.c \
	src/shell/infile.c \
	src/shell/install.c \
	src/shell/jobstate.c \
	src/shell/kvs.c \
	src/shell/layout.c \
	src/shell/layout_text.c \
	src/shell/loop.c \
	src/shell/member.c \
	src/shell/multiprog.c \
	src/shell/outfile.c \
	src/shell/places.c \
	src/shell/pmi.c \
	src/shell/pmi1.c \
	src/shell/pmi2.c \
	src/shell/pmi_mapping.c \
	src/shell/pty.c \
	src/shell/rankhost.c \
	src/shell/reap.c \
	src/shell/receive.c \
	src/shell/relro.c \
	src/shell/resizefile.c \
	src/shell/resumable.c \
	src/shell/root.c \
	src/shell/rootjoin.c \
	src/shell/rootresize.c \
	src/shell/rootresize_hook.c \
	src/shell/rootstage.c \
	src/shell/rootsteps.c \
	src/shell/rootuse.c \
	src/shell/run.c \
	src/shell/run_connect.c \
	src/shell/run_hold.c \
	src/shell/run_link.c \
	src/shell/run_input.c \
	src/shell/run_options.c \
	src/shell/run_output.c \
	src/shell/run_pty.c \
	src/shell/say.c \
	src/shell/server.c \
	src/shell/sock.c \
	src/shell/spool.c \
	src/shell/stage.c \
	src/shell/stepbind.c \
	src/shell/stepd.c \
	src/shell/stepinput.c \
	src/shell/steppmi.c \
	src/shell/steps.c \
	src/shell/stepsresize.c \
	src/shell/stepspec.c \
	src/shell/stream.c \
	src/shell/task.c \
	src/shell/tasklabel.c \
	src/shell/tasks.c \
	src/shell/tree.c \
	src/shell/uplink.c \
	src/shell/userenv.c \
	src/shell/wire.c \
	src/shell/worker.c
SHELL_FILES = src/shell/main.c $(SHELL_PARTS) $(SHELL_PROTOCOL_SOURCES) $(SHELL_COMMON_SOURCES)
SHELL_SIZE_MAX = 524288

EXTRA_DIST += $(SHELL_FILES)
fluxqexec_SCRIPTS = src/shell/fluxq-shell
noinst_SCRIPTS = src/shell/fluxq-run src/shell/fluxq-bcast
CLEANFILES += src/shell/fluxq-shell src/shell/fluxq-run src/shell/fluxq-bcast

src/shell/fluxq-shell: Makefile $(SHELL_FILES) $(wildcard $(srcdir)/src/shell/*.h) \
		$(wildcard $(srcdir)/src/protocol/*.h) $(wildcard $(srcdir)/src/common/*.h)
	@$(MKDIR_P) src/shell
	$(AM_V_CCLD)sources=; for f in $(SHELL_FILES); do \
	  sources="$$sources $(srcdir)/$$f"; done; \
	$(MUSL_CC) $(AGENT_CPPFLAGS) $(AGENT_CFLAGS) $(filter -Werror,$(WARN_CFLAGS)) \
	  -s -o $@.tmp $$sources -Wl,--gc-sections $(AGENT_LDFLAGS)
	@size=`wc -c <$@.tmp`; if test $$size -gt $(SHELL_SIZE_MAX); then \
	  echo "$@: $$size bytes, more than $(SHELL_SIZE_MAX)" >&2; exit 1; fi
	@mv $@.tmp $@

# Its other names, so that jobs find them beside the agent.
src/shell/fluxq-run src/shell/fluxq-bcast: src/shell/fluxq-shell
	$(AM_V_GEN)ln -sf fluxq-shell $@

# The same parts against the usual libc, for the unit tests and every compiler's warnings.
noinst_LIBRARIES += src/shell/libshell.a
src_shell_libshell_a_SOURCES = $(SHELL_PARTS)

# What t/t2000-shell.t needs to play the executor.
check_PROGRAMS += t/helper/launch-write
t_helper_launch_write_SOURCES = t/helper/launch-write.c
t_helper_launch_write_LDADD = $(PROTOCOL_LIBS)

# What t/t2040-pmi.t starts MPI programs with, which it compiles itself.
check_PROGRAMS += t/helper/pmi-launch
t_helper_pmi_launch_SOURCES = t/helper/pmi-launch.c
t_helper_pmi_launch_LDADD = src/shell/libshell.a $(PROTOCOL_LIBS)

if HAVE_CMOCKA
SHELL_TESTS = \
	src/shell/test/test_cgroup \
	src/shell/test/test_cpubind \
	src/shell/test/test_env \
	src/shell/test/test_hold \
	src/shell/test/test_resumable \
	src/shell/test/test_http \
	src/shell/test/test_infile \
	src/shell/test/test_jobstate \
	src/shell/test/test_kvs \
	src/shell/test/test_layout \
	src/shell/test/test_multiprog \
	src/shell/test/test_pmi \
	src/shell/test/test_pmi_hostile \
	src/shell/test/test_pmi_torture \
	src/shell/test/test_rankhost \
	src/shell/test/test_server \
	src/shell/test/test_sock \
	src/shell/test/test_spool \
	src/shell/test/test_stage \
	src/shell/test/test_tasklabel \
	src/shell/test/test_tree \
	src/shell/test/test_wire
check_PROGRAMS += $(SHELL_TESTS)
UNIT_TESTS += $(SHELL_TESTS)
SHELL_TEST_LIBS = src/shell/libshell.a $(PROTOCOL_LIBS) $(CMOCKA_LIBS)
src_shell_test_test_cgroup_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_cpubind_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_cpubind_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_shell_test_test_env_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_resumable_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_resumable_SOURCES = src/shell/test/test_resumable.c
src_shell_test_test_hold_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_http_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_infile_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_jobstate_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_kvs_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_layout_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_layout_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_shell_test_test_multiprog_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_multiprog_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_shell_test_test_pmi_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_pmi_hostile_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_pmi_torture_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_pmi_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_shell_test_test_server_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_rankhost_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_sock_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_spool_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_stage_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_tasklabel_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_tree_LDADD = $(SHELL_TEST_LIBS)
src_shell_test_test_wire_LDADD = $(SHELL_TEST_LIBS)
endif
