# src/match: resource graph, placement, bookings.
noinst_LIBRARIES += src/match/libmatch.a
src_match_libmatch_a_SOURCES = \
	src/match/constraint.c \
	src/match/machine.c \
	src/match/match.c \
	src/match/place.c \
	src/match/request.c \
	src/match/rset.c \
	src/match/summary.c \
	src/match/why.c

if HAVE_CMOCKA
MATCH_TESTS = \
	src/match/test/test_match \
	src/match/test/test_match_random \
	src/match/test/test_rset
check_PROGRAMS += $(MATCH_TESTS)
UNIT_TESTS += $(MATCH_TESTS)
MATCH_TEST_LIBS = $(MATCH_LIBS) $(CMOCKA_LIBS)
src_match_test_test_match_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_match_random_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_rset_LDADD = $(MATCH_TEST_LIBS)
endif
