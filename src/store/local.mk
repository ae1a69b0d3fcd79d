# src/store: the journal, and the history of ended jobs.
noinst_LIBRARIES += src/store/libstore.a
src_store_libstore_a_SOURCES = \
	src/store/check.c \
	src/store/checkpoint.c \
	src/store/head.c \
	src/store/history.c \
	src/store/history_query.c \
	src/store/history_scan.c \
	src/store/history_schema.c \
	src/store/history_writer.c \
	src/store/journal.c \
	src/store/journal_txn.c \
	src/store/load.c \
	src/store/reader.c \
	src/store/rowsum.c \
	src/store/schema.c \
	src/store/wal.c \
	src/store/writer.c

if HAVE_CMOCKA
STORE_TESTS = src/store/test/test_checkpoint src/store/test/test_history \
	src/store/test/test_journal src/store/test/test_journal_faults \
	src/store/test/test_wal
check_PROGRAMS += $(STORE_TESTS)
UNIT_TESTS += $(STORE_TESTS)
src_store_test_test_checkpoint_SOURCES = src/store/test/test_checkpoint.c
src_store_test_test_checkpoint_LDADD = $(STORE_LIBS) $(CMOCKA_LIBS)
src_store_test_test_history_SOURCES = src/store/test/test_history.c
src_store_test_test_history_LDADD = $(STORE_LIBS) $(CMOCKA_LIBS)
src_store_test_test_journal_SOURCES = src/store/test/test_journal.c
src_store_test_test_journal_LDADD = $(STORE_LIBS) $(CMOCKA_LIBS)
src_store_test_test_journal_faults_SOURCES = src/store/test/test_journal_faults.c
src_store_test_test_journal_faults_LDADD = $(STORE_LIBS) $(CMOCKA_LIBS)
src_store_test_test_wal_SOURCES = src/store/test/test_wal.c
src_store_test_test_wal_LDADD = $(STORE_LIBS) $(CMOCKA_LIBS)
endif
