# src/job: the job record, its states and events.
noinst_LIBRARIES += src/job/libjob.a
src_job_libjob_a_SOURCES = \
	src/job/array.c \
	src/job/deps.c \
	src/job/details.c \
	src/job/deps_due.c \
	src/job/transitions.c \
	src/job/transitions_array.c \
	src/job/transitions_resize.c \
	src/job/event.c \
	src/job/job.c \
	src/job/result.c

if HAVE_CMOCKA
JOB_TESTS = src/job/test/test_array src/job/test/test_deps src/job/test/test_deps_torture src/job/test/test_details src/job/test/test_event \
	src/job/test/test_job src/job/test/test_job_attempts src/job/test/test_job_transitions \
	src/job/test/test_job_torture
check_PROGRAMS += $(JOB_TESTS)
UNIT_TESTS += $(JOB_TESTS)
JOB_TEST_LIBS = $(JOB_LIBS) $(CMOCKA_LIBS)
src_job_test_test_array_LDADD = $(JOB_TEST_LIBS)
src_job_test_test_deps_LDADD = $(JOB_TEST_LIBS)
src_job_test_test_deps_torture_LDADD = $(JOB_TEST_LIBS)
src_job_test_test_deps_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_job_test_test_details_LDADD = $(JOB_TEST_LIBS)
src_job_test_test_event_LDADD = $(JOB_TEST_LIBS)
src_job_test_test_job_SOURCES = src/job/test/test_job.c src/job/test/job_events.c
src_job_test_test_job_LDADD = $(JOB_TEST_LIBS)
src_job_test_test_job_attempts_SOURCES = src/job/test/test_job_attempts.c src/job/test/job_events.c
src_job_test_test_job_attempts_LDADD = $(JOB_TEST_LIBS)
src_job_test_test_job_transitions_SOURCES = src/job/test/test_job_transitions.c src/job/test/job_events.c
src_job_test_test_job_transitions_LDADD = $(JOB_TEST_LIBS)
src_job_test_test_job_torture_SOURCES = src/job/test/test_job_torture.c src/job/test/job_events.c
src_job_test_test_job_torture_LDADD = $(JOB_TEST_LIBS)
src_job_test_test_job_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
endif
