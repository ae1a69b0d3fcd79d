# src/cmd: fluxq, one binary for all commands, one file a command (the table of them is made).
# libcmd.a is all but main(): unit tests link it too.
noinst_LIBRARIES += src/cmd/libcmd.a
src_cmd_libcmd_a_SOURCES = \
	src/cmd/allocation.c \
	src/cmd/broker.c \
	src/cmd/columns.c \
	src/cmd/command.c \
	src/cmd/complete.c \
	src/cmd/ctl_reserve.c \
	src/cmd/follow.c \
	src/cmd/info_topology.c \
	src/cmd/listing.c \
	src/cmd/named.c \
	src/cmd/nodegroup.c \
	src/cmd/print.c \
	src/cmd/send.c \
	src/cmd/show_job.c \
	src/cmd/show_priority.c \
	src/cmd/show_reservation.c \
	src/cmd/show_steps.c \
	src/cmd/stepclient.c \
	src/cmd/watch.c \
	src/cmd/width.c \
	$(COMMANDS_FILES)
nodist_src_cmd_libcmd_a_SOURCES = src/cmd/table.c
CMD_LIBS = src/cmd/libcmd.a $(NET_CLIENT_LIBS) $(READLINE_LIBS)

bin_PROGRAMS += src/cmd/fluxq
src_cmd_fluxq_SOURCES = src/cmd/main.c
src_cmd_fluxq_LDADD = $(CMD_LIBS)

if HAVE_CMOCKA
CMD_TESTS = src/cmd/test/test_complete src/cmd/test/test_listing
check_PROGRAMS += $(CMD_TESTS)
UNIT_TESTS += $(CMD_TESTS)
src_cmd_test_test_complete_SOURCES = src/cmd/test/test_complete.c
src_cmd_test_test_complete_LDADD = $(CMD_LIBS) $(CMOCKA_LIBS)
src_cmd_test_test_listing_SOURCES = src/cmd/test/test_listing.c
src_cmd_test_test_listing_LDADD = $(CMD_LIBS) $(CMOCKA_LIBS)
endif
