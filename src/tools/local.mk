# src/tools: programs for people who study the scheduler.
# libmatchtool.a is all of fluxq-match but main(): unit tests link it too.
noinst_LIBRARIES += src/tools/match/libmatchtool.a
src_tools_match_libmatchtool_a_SOURCES = \
	src/tools/match/commands.c \
	src/tools/match/complete.c \
	src/tools/match/counts.c \
	src/tools/match/do_book.c \
	src/tools/match/do_find.c \
	src/tools/match/do_graph.c \
	src/tools/match/do_match.c \
	src/tools/match/do_show.c \
	src/tools/match/dump.c \
	src/tools/match/jobs.c \
	src/tools/match/options.c \
	src/tools/match/output.c \
	src/tools/match/paths.c \
	src/tools/match/prompt.c \
	src/tools/match/session.c
MATCHTOOL_LIBS = src/tools/match/libmatchtool.a $(FORMATS_LIBS) $(READLINE_LIBS)

bin_PROGRAMS += src/tools/fluxq-match
src_tools_fluxq_match_SOURCES = src/tools/match/main.c
src_tools_fluxq_match_LDADD = $(MATCHTOOL_LIBS)
