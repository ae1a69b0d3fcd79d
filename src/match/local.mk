# src/match: resource graph, placement, bookings. The policies come from $(MATCH_POLICIES_FILES).
noinst_LIBRARIES += src/match/libmatch.a
src_match_libmatch_a_SOURCES = \
	src/match/above.c \
	src/match/answer.c \
	src/match/aside.c \
	src/match/book.c \
	src/match/bounds.c \
	src/match/choose.c \
	src/match/claims.c \
	src/match/constraint.c \
	src/match/find.c \
	src/match/freed.c \
	src/match/graph.c \
	src/match/graph_associate.c \
	src/match/graph_draft.c \
	src/match/graph_edge.c \
	src/match/graph_names.c \
	src/match/graph_own.c \
	src/match/graph_property.c \
	src/match/graph_shared.c \
	src/match/graph_size.c \
	src/match/graph_table.c \
	src/match/graph_unit.c \
	src/match/groups.c \
	src/match/held.c \
	src/match/holders.c \
	src/match/index.c \
	src/match/index_walk.c \
	src/match/inner.c \
	src/match/kinds.c \
	src/match/levels.c \
	src/match/listed.c \
	src/match/machine.c \
	src/match/machine_place.c \
	src/match/machine_size.c \
	src/match/machine_zone.c \
	src/match/make.c \
	src/match/make_count.c \
	src/match/match.c \
	src/match/match_cpus.c \
	src/match/match_request.c \
	src/match/match_reserve.c \
	src/match/match_rset.c \
	src/match/match_window.c \
	src/match/miss.c \
	src/match/or_slots.c \
	src/match/ordered.c \
	src/match/overlap.c \
	src/match/part.c \
	src/match/plan.c \
	src/match/planner.c \
	src/match/policy.c \
	src/match/profile.c \
	src/match/properties.c \
	src/match/release.c \
	src/match/rset.c \
	src/match/rset_parts.c \
	src/match/selection.c \
	src/match/shape.c \
	src/match/shape_describe.c \
	src/match/slots.c \
	src/match/spread.c \
	src/match/sums.c \
	src/match/walk.c \
	src/match/ways.c \
	src/match/zoned.c \
	$(MATCH_POLICIES_FILES)
nodist_src_match_libmatch_a_SOURCES = src/match/policies/table.c

# Texts in and out: apart, as readers need libraries (XML, hwloc) that the broker does without.
noinst_LIBRARIES += src/match/libformats.a
src_match_libformats_a_SOURCES = \
	src/match/reader.c \
	src/match/writer.c \
	src/match/readers/grug_plan.c \
	src/match/readers/grug_recipe.c \
	src/match/readers/hostname.c \
	src/match/readers/hwloc_xml.c \
	src/match/readers/jgf_document.c \
	src/match/readers/jgf_paths.c \
	src/match/readers/jgf_selection.c \
	src/match/readers/jgf_tree.c \
	src/match/readers/rv1_document.c \
	src/match/readers/rv1_selection.c \
	src/match/writers/jgf_text.c \
	src/match/writers/lines.c \
	src/match/writers/order.c \
	src/match/writers/rlite_text.c \
	src/match/writers/rv1_text.c \
	$(MATCH_READERS_FILES) \
	$(MATCH_WRITERS_FILES)
nodist_src_match_libformats_a_SOURCES = src/match/readers/table.c src/match/writers/table.c
FORMATS_LIBS = src/match/libformats.a $(MATCH_LIBS) $(XML_LIBS) $(HWLOC_LIBS)

if HAVE_CMOCKA
MATCH_TESTS = \
	src/match/test/test_constraint \
	src/match/test/test_cpus \
	src/match/test/test_find \
	src/match/test/test_formats_torture \
	src/match/test/test_graph \
	src/match/test/test_graph_associate \
	src/match/test/test_graph_change \
	src/match/test/test_graph_random \
	src/match/test/test_graph_torture \
	src/match/test/test_graph_unit \
	src/match/test/test_index \
	src/match/test/test_index_torture \
	src/match/test/test_match \
	src/match/test/test_match_random \
	src/match/test/test_levels \
	src/match/test/test_placement \
	src/match/test/test_plan \
	src/match/test/test_planner \
	src/match/test/test_planner_random \
	src/match/test/test_planner_torture \
	src/match/test/test_policy \
	src/match/test/test_policy_example \
	src/match/test/test_profile \
	src/match/test/test_reader_grug \
	src/match/test/test_reader_hwloc \
	src/match/test/test_reader_jgf \
	src/match/test/test_reader_rv1exec \
	src/match/test/test_resume \
	src/match/test/test_rset \
	src/match/test/test_selection \
	src/match/test/test_shape \
	src/match/test/test_shape_torture \
	src/match/test/test_walk \
	src/match/test/test_walk_random \
	src/match/test/test_ways \
	src/match/test/test_window \
	src/match/test/test_zone \
	src/match/test/test_writer
check_PROGRAMS += $(MATCH_TESTS)
UNIT_TESTS += $(MATCH_TESTS)
# What the tests of src/match and src/sched share.
check_LIBRARIES += src/match/test/libmatch_test.a
src_match_test_libmatch_test_a_SOURCES = src/match/test/inspect.c src/match/test/verify.c
MATCH_TEST_LIBS = src/match/test/libmatch_test.a $(FORMATS_LIBS) $(CMOCKA_LIBS)
src_match_test_test_constraint_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_cpus_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_find_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_formats_torture_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_formats_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_match_test_test_graph_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_graph_associate_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_graph_change_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_graph_random_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_graph_torture_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_graph_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_match_test_test_graph_unit_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_index_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_index_torture_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_index_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_match_test_test_match_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_match_random_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_levels_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_placement_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_plan_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_planner_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_planner_random_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_planner_torture_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_planner_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_match_test_test_policy_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_policy_example_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_profile_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_reader_grug_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_reader_hwloc_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_reader_jgf_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_reader_rv1exec_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_resume_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_rset_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_selection_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_shape_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_shape_torture_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_shape_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_match_test_test_walk_SOURCES = src/match/test/test_walk.c src/match/test/walk_test.c
src_match_test_test_walk_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_walk_random_SOURCES = src/match/test/test_walk_random.c \
	src/match/test/random_world.c src/match/test/reference.c \
	src/match/test/reference_free.c src/match/test/reference_match.c
src_match_test_test_walk_random_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_ways_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_window_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_zone_LDADD = $(MATCH_TEST_LIBS)
src_match_test_test_writer_LDADD = $(MATCH_TEST_LIBS)
endif
