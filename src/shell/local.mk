# src/shell: fluxq-shell, a static PIE. Compiled by $(MUSL_CC) $(AGENT_CPPFLAGS) $(AGENT_CFLAGS).
#
# All functions are in one static program, small enough for a ConfigMap, from its own sources and the
# parts of src/protocol and src/common that need only libc.
SHELL_PARTS = \
	src/shell/agent/adminrun.c \
	src/shell/agent/agent.c \
	src/shell/agent/api.c \
	src/shell/agent/calls.c \
	src/shell/agent/client_listener.c \
	src/shell/agent/guardian.c \
	src/shell/agent/install.c \
	src/shell/agent/jobstate.c \
	src/shell/agent/member.c \
	src/shell/agent/ranktext.c \
	src/shell/agent/relro.c \
	src/shell/agent/root.c \
	src/shell/agent/root_actions.c \
	src/shell/agent/root_join.c \
	src/shell/agent/root_output.c \
	src/shell/agent/root_resize.c \
	src/shell/agent/root_resize_hook.c \
	src/shell/agent/root_stage.c \
	src/shell/agent/root_steps.c \
	src/shell/agent/root_usage.c \
	src/shell/agent/server.c \
	src/shell/agent/tree.c \
	src/shell/agent/uplink.c \
	src/shell/agent/userenv.c \
	src/shell/agent/worker.c \
	src/shell/io/shared.c \
	src/shell/step/cgroup.c \
	src/shell/step/cpubind.c \
	src/shell/step/cpubind_os.c \
	src/shell/step/descendants.c \
	src/shell/step/env.c \
	src/shell/step/env_gpus.c \
	src/shell/step/env_het.c \
	src/shell/step/env_hosts.c \
	src/shell/step/env_mpi.c \
	src/shell/step/env_slurm.c \
	src/shell/step/env_table.c \
	src/shell/step/keepalive.c \
	src/shell/step/layout.c \
	src/shell/step/layout_text.c \
	src/shell/step/mpi_kind.c \
	src/shell/step/multiprog.c \
	src/shell/step/placement.c \
	src/shell/step/pmix_setup.c \
	src/shell/step/reap.c \
	src/shell/step/step_bind.c \
	src/shell/step/step_input.c \
	src/shell/step/step_pmi.c \
	src/shell/step/step_pmix.c \
	src/shell/step/step_spec.c \
	src/shell/step/sample.c \
	src/shell/step/stepd.c \
	src/shell/step/stepd_start.c \
	src/shell/step/steps.c \
	src/shell/step/steps_nodes.c \
	src/shell/step/steps_resize.c \
	src/shell/step/steps_sample.c \
	src/shell/step/task.c \
	src/shell/step/task_spawn.c \
	src/shell/step/tasks.c \
	src/shell/pmi/kvs.c \
	src/shell/pmi/pmi.c \
	src/shell/pmi/pmi1.c \
	src/shell/pmi/pmi2.c \
	src/shell/pmi/pmi_mapping.c \
	src/shell/run/bcast.c \
	src/shell/run/client_address.c \
	src/shell/run/hostnames.c \
	src/shell/run/inside.c \
	src/shell/run/receive.c \
	src/shell/run/run.c \
	src/shell/run/run_bcast.c \
	src/shell/run/run_connect.c \
	src/shell/run/run_input.c \
	src/shell/run/run_keepalive.c \
	src/shell/run/run_link.c \
	src/shell/run/run_options.c \
	src/shell/run/srun_environ.c \
	src/shell/run/srun_options.c \
	src/shell/run/srun_parts.c \
	src/shell/run/run_output.c \
	src/shell/run/run_pty.c \
	src/shell/run/tasklabel.c \
	src/shell/io/agent_file.c \
	src/shell/io/hostfile.c \
	src/shell/io/http.c \
	src/shell/io/infile.c \
	src/shell/io/loop.c \
	src/shell/io/mpidir.c \
	src/shell/io/outfile.c \
	src/shell/io/pty.c \
	src/shell/io/rankhost.c \
	src/shell/io/resizefile.c \
	src/shell/io/resumable.c \
	src/shell/io/sock.c \
	src/shell/io/spool.c \
	src/shell/io/stage.c \
	src/shell/io/stderr_line.c \
	src/shell/io/stream.c \
	src/shell/io/wait_status.c \
	src/shell/io/wire.c
SHELL_FILES = src/shell/main.c $(SHELL_PARTS) $(SHELL_PROTOCOL_SOURCES) $(SHELL_COMMON_SOURCES)
SHELL_SIZE_MAX = 524288

EXTRA_DIST += $(SHELL_FILES)
fluxqexec_SCRIPTS = src/shell/fluxq-shell
noinst_SCRIPTS = src/shell/fluxq-run src/shell/fluxq-bcast
CLEANFILES += src/shell/fluxq-shell src/shell/fluxq-run src/shell/fluxq-bcast src/shell/fluxq-pmix

