# src/match/writers: selections as text.
MATCH_WRITERS_SOURCES = \
	src/match/writers/jgf_text.c \
	src/match/writers/lines.c \
	src/match/writers/order.c \
	src/match/writers/rlite_text.c \
	src/match/writers/rv1_text.c \
	src/match/writers/writer.c \
	$(MATCH_WRITERS_FILES)

if HAVE_CMOCKA
MATCH_WRITERS_TESTS = \
	src/match/writers/test/test_writer
src_match_writers_test_test_writer_LDADD = $(MATCH_TEST_LIBS)
endif
