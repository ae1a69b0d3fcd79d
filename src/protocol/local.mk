# src/protocol: messages between the broker, the commands and the agent.

# Needs only libc: src/shell compiles these files again, statically.
SHELL_PROTOCOL_SOURCES = \
	src/protocol/agent_api.c \
	src/protocol/distribution.c \
	src/protocol/frame.c \
	src/protocol/gpubind.c \
	src/protocol/inside.c \
	src/protocol/keepalive.c \
	src/protocol/launch.c \
	src/protocol/launch_component.c \
	src/protocol/pattern.c \
	src/protocol/pmix_helper.c \
	src/protocol/record.c \
	src/protocol/session.c \
	src/protocol/output_limit.c \
	src/protocol/step_client.c \
	src/protocol/stepuse.c \
	src/protocol/taskmap.c

noinst_LIBRARIES += src/protocol/libprotocol.a
src_protocol_libprotocol_a_SOURCES = $(SHELL_PROTOCOL_SOURCES) \
	src/protocol/agent_path.c \
	src/protocol/run_dir.c

if HAVE_CMOCKA
PROTOCOL_TESTS = \
	src/protocol/test/test_frame \
	src/protocol/test/test_gpubind \
	src/protocol/test/test_inside \
	src/protocol/test/test_launch \
	src/protocol/test/test_pattern \
	src/protocol/test/test_output_limit \
	src/protocol/test/test_pmix_helper \
	src/protocol/test/test_stepuse \
	src/protocol/test/test_taskmap
check_PROGRAMS += $(PROTOCOL_TESTS)
UNIT_TESTS += $(PROTOCOL_TESTS)
PROTOCOL_TEST_LIBS = $(PROTOCOL_LIBS) $(CMOCKA_LIBS)
src_protocol_test_test_frame_LDADD = $(PROTOCOL_TEST_LIBS)
src_protocol_test_test_gpubind_LDADD = $(PROTOCOL_TEST_LIBS)
src_protocol_test_test_gpubind_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_protocol_test_test_inside_LDADD = $(PROTOCOL_TEST_LIBS)
src_protocol_test_test_launch_LDADD = $(PROTOCOL_TEST_LIBS)
src_protocol_test_test_pattern_LDADD = $(PROTOCOL_TEST_LIBS)
src_protocol_test_test_output_limit_LDADD = $(PROTOCOL_TEST_LIBS)
src_protocol_test_test_pmix_helper_LDADD = $(PROTOCOL_TEST_LIBS)
src_protocol_test_test_stepuse_LDADD = $(PROTOCOL_TEST_LIBS)
src_protocol_test_test_taskmap_LDADD = $(PROTOCOL_TEST_LIBS)
src_protocol_test_test_taskmap_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
endif
