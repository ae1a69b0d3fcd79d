# src/match: resource graph, placement, bookings. The policies come from $(MATCH_POLICIES_FILES).
noinst_LIBRARIES += src/match/libmatch.a
src_match_libmatch_a_SOURCES = \
	src/match/constraint.c \
	src/match/find.c \
	src/match/machine.c \
	src/match/match.c \
	src/match/place.c \
	src/match/policy.c \
	src/match/request.c \
	src/match/rset.c \
	src/match/summary.c \
	src/match/why.c \
	$(MATCH_POLICIES_FILES)
nodist_src_match_libmatch_a_SOURCES = src/match/policies/table.c

# Texts in and out: apart, as readers need libraries (XML, hwloc) that the broker does without.
noinst_LIBRARIES += src/match/libformats.a
src_match_libformats_a_SOURCES = \
	src/match/reader.c \
	src/match/writer.c \
	$(MATCH_READERS_FILES) \
	$(MATCH_WRITERS_FILES)
nodist_src_match_libformats_a_SOURCES = src/match/readers/table.c src/match/writers/table.c
FORMATS_LIBS = src/match/libformats.a $(MATCH_LIBS) $(XML_LIBS) $(HWLOC_LIBS)

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
