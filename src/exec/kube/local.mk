# src/exec/kube: jobs as Indexed Jobs. Adds to src_exec_libexec_a_SOURCES.
src_exec_libexec_a_SOURCES += \
	src/exec/kube/admit.c \
	src/exec/kube/adopt.c \
	src/exec/kube/adoptconfig.c \
	src/exec/kube/adoptgroup.c \
	src/exec/kube/adoptowner.c \
	src/exec/kube/adoptpods.c \
	src/exec/kube/adoptrelease.c \
	src/exec/kube/adoptrun.c \
	src/exec/kube/adoptsay.c \
	src/exec/kube/adoptspec.c \
	src/exec/kube/adoptview.c \
	src/exec/kube/agentmap.c \
	src/exec/kube/config.c \
	src/exec/kube/create.c \
	src/exec/kube/endpoints.c \
	src/exec/kube/endpointslice.c \
	src/exec/kube/fluxrun.c \
	src/exec/kube/gres.c \
	src/exec/kube/eventobject.c \
	src/exec/kube/groupconfig.c \
	src/exec/kube/groups.c \
	src/exec/kube/inputfiles.c \
	src/exec/kube/inventory.c \
	src/exec/kube/job.c \
	src/exec/kube/jobevents.c \
	src/exec/kube/jobstatus.c \
	src/exec/kube/kube.c \
	src/exec/kube/lease.c \
	src/exec/kube/losses.c \
	src/exec/kube/minicluster.c \
	src/exec/kube/minicluster_check.c \
	src/exec/kube/miniclusters.c \
	src/exec/kube/needmake.c \
	src/exec/kube/needobject.c \
	src/exec/kube/needs.c \
	src/exec/kube/needseen.c \
	src/exec/kube/nodeinfo.c \
	src/exec/kube/objects.c \
	src/exec/kube/output.c \
	src/exec/kube/outputfiles.c \
	src/exec/kube/podmaker.c \
	src/exec/kube/podobject.c \
	src/exec/kube/podprint.c \
	src/exec/kube/pods.c \
	src/exec/kube/pods_broker.c \
	src/exec/kube/pods_controller.c \
	src/exec/kube/pods_minicluster.c \
	src/exec/kube/podsize.c \
	src/exec/kube/podspec.c \
	src/exec/kube/podview.c \
	src/exec/kube/pulls.c \
	src/exec/kube/remove.c \
	src/exec/kube/resize.c \
	src/exec/kube/rights.c \
	src/exec/kube/run.c \
	src/exec/kube/spacemaker.c \
	src/exec/kube/spaceobjects.c \
	src/exec/kube/spaces.c \
	src/exec/kube/stagefiles.c \
	src/exec/kube/staging.c \
	src/exec/kube/starting.c \
	src/exec/kube/sweep.c \
	src/exec/kube/unprivileged.c \
	src/exec/kube/userfiles.c \
	src/exec/kube/userpolicy.c \
	src/exec/kube/zoneobject.c \
	src/exec/kube/zonerule.c \
	src/exec/kube/zones.c

if HAVE_CMOCKA
EXEC_KUBE_TESTS = \
	src/exec/test/test_agentlink \
	src/exec/test/test_mounts \
	src/exec/test/test_namespaces \
	src/exec/test/test_podset \
	src/exec/test/test_startclock \
	src/exec/kube/test/test_adopt \
	src/exec/kube/test/test_gres \
	src/exec/kube/test/test_lease \
	src/exec/kube/test/test_minicluster \
	src/exec/kube/test/test_needs \
	src/exec/kube/test/test_objects \
	src/exec/kube/test/test_output \
	src/exec/kube/test/test_podmaker \
	src/exec/kube/test/test_podsize \
	src/exec/kube/test/test_podspec \
	src/exec/kube/test/test_podview \
	src/exec/kube/test/test_spaceobjects \
	src/exec/kube/test/test_userfiles \
	src/exec/kube/test/test_zonerule
check_PROGRAMS += $(EXEC_KUBE_TESTS)
UNIT_TESTS += $(EXEC_KUBE_TESTS)
src_exec_test_test_agentlink_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_test_test_mounts_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_test_test_namespaces_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_test_test_podset_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_test_test_startclock_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_adopt_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_gres_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_lease_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_minicluster_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_needs_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_objects_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_output_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_podmaker_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_podsize_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_podspec_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_podview_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_spaceobjects_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_userfiles_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
src_exec_kube_test_test_zonerule_LDADD = $(EXEC_LIBS) $(CMOCKA_LIBS)
endif
