# src/exec/local: runs jobs as processes of this machine.
src_exec_libexec_a_SOURCES += \
	src/exec/local/admin.c \
	src/exec/local/agents.c \
	src/exec/local/cleanup.c \
	src/exec/local/files.c \
	src/exec/local/job_reports.c \
	src/exec/local/local.c \
	src/exec/local/local_job.c \
	src/exec/local/recover.c \
	src/exec/local/remains.c \
	src/exec/local/resize.c \
	src/exec/local/run.c \
	src/exec/local/spool.c

if HAVE_CMOCKA
EXEC_LOCAL_TESTS = \
	src/exec/local/test/test_agents
check_PROGRAMS += $(EXEC_LOCAL_TESTS)
UNIT_TESTS += $(EXEC_LOCAL_TESTS)
src_exec_local_test_test_agents_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
endif
