# src/kube: a small asynchronous Kubernetes client.
noinst_LIBRARIES += src/kube/libkube.a
src_kube_libkube_a_SOURCES = \
	src/kube/budget.c \
	src/kube/client.c \
	src/kube/http.c \
	src/kube/http_options.c \
	src/kube/kubeconfig.c \
	src/kube/list_decode.c \
	src/kube/object.c \
	src/kube/quantity.c \
	src/kube/tokenreview.c \
	src/kube/watch.c \
	src/kube/watch_decode.c \
	src/kube/window.c

if HAVE_CMOCKA
KUBE_TESTS = \
	src/kube/test/test_client \
	src/kube/test/test_http \
	src/kube/test/test_kubeconfig \
	src/kube/test/test_list_decode \
	src/kube/test/test_object \
	src/kube/test/test_quantity \
	src/kube/test/test_tokenreview \
	src/kube/test/test_watch \
	src/kube/test/test_watch_decode \
	src/kube/test/test_window
check_PROGRAMS += $(KUBE_TESTS)
UNIT_TESTS += $(KUBE_TESTS)
src_kube_test_test_client_LDADD = $(KUBE_LIBS) $(CMOCKA_LIBS)
src_kube_test_test_http_LDADD = $(KUBE_LIBS) $(CMOCKA_LIBS)
src_kube_test_test_kubeconfig_LDADD = $(KUBE_LIBS) $(CMOCKA_LIBS)
src_kube_test_test_list_decode_LDADD = $(KUBE_LIBS) $(CMOCKA_LIBS)
src_kube_test_test_object_LDADD = $(KUBE_LIBS) $(CMOCKA_LIBS)
src_kube_test_test_quantity_LDADD = $(KUBE_LIBS) $(CMOCKA_LIBS)
src_kube_test_test_tokenreview_LDADD = $(KUBE_LIBS) $(CMOCKA_LIBS)
src_kube_test_test_watch_LDADD = $(KUBE_LIBS) $(CMOCKA_LIBS)
src_kube_test_test_watch_decode_LDADD = $(KUBE_LIBS) $(CMOCKA_LIBS)
src_kube_test_test_window_LDADD = $(KUBE_LIBS) $(CMOCKA_LIBS)
endif
