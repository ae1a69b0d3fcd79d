# src/exec/kube: runs jobs as Indexed Jobs. Adds to src_exec_libexec_a_SOURCES.
src_exec_libexec_a_SOURCES += \
	src/exec/kube/kube.c \
	src/exec/kube/lease.c \
	src/exec/kube/review.c \
	src/exec/kube/sweep.c \
	src/exec/kube/adopt/adopt.c \
	src/exec/kube/adopt/adoptee.c \
	src/exec/kube/adopt/adoptgroup.c \
	src/exec/kube/adopt/adoptowner.c \
	src/exec/kube/adopt/adoptpods.c \
	src/exec/kube/adopt/adoptrelease.c \
	src/exec/kube/adopt/adoptreport.c \
	src/exec/kube/adopt/adoptrun.c \
	src/exec/kube/adopt/adoptspec.c \
	src/exec/kube/adopt/adoptview.c \
	src/exec/kube/cluster/admit.c \
	src/exec/kube/cluster/groups.c \
	src/exec/kube/cluster/inventory.c \
	src/exec/kube/cluster/nodeinfo.c \
	src/exec/kube/cluster/pods.c \
	src/exec/kube/core/adoptconfig.c \
	src/exec/kube/core/config.c \
	src/exec/kube/core/gres.c \
	src/exec/kube/core/groupconfig.c \
	src/exec/kube/core/names.c \
	src/exec/kube/core/podsize.c \
	src/exec/kube/core/podview.c \
	src/exec/kube/core/state.c \
	src/exec/kube/files/inputfiles.c \
	src/exec/kube/files/output.c \
	src/exec/kube/files/outputfiles.c \
	src/exec/kube/files/stagefiles.c \
	src/exec/kube/files/staging.c \
	src/exec/kube/files/unprivileged.c \
	src/exec/kube/files/userfiles.c \
	src/exec/kube/make/calls.c \
	src/exec/kube/make/endpoints.c \
	src/exec/kube/make/endpointslice.c \
	src/exec/kube/make/eventobject.c \
	src/exec/kube/make/fluxrun.c \
	src/exec/kube/make/jobstatus.c \
	src/exec/kube/make/minicluster.c \
	src/exec/kube/make/minicluster_check.c \
	src/exec/kube/make/miniclusters.c \
	src/exec/kube/make/objects.c \
	src/exec/kube/make/podmaker.c \
	src/exec/kube/make/podobject.c \
	src/exec/kube/make/podrequest.c \
	src/exec/kube/make/rankname.c \
	src/exec/kube/make/podrights.c \
	src/exec/kube/make/pods_broker.c \
	src/exec/kube/make/pods_controller.c \
	src/exec/kube/make/pods_minicluster.c \
	src/exec/kube/make/podspec.c \
	src/exec/kube/make/rights.c \
	src/exec/kube/namespaces/agentmap.c \
	src/exec/kube/namespaces/spacemaker.c \
	src/exec/kube/namespaces/spaceobjects.c \
	src/exec/kube/namespaces/spaces.c \
	src/exec/kube/namespaces/userpolicy.c \
	src/exec/kube/needs/needmake.c \
	src/exec/kube/needs/needobject.c \
	src/exec/kube/needs/needs.c \
	src/exec/kube/needs/needwatch.c \
	src/exec/kube/run/agentio.c \
	src/exec/kube/run/check.c \
	src/exec/kube/run/create.c \
	src/exec/kube/run/job.c \
	src/exec/kube/run/jobevents.c \
	src/exec/kube/run/kjob.c \
	src/exec/kube/run/lost_nodes.c \
	src/exec/kube/run/pulls.c \
	src/exec/kube/run/remove.c \
	src/exec/kube/run/resize.c \
	src/exec/kube/run/starting.c \
	src/exec/kube/topology/podprint.c \
	src/exec/kube/topology/zoneobject.c \
	src/exec/kube/topology/zonerule.c \
	src/exec/kube/topology/zones.c

if HAVE_CMOCKA
EXEC_KUBE_TESTS = \
	src/exec/kube/adopt/test/test_adopt \
	src/exec/kube/core/test/test_gres \
	src/exec/kube/core/test/test_podsize \
	src/exec/kube/core/test/test_podview \
	src/exec/kube/files/test/test_output \
	src/exec/kube/files/test/test_userfiles \
	src/exec/kube/make/test/test_components \
	src/exec/kube/make/test/test_minicluster \
	src/exec/kube/make/test/test_objects \
	src/exec/kube/make/test/test_podmaker \
	src/exec/kube/make/test/test_podspec \
	src/exec/kube/namespaces/test/test_spaceobjects \
	src/exec/kube/needs/test/test_needs \
	src/exec/kube/test/test_lease \
	src/exec/kube/topology/test/test_zonerule
check_PROGRAMS += $(EXEC_KUBE_TESTS)
UNIT_TESTS += $(EXEC_KUBE_TESTS)
src_exec_kube_adopt_test_test_adopt_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_core_test_test_gres_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_core_test_test_podsize_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_core_test_test_podview_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_files_test_test_output_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_files_test_test_userfiles_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_make_test_test_components_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_make_test_test_minicluster_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_make_test_test_objects_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_make_test_test_podmaker_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_make_test_test_podspec_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_namespaces_test_test_spaceobjects_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_needs_test_test_needs_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_lease_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_topology_test_test_zonerule_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
endif
