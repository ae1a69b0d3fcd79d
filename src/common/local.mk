# src/common: code that any C program could use; every other folder may include it.

# Needs only libc: src/shell compiles these files again, statically.
SHELL_COMMON_SOURCES = \
	src/common/clock.c \
	src/common/error.c \
	src/common/gputype.c \
	src/common/hostlist.c \
	src/common/idset.c \
	src/common/io.c \
	src/common/log.c \
	src/common/option.c \
	src/common/parse.c \
	src/common/pass_fd.c \
	src/common/printable.c \
	src/common/rlimits.c \
	src/common/sha256.c \
	src/common/strbuf.c \
	src/common/userfile.c

noinst_LIBRARIES += src/common/libcommon.a
src_common_libcommon_a_SOURCES = $(SHELL_COMMON_SOURCES) \
	src/common/gres.c \
	src/common/json.c \
	src/common/program_path.c \
	src/common/thousandths.c \
	src/common/userdir.c \
	src/common/yaml.c

if HAVE_CMOCKA
COMMON_TESTS = \
	src/common/test/test_clock \
	src/common/test/test_error \
	src/common/test/test_gputype \
	src/common/test/test_gres \
	src/common/test/test_hostlist \
	src/common/test/test_idset \
	src/common/test/test_io \
	src/common/test/test_json \
	src/common/test/test_log \
	src/common/test/test_option \
	src/common/test/test_parse \
	src/common/test/test_printable \
	src/common/test/test_rlimits \
	src/common/test/test_sha256 \
	src/common/test/test_strbuf \
	src/common/test/test_thousandths \
	src/common/test/test_userdir \
	src/common/test/test_userfile \
	src/common/test/test_yaml
check_PROGRAMS += $(COMMON_TESTS)
UNIT_TESTS += $(COMMON_TESTS)
COMMON_TEST_LIBS = $(COMMON_LIBS) $(CMOCKA_LIBS)
src_common_test_test_clock_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_error_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_gputype_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_gres_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_hostlist_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_idset_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_io_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_json_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_log_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_option_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_parse_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_printable_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_rlimits_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_sha256_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_strbuf_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_thousandths_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_hostlist_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_common_test_test_userdir_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_userfile_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_yaml_LDADD = $(COMMON_TEST_LIBS)
endif
