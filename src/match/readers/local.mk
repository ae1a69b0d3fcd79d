# src/match/readers: graphs and selections from text.
MATCH_READERS_SOURCES = \
	src/match/readers/grug_plan.c \
	src/match/readers/grug_recipe.c \
	src/match/readers/hostname.c \
	src/match/readers/hwloc_xml.c \
	src/match/readers/jgf_document.c \
	src/match/readers/jgf_paths.c \
	src/match/readers/jgf_selection.c \
	src/match/readers/jgf_tree.c \
	src/match/readers/reader.c \
	src/match/readers/rv1_document.c \
	src/match/readers/rv1_selection.c \
	$(MATCH_READERS_FILES)

if HAVE_CMOCKA
MATCH_READERS_TESTS = \
	src/match/readers/test/test_formats_torture \
	src/match/readers/test/test_reader_grug \
	src/match/readers/test/test_reader_hwloc \
	src/match/readers/test/test_reader_jgf \
	src/match/readers/test/test_reader_rv1exec
src_match_readers_test_test_formats_torture_LDADD = $(MATCH_TEST_LIBS)
src_match_readers_test_test_formats_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_match_readers_test_test_reader_grug_LDADD = $(MATCH_TEST_LIBS)
src_match_readers_test_test_reader_hwloc_LDADD = $(MATCH_TEST_LIBS)
src_match_readers_test_test_reader_jgf_LDADD = $(MATCH_TEST_LIBS)
src_match_readers_test_test_reader_rv1exec_LDADD = $(MATCH_TEST_LIBS)
endif
