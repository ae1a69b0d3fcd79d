# src/match/index: data structures of numbers, for nodes and for times.
MATCH_INDEX_SOURCES = \
	src/match/index/index.c \
	src/match/index/index_walk.c \
	src/match/index/ordered.c \
	src/match/index/profile.c

if HAVE_CMOCKA
MATCH_INDEX_TESTS = \
	src/match/index/test/test_index \
	src/match/index/test/test_index_torture \
	src/match/index/test/test_profile
src_match_index_test_test_index_LDADD = $(MATCH_TEST_LIBS)
src_match_index_test_test_index_torture_LDADD = $(MATCH_TEST_LIBS)
src_match_index_test_test_index_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_match_index_test_test_profile_LDADD = $(MATCH_TEST_LIBS)
endif
