# src/jobspec: canonical jobspec; the dialects come from $(DIALECTS_FILES), their table.c is built.
noinst_LIBRARIES += src/jobspec/libjobspec.a
src_jobspec_libjobspec_a_SOURCES = \
	src/jobspec/array.c \
	src/jobspec/attributes.c \
	src/jobspec/base64.c \
	src/jobspec/count.c \
	src/jobspec/datetime.c \
	src/jobspec/dependency.c \
	src/jobspec/dialect.c \
	src/jobspec/environment.c \
	src/jobspec/jobspec.c \
	src/jobspec/malleable.c \
	src/jobspec/names.c \
	src/jobspec/placement.c \
	src/jobspec/podreasons.c \
	src/jobspec/podtemplate.c \
	src/jobspec/podwish.c \
	src/jobspec/process.c \
	src/jobspec/request.c \
	src/jobspec/requires.c \
	src/jobspec/resources.c \
	src/jobspec/script.c \
	src/jobspec/sizes.c \
	src/jobspec/stage.c \
	src/jobspec/submit_environ.c \
	src/jobspec/submit_jobspec.c \
	src/jobspec/submit_options.c \
	src/jobspec/submit_shape.c \
	src/jobspec/submit_written.c \
	src/jobspec/text.c \
	src/jobspec/words.c \
	$(DIALECTS_FILES)
nodist_src_jobspec_libjobspec_a_SOURCES = src/jobspec/dialects/table.c

if HAVE_CMOCKA
JOBSPEC_TESTS = \
	src/jobspec/test/test_array \
	src/jobspec/test/test_datetime \
	src/jobspec/test/test_dependency \
	src/jobspec/test/test_jobspec \
	src/jobspec/test/test_podtemplate \
	src/jobspec/test/test_podwish \
	src/jobspec/test/test_process \
	src/jobspec/test/test_request \
	src/jobspec/test/test_requires \
	src/jobspec/test/test_script \
	src/jobspec/test/test_submit_options \
	src/jobspec/test/test_submit_shape \
	src/jobspec/test/test_text \
	src/jobspec/test/test_torture
check_PROGRAMS += $(JOBSPEC_TESTS)
UNIT_TESTS += $(JOBSPEC_TESTS)
JOBSPEC_TEST_LIBS = $(JOBSPEC_LIBS) $(CMOCKA_LIBS)
src_jobspec_test_test_array_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_podtemplate_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_podwish_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_process_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_datetime_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_dependency_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_jobspec_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_request_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_requires_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_script_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_submit_options_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_submit_shape_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_text_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_torture_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
endif
