# src/match/machine: jobs on a machine: the interface for the broker.
MATCH_MACHINE_SOURCES = \
	src/match/machine/machine.c \
	src/match/machine/machine_place.c \
	src/match/machine/machine_size.c \
	src/match/machine/machine_zone.c \
	src/match/machine/match.c \
	src/match/machine/match_cpus.c \
	src/match/machine/match_request.c \
	src/match/machine/match_reserve.c \
	src/match/machine/match_rset.c \
	src/match/machine/match_window.c \
	src/match/machine/rset.c \
	src/match/machine/rset_parts.c \
	src/match/machine/spread.c

if HAVE_CMOCKA
MATCH_MACHINE_TESTS = \
	src/match/machine/test/test_cpus \
	src/match/machine/test/test_components \
	src/match/machine/test/test_match \
	src/match/machine/test/test_match_random \
	src/match/machine/test/test_nodes_random \
	src/match/machine/test/test_placement \
	src/match/machine/test/test_resume \
	src/match/machine/test/test_rset \
	src/match/machine/test/test_window \
	src/match/machine/test/test_zone
src_match_machine_test_test_cpus_LDADD = $(MATCH_TEST_LIBS)
src_match_machine_test_test_components_LDADD = $(MATCH_TEST_LIBS)
src_match_machine_test_test_match_LDADD = $(MATCH_TEST_LIBS)
src_match_machine_test_test_match_random_LDADD = $(MATCH_TEST_LIBS)
src_match_machine_test_test_nodes_random_LDADD = $(MATCH_TEST_LIBS)
src_match_machine_test_test_placement_LDADD = $(MATCH_TEST_LIBS)
src_match_machine_test_test_resume_LDADD = $(MATCH_TEST_LIBS)
src_match_machine_test_test_rset_LDADD = $(MATCH_TEST_LIBS)
src_match_machine_test_test_window_LDADD = $(MATCH_TEST_LIBS)
src_match_machine_test_test_zone_LDADD = $(MATCH_TEST_LIBS)
endif
