# src/match/graph: the resource graph.
MATCH_GRAPH_SOURCES = \
	src/match/graph/graph.c \
	src/match/graph/graph_associate.c \
	src/match/graph/graph_draft.c \
	src/match/graph/graph_edge.c \
	src/match/graph/graph_names.c \
	src/match/graph/graph_own.c \
	src/match/graph/graph_property.c \
	src/match/graph/graph_shared.c \
	src/match/graph/graph_size.c \
	src/match/graph/graph_table.c \
	src/match/graph/graph_unit.c \
	src/match/graph/selection.c

if HAVE_CMOCKA
MATCH_GRAPH_TESTS = \
	src/match/graph/test/test_graph \
	src/match/graph/test/test_graph_associate \
	src/match/graph/test/test_graph_random \
	src/match/graph/test/test_graph_torture \
	src/match/graph/test/test_graph_unit \
	src/match/graph/test/test_selection
src_match_graph_test_test_graph_LDADD = $(MATCH_TEST_LIBS)
src_match_graph_test_test_graph_associate_LDADD = $(MATCH_TEST_LIBS)
src_match_graph_test_test_graph_random_LDADD = $(MATCH_TEST_LIBS)
src_match_graph_test_test_graph_torture_LDADD = $(MATCH_TEST_LIBS)
src_match_graph_test_test_graph_unit_LDADD = $(MATCH_TEST_LIBS)
src_match_graph_test_test_graph_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_match_graph_test_test_selection_LDADD = $(MATCH_TEST_LIBS)
endif
