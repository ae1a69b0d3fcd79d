# src/match/search: finds where and when a request fits.
MATCH_SEARCH_SOURCES = \
	src/match/search/answer.c \
	src/match/search/apart.c \
	src/match/search/bounds.c \
	src/match/search/choose.c \
	src/match/search/find.c \
	src/match/search/further_parents.c \
	src/match/search/gather.c \
	src/match/search/groups.c \
	src/match/search/miss.c \
	src/match/search/or_slots.c \
	src/match/search/plan.c \
	src/match/search/release.c \
	src/match/search/replan.c \
	src/match/search/sibling_holds.c \
	src/match/search/slots.c \
	src/match/search/upper_vertices.c \
	src/match/search/walk.c \
	src/match/search/zoned.c

if HAVE_CMOCKA
MATCH_SEARCH_TESTS = \
	src/match/search/test/test_find \
	src/match/search/test/test_further_parents \
	src/match/search/test/test_plan \
	src/match/search/test/test_walk \
	src/match/search/test/test_walk_random
src_match_search_test_test_find_LDADD = $(MATCH_TEST_LIBS)
src_match_search_test_test_plan_LDADD = $(MATCH_TEST_LIBS)
src_match_search_test_test_walk_LDADD = $(MATCH_TEST_LIBS)
src_match_search_test_test_walk_random_LDADD = $(MATCH_TEST_LIBS)
src_match_search_test_test_walk_SOURCES = src/match/search/test/test_walk.c \
	src/match/search/test/walk_test.c
src_match_search_test_test_walk_random_SOURCES = src/match/search/test/test_walk_random.c \
	src/match/search/test/random_world.c src/match/search/test/reference.c \
	src/match/search/test/reference_free.c src/match/search/test/reference_match.c
src_match_search_test_test_further_parents_LDADD = $(MATCH_TEST_LIBS)
endif
