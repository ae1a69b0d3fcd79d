# src/common: what every other folder may use.

# Needs nothing but libc: src/shell compiles these again, statically.
SHELL_COMMON_SOURCES = \
	src/common/agent_api.c \
	src/common/clock.c \
	src/common/cut.c \
	src/common/error.c \
	src/common/frame.c \
	src/common/hold.c \
	src/common/pass_fd.c \
	src/common/session.c \
	src/common/hostlist.c \
	src/common/idset.c \
	src/common/io.c \
	src/common/launch.c \
	src/common/log.c \
	src/common/parse.c \
	src/common/pattern.c \
	src/common/printable.c \
	src/common/record.c \
	src/common/rlimits.c \
	src/common/sha256.c \
	src/common/stepuse.c \
	src/common/strbuf.c \
	src/common/taskmap.c \
	src/common/userfile.c

noinst_LIBRARIES += src/common/libcommon.a
src_common_libcommon_a_SOURCES = $(SHELL_COMMON_SOURCES) \
	src/common/agent_path.c \
	src/common/gres.c \
	src/common/json.c \
	src/common/milli.c \
	src/common/option.c \
	src/common/run_dir.c \
	src/common/step_client.c \
	src/common/userdir.c \
	src/common/yaml.c

if HAVE_CMOCKA
COMMON_TESTS = \
	src/common/test/test_clock \
	src/common/test/test_cut \
	src/common/test/test_error \
	src/common/test/test_frame \
	src/common/test/test_gres \
	src/common/test/test_hostlist \
	src/common/test/test_idset \
	src/common/test/test_io \
	src/common/test/test_json \
	src/common/test/test_launch \
	src/common/test/test_log \
	src/common/test/test_milli \
	src/common/test/test_option \
	src/common/test/test_parse \
	src/common/test/test_pattern \
	src/common/test/test_printable \
	src/common/test/test_rlimits \
	src/common/test/test_sha256 \
	src/common/test/test_stepuse \
	src/common/test/test_strbuf \
	src/common/test/test_taskmap \
	src/common/test/test_userdir \
	src/common/test/test_userfile \
	src/common/test/test_yaml
check_PROGRAMS += $(COMMON_TESTS)
UNIT_TESTS += $(COMMON_TESTS)
COMMON_TEST_LIBS = $(COMMON_LIBS) $(CMOCKA_LIBS)
src_common_test_test_clock_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_cut_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_error_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_frame_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_gres_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_hostlist_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_idset_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_io_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_json_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_launch_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_log_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_milli_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_option_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_parse_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_pattern_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_printable_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_rlimits_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_sha256_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_stepuse_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_strbuf_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_taskmap_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_hostlist_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_common_test_test_taskmap_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_common_test_test_userdir_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_userfile_LDADD = $(COMMON_TEST_LIBS)
src_common_test_test_yaml_LDADD = $(COMMON_TEST_LIBS)
endif
