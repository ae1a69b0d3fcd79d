# src/jobspec: canonical jobspec, with one room for each concern: attributes/ (a file for each attribute with
# a form of its own), parse/, check/, sizes/, options/ (of a submit), script/ (its directives), dialects/.
# The dialects come from $(DIALECTS_FILES); their table.c is generated.
noinst_LIBRARIES += src/jobspec/libjobspec.a
src_jobspec_libjobspec_a_SOURCES = \
	src/jobspec/attributes/array.c \
	src/jobspec/attributes/base64.c \
	src/jobspec/attributes/datetime.c \
	src/jobspec/attributes/dependency.c \
	src/jobspec/attributes/licenses.c \
	src/jobspec/attributes/mail.c \
	src/jobspec/attributes/placement.c \
	src/jobspec/attributes/podreasons.c \
	src/jobspec/attributes/podtemplate.c \
	src/jobspec/attributes/podwish.c \
	src/jobspec/attributes/process.c \
	src/jobspec/attributes/requires.c \
	src/jobspec/attributes/stage.c \
	src/jobspec/attributes/text.c \
	src/jobspec/check/malleable.c \
	src/jobspec/check/names.c \
	src/jobspec/check/script_text.c \
	src/jobspec/check/segments.c \
	src/jobspec/options/attribute_values.c \
	src/jobspec/options/attributes.c \
	src/jobspec/options/components.c \
	src/jobspec/options/environment.c \
	src/jobspec/options/make_jobspec.c \
	src/jobspec/options/set.c \
	src/jobspec/options/shape.c \
	src/jobspec/options/shape_places.c \
	src/jobspec/options/submit_size.c \
	src/jobspec/options/slurm_options.c \
	src/jobspec/options/submit_options.c \
	src/jobspec/options/variables.c \
	src/jobspec/options/written.c \
	src/jobspec/parse/attributes.c \
	src/jobspec/parse/components.c \
	src/jobspec/parse/jobspec.c \
	src/jobspec/parse/request.c \
	src/jobspec/parse/gputype.c \
	src/jobspec/parse/resources.c \
	src/jobspec/script/dialect.c \
	src/jobspec/script/script.c \
	src/jobspec/script/words.c \
	src/jobspec/sizes/count.c \
	src/jobspec/sizes/sizes.c \
	$(DIALECTS_FILES)
nodist_src_jobspec_libjobspec_a_SOURCES = src/jobspec/dialects/table.c

if HAVE_CMOCKA
JOBSPEC_TESTS = \
	src/jobspec/attributes/test/test_array \
	src/jobspec/attributes/test/test_datetime \
	src/jobspec/attributes/test/test_dependency \
	src/jobspec/attributes/test/test_podtemplate \
	src/jobspec/attributes/test/test_podwish \
	src/jobspec/attributes/test/test_process \
	src/jobspec/attributes/test/test_requires \
	src/jobspec/options/test/test_attributes \
	src/jobspec/options/test/test_submit_options \
	src/jobspec/options/test/test_submit_shape \
	src/jobspec/parse/test/test_request \
	src/jobspec/script/test/test_components \
	src/jobspec/script/test/test_script \
	src/jobspec/test/test_jobspec \
	src/jobspec/test/test_text \
	src/jobspec/test/test_torture
check_PROGRAMS += $(JOBSPEC_TESTS)
UNIT_TESTS += $(JOBSPEC_TESTS)
JOBSPEC_TEST_LIBS = $(JOBSPEC_LIBS) $(CMOCKA_LIBS)
src_jobspec_attributes_test_test_array_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_attributes_test_test_podtemplate_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_attributes_test_test_podwish_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_attributes_test_test_process_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_attributes_test_test_datetime_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_attributes_test_test_dependency_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_jobspec_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_parse_test_test_request_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_attributes_test_test_requires_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_script_test_test_components_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_script_test_test_script_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_options_test_test_attributes_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_options_test_test_submit_options_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_options_test_test_submit_shape_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_text_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_torture_LDADD = $(JOBSPEC_TEST_LIBS)
src_jobspec_test_test_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
endif
