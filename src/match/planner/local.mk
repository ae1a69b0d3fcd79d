# src/match/planner: bookings over time.
MATCH_PLANNER_SOURCES = \
	src/match/planner/aside.c \
	src/match/planner/book.c \
	src/match/planner/claims.c \
	src/match/planner/freed.c \
	src/match/planner/holders.c \
	src/match/planner/inner.c \
	src/match/planner/kinds.c \
	src/match/planner/levels.c \
	src/match/planner/levels_lookup.c \
	src/match/planner/listed.c \
	src/match/planner/make.c \
	src/match/planner/make_count.c \
	src/match/planner/overlap.c \
	src/match/planner/part.c \
	src/match/planner/planner.c \
	src/match/planner/properties.c \
	src/match/planner/sums.c

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
