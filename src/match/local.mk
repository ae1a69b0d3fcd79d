# src/match: resource graph, placement, bookings; each room is a folder with a local.mk of its own.
# The policies come from $(MATCH_POLICIES_FILES).
include src/match/graph/local.mk
include src/match/index/local.mk
include src/match/request/local.mk
include src/match/policies/local.mk
include src/match/planner/local.mk
include src/match/search/local.mk
include src/match/machine/local.mk
include src/match/readers/local.mk
include src/match/writers/local.mk

noinst_LIBRARIES += src/match/libmatch.a
src_match_libmatch_a_SOURCES = \
	$(MATCH_GRAPH_SOURCES) \
	$(MATCH_INDEX_SOURCES) \
	$(MATCH_REQUEST_SOURCES) \
	$(MATCH_POLICIES_SOURCES) \
	$(MATCH_PLANNER_SOURCES) \
	$(MATCH_SEARCH_SOURCES) \
	$(MATCH_MACHINE_SOURCES)
nodist_src_match_libmatch_a_SOURCES = src/match/policies/table.c

# Readers and writers of text are a separate library, because readers need libraries (XML,
# hwloc) that the broker does not need.
noinst_LIBRARIES += src/match/libformats.a
src_match_libformats_a_SOURCES = \
	$(MATCH_READERS_SOURCES) \
	$(MATCH_WRITERS_SOURCES)
nodist_src_match_libformats_a_SOURCES = src/match/readers/table.c src/match/writers/table.c
FORMATS_LIBS = src/match/libformats.a $(MATCH_LIBS) $(XML_LIBS) $(HWLOC_LIBS)

if HAVE_CMOCKA
MATCH_TESTS = \
	$(MATCH_GRAPH_TESTS) \
	$(MATCH_INDEX_TESTS) \
	$(MATCH_REQUEST_TESTS) \
	$(MATCH_POLICIES_TESTS) \
	$(MATCH_PLANNER_TESTS) \
	$(MATCH_SEARCH_TESTS) \
	$(MATCH_MACHINE_TESTS) \
	$(MATCH_READERS_TESTS) \
	$(MATCH_WRITERS_TESTS)
check_PROGRAMS += $(MATCH_TESTS)
UNIT_TESTS += $(MATCH_TESTS)
# The shared files of the tests of src/match and src/sched.
check_LIBRARIES += src/match/test/libmatch_test.a
src_match_test_libmatch_test_a_SOURCES = src/match/test/inspect.c src/match/test/verify.c
MATCH_TEST_LIBS = src/match/test/libmatch_test.a $(FORMATS_LIBS) $(CMOCKA_LIBS)
endif