src/shell/fluxq-shell: Makefile $(SHELL_FILES) $(wildcard $(srcdir)/src/shell/*.h) \
		$(wildcard $(srcdir)/src/shell/*/*.h) $(wildcard $(srcdir)/src/protocol/*.h) \
		$(wildcard $(srcdir)/src/common/*.h)
	@$(MKDIR_P) src/shell
	$(AM_V_CCLD)sources=; for f in $(SHELL_FILES); do \
	  sources="$$sources $(srcdir)/$$f"; done; \
	$(MUSL_CC) $(AGENT_CPPFLAGS) $(AGENT_CFLAGS) $(filter -Werror,$(WARN_CFLAGS)) \
	  -s -o $@.tmp $$sources -Wl,--gc-sections $(AGENT_LDFLAGS)
	@size=`wc -c <$@.tmp`; if test $$size -gt $(SHELL_SIZE_MAX); then \
	  echo "$@: $$size bytes, more than $(SHELL_SIZE_MAX)" >&2; exit 1; fi
	@mv $@.tmp $@

# The agent's other names, so that jobs find them beside the agent.
src/shell/fluxq-run src/shell/fluxq-bcast: src/shell/fluxq-shell
	$(AM_V_GEN)ln -sf fluxq-shell $@

# The same parts compiled against the usual libc, for the unit tests and every compiler's warnings.
noinst_LIBRARIES += src/shell/libshell.a
src_shell_libshell_a_SOURCES = $(SHELL_PARTS)

# The helper with which t/t2000-shell.t acts as the executor.
check_PROGRAMS += t/helper/launch-write
t_helper_launch_write_SOURCES = t/helper/launch-write.c
t_helper_launch_write_LDADD = $(PROTOCOL_LIBS)

# The helper with which t/t2040-pmi.t starts MPI programs; the test compiles these itself.
check_PROGRAMS += t/helper/pmi-launch
t_helper_pmi_launch_SOURCES = t/helper/pmi-launch.c
t_helper_pmi_launch_LDADD = src/shell/libshell.a $(PROTOCOL_LIBS)

if HAVE_CMOCKA
SHELL_TESTS = \
	src/shell/agent/test/test_jobstate \
	src/shell/agent/test/test_ranktext \
	src/shell/agent/test/test_server \
	src/shell/agent/test/test_calls \
	src/shell/agent/test/test_tree \
	src/shell/step/test/test_cgroup \
	src/shell/step/test/test_cpubind \
	src/shell/step/test/test_env \
	src/shell/step/test/test_keepalive \
	src/shell/step/test/test_layout \
	src/shell/step/test/test_multiprog \
	src/shell/step/test/test_steps \
	src/shell/pmi/test/test_kvs \
	src/shell/pmi/test/test_pmi \
	src/shell/pmi/test/test_pmi_hostile \
	src/shell/pmi/test/test_pmi_torture \
	src/shell/run/test/test_tasklabel \
	src/shell/io/test/test_http \
	src/shell/io/test/test_infile \
	src/shell/io/test/test_rankhost \
	src/shell/io/test/test_resumable \
	src/shell/io/test/test_sock \
	src/shell/io/test/test_spool \
	src/shell/io/test/test_stage \
	src/shell/io/test/test_wire
check_PROGRAMS += $(SHELL_TESTS)
UNIT_TESTS += $(SHELL_TESTS)
SHELL_TEST_LIBS = src/shell/libshell.a $(PROTOCOL_LIBS) $(CMOCKA_LIBS)
src_shell_agent_test_test_jobstate_LDADD = $(SHELL_TEST_LIBS)
src_shell_agent_test_test_ranktext_LDADD = $(SHELL_TEST_LIBS)
src_shell_agent_test_test_server_LDADD = $(SHELL_TEST_LIBS)
src_shell_agent_test_test_calls_LDADD = $(SHELL_TEST_LIBS)
src_shell_agent_test_test_tree_LDADD = $(SHELL_TEST_LIBS)
src_shell_step_test_test_cgroup_LDADD = $(SHELL_TEST_LIBS)
src_shell_step_test_test_cpubind_LDADD = $(SHELL_TEST_LIBS)
src_shell_step_test_test_cpubind_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_shell_step_test_test_env_LDADD = $(SHELL_TEST_LIBS)
src_shell_step_test_test_keepalive_LDADD = $(SHELL_TEST_LIBS)
src_shell_step_test_test_layout_LDADD = $(SHELL_TEST_LIBS)
src_shell_step_test_test_layout_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_shell_step_test_test_multiprog_LDADD = $(SHELL_TEST_LIBS)
src_shell_step_test_test_multiprog_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_shell_step_test_test_steps_LDADD = $(SHELL_TEST_LIBS)
src_shell_pmi_test_test_kvs_LDADD = $(SHELL_TEST_LIBS)
src_shell_pmi_test_test_pmi_LDADD = $(SHELL_TEST_LIBS)
src_shell_pmi_test_test_pmi_hostile_LDADD = $(SHELL_TEST_LIBS)
src_shell_pmi_test_test_pmi_torture_LDADD = $(SHELL_TEST_LIBS)
src_shell_pmi_test_test_pmi_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_shell_run_test_test_tasklabel_LDADD = $(SHELL_TEST_LIBS)
src_shell_io_test_test_http_LDADD = $(SHELL_TEST_LIBS)
src_shell_io_test_test_infile_LDADD = $(SHELL_TEST_LIBS)
src_shell_io_test_test_rankhost_LDADD = $(SHELL_TEST_LIBS)
src_shell_io_test_test_resumable_LDADD = $(SHELL_TEST_LIBS)
src_shell_io_test_test_sock_LDADD = $(SHELL_TEST_LIBS)
src_shell_io_test_test_spool_LDADD = $(SHELL_TEST_LIBS)
src_shell_io_test_test_stage_LDADD = $(SHELL_TEST_LIBS)
src_shell_io_test_test_wire_LDADD = $(SHELL_TEST_LIBS)
endif
