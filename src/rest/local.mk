# src/rest: slurmrestd, Slurm's REST interface as a program of its own beside the commands, as it
# loads libuv and the HTTP server.
slurmexecdir = $(fluxqexecdir)/slurm
slurmexec_PROGRAMS = src/rest/slurmrestd
src_rest_slurmrestd_SOURCES = \
	src/rest/broker.c \
	src/rest/call.c \
	src/rest/child.c \
	src/rest/history.c \
	src/rest/jobs.c \
	src/rest/main.c \
	src/rest/nodes.c \
	src/rest/routes.c \
	src/rest/server.c \
	src/rest/submit.c \
	src/rest/values.c
src_rest_slurmrestd_LDADD = src/cmd/libcmd.a $(NET_SERVER_LIBS) $(NET_CLIENT_LIBS) $(READLINE_LIBS)

if HAVE_CMOCKA
REST_TESTS = src/rest/test/test_values
check_PROGRAMS += $(REST_TESTS)
UNIT_TESTS += $(REST_TESTS)
src_rest_test_test_values_SOURCES = src/rest/test/test_values.c src/rest/values.c
src_rest_test_test_values_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
endif
