# src/match/planner: bookings over time.
MATCH_PLANNER_SOURCES = \
	src/match/planner/bookings.c \
	src/match/planner/cancel_part.c \
	src/match/planner/claims.c \
	src/match/planner/holders.c \
	src/match/planner/levels.c \
	src/match/planner/levels_lookup.c \
	src/match/planner/nested_nodes.c \
	src/match/planner/node_entry.c \
	src/match/planner/node_kinds.c \
	src/match/planner/node_load.c \
	src/match/planner/places.c \
	src/match/planner/planner.c \
	src/match/planner/properties.c \
	src/match/planner/rebuild.c \
	src/match/planner/rebuild_count.c \
	src/match/planner/removed_log.c \
	src/match/planner/sums.c \
	src/match/planner/suspend.c \
	src/match/planner/window_nodes.c

if HAVE_CMOCKA
MATCH_PLANNER_TESTS = \
	src/match/planner/test/test_graph_change \
	src/match/planner/test/test_levels \
	src/match/planner/test/test_planner \
	src/match/planner/test/test_planner_random \
	src/match/planner/test/test_planner_torture
src_match_planner_test_test_graph_change_LDADD = $(MATCH_TEST_LIBS)
src_match_planner_test_test_levels_LDADD = $(MATCH_TEST_LIBS)
src_match_planner_test_test_planner_LDADD = $(MATCH_TEST_LIBS)
src_match_planner_test_test_planner_random_LDADD = $(MATCH_TEST_LIBS)
src_match_planner_test_test_planner_torture_LDADD = $(MATCH_TEST_LIBS)
src_match_planner_test_test_planner_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
endif
