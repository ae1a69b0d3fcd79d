# src/tools: programs for people who study the scheduler.
# libmatchtool.a has all of fluxq-match except main(): unit tests also link it.
noinst_LIBRARIES += src/tools/match/libmatchtool.a
src_tools_match_libmatchtool_a_SOURCES = \
	src/tools/tool.c \
	src/tools/match/commands.c \
	src/tools/match/complete.c \
	src/tools/match/counts.c \
	src/tools/match/do_book.c \
	src/tools/match/do_find.c \
	src/tools/match/do_graph.c \
	src/tools/match/do_match.c \
	src/tools/match/do_show.c \
	src/tools/match/dump.c \
	src/tools/match/jobs.c \
	src/tools/match/options.c \
	src/tools/match/output.c \
	src/tools/match/paths.c \
	src/tools/match/prompt.c \
	src/tools/match/session.c
MATCHTOOL_LIBS = src/tools/match/libmatchtool.a $(FORMATS_LIBS) $(READLINE_LIBS)

bin_PROGRAMS += src/tools/fluxq-match
src_tools_fluxq_match_SOURCES = src/tools/match/main.c
src_tools_fluxq_match_LDADD = $(MATCHTOOL_LIBS)

# libsimtool.a has all of fluxq-sim except main().
noinst_LIBRARIES += src/tools/sim/libsimtool.a
src_tools_sim_libsimtool_a_SOURCES = \
	src/tools/tool.c \
	src/tools/sim/cluster.c \
	src/tools/sim/events.c \
	src/tools/sim/gantt.c \
	src/tools/sim/joblog.c \
	src/tools/sim/malleable.c \
	src/tools/sim/options.c \
	src/tools/sim/plot.c \
	src/tools/sim/records.c \
	src/tools/sim/report.c \
	src/tools/sim/requests.c \
	src/tools/sim/series.c \
	src/tools/sim/sim.c \
	src/tools/sim/svg.c \
	src/tools/sim/tally.c \
	src/tools/sim/trace.c \
	src/tools/sim/trace_builtin.c \
	src/tools/sim/trace_jsonl.c \
	src/tools/sim/trace_swf.c
SIMTOOL_LIBS = src/tools/sim/libsimtool.a $(SCHED_LIBS)

bin_PROGRAMS += src/tools/fluxq-sim
src_tools_fluxq_sim_SOURCES = src/tools/sim/main.c
src_tools_fluxq_sim_LDADD = $(SIMTOOL_LIBS)

if HAVE_CMOCKA
SIM_TESTS = \
	src/tools/sim/test/test_cluster \
	src/tools/sim/test/test_events \
	src/tools/sim/test/test_figures \
	src/tools/sim/test/test_trace
check_PROGRAMS += $(SIM_TESTS)
UNIT_TESTS += $(SIM_TESTS)
SIM_TEST_LIBS = $(SIMTOOL_LIBS) $(CMOCKA_LIBS)
src_tools_sim_test_test_cluster_LDADD = $(SIM_TEST_LIBS)
src_tools_sim_test_test_events_LDADD = $(SIM_TEST_LIBS)
src_tools_sim_test_test_figures_LDADD = $(SIM_TEST_LIBS)
src_tools_sim_test_test_trace_LDADD = $(SIM_TEST_LIBS)
endif
