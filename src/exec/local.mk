# src/exec: executors; each folder below adds its sources in its own local.mk. The table of all
# executors is generated (contrib/tables).
noinst_LIBRARIES += src/exec/libexec.a
src_exec_libexec_a_SOURCES = \
	src/exec/agentkey.c \
	src/exec/agentlink.c \
	src/exec/agentresize.c \
	src/exec/agentstream.c \
	src/exec/exec.c \
	src/exec/joblaunch.c \
	src/exec/mounts.c \
	src/exec/namespaces.c \
	src/exec/podset.c \
	src/exec/spaceset.c \
	src/exec/startclock.c \
	src/exec/topology.c
nodist_src_exec_libexec_a_SOURCES = src/exec/table.c

if HAVE_CMOCKA
EXEC_TESTS = \
	src/exec/test/test_agentlink \
	src/exec/test/test_joblaunch \
	src/exec/test/test_mounts \
	src/exec/test/test_namespaces \
	src/exec/test/test_podset \
	src/exec/test/test_startclock
check_PROGRAMS += $(EXEC_TESTS)
UNIT_TESTS += $(EXEC_TESTS)
src_exec_test_test_agentlink_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_test_test_joblaunch_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_test_test_mounts_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_test_test_namespaces_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_test_test_podset_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_test_test_startclock_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
endif
