# src/net: HTTP server and client, credentials.
noinst_LIBRARIES += src/net/libnet_server.a src/net/libnet_client.a
src_net_libnet_server_a_SOURCES = \
	src/net/authority.c \
	src/net/credential.c \
	src/net/http_accept.c \
	src/net/http_auth.c \
	src/net/http_listen.c \
	src/net/http_names.c \
	src/net/http_observe.c \
	src/net/http_parser.c \
	src/net/http_peer.c \
	src/net/http_request.c \
	src/net/http_server.c \
	src/net/http_stream.c \
	src/net/http_target.c \
	src/net/http_tls.c \
	src/net/http_upgrade.c \
	src/net/keyfile.c \
	src/net/tls_context.c \
	src/net/tls_policy.c \
	src/net/tls_pump.c \
	src/net/tls_user.c \
	src/net/token.c
src_net_libnet_client_a_SOURCES = \
	src/net/authority.c \
	src/net/client_settings.c \
	src/net/credential.c \
	src/net/http_client.c \
	src/net/http_connect.c \
	src/net/http_patience.c \
	src/net/http_parser.c \
	src/net/keyfile.c \
	src/net/tcp_connect.c \
	src/net/tls_start.c \
	src/net/trust.c

# The commands' end of a TLS connection; not in the commands, because OpenSSL loads slowly.
fluxqexec_PROGRAMS += src/net/fluxq-tls
src_net_fluxq_tls_SOURCES = \
	src/net/client_settings.c \
	src/net/keyfile.c \
	src/net/tcp_connect.c \
	src/net/tls_main.c \
	src/net/tls_policy.c \
	src/net/tls_pump.c \
	src/net/tls_verify.c
src_net_fluxq_tls_LDADD = $(COMMON_LIBS) $(SSL_LIBS)

if HAVE_CMOCKA
NET_TESTS = src/net/test/test_http src/net/test/test_http_client \
	src/net/test/test_http_listen \
	src/net/test/test_http_munge src/net/test/test_http_parser \
	src/net/test/test_http_tls src/net/test/test_tls src/net/test/test_tls_pump \
	src/net/test/test_token
check_PROGRAMS += $(NET_TESTS)
UNIT_TESTS += $(NET_TESTS)
NET_TEST_LIBS = src/net/libnet_client.a $(NET_SERVER_LIBS) $(CMOCKA_LIBS)
src_net_test_test_http_SOURCES = src/net/test/test_http.c
src_net_test_test_http_LDADD = $(NET_TEST_LIBS)
src_net_test_test_http_client_SOURCES = src/net/test/test_http_client.c
src_net_test_test_http_client_LDADD = src/net/libnet_client.a $(PROTOCOL_LIBS) $(MUNGE_LIBS) \
	$(CMOCKA_LIBS)
src_net_test_test_http_listen_LDADD = $(NET_TEST_LIBS)
src_net_test_test_http_listen_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_net_test_test_http_tls_SOURCES = src/net/test/test_http_tls.c
src_net_test_test_http_tls_LDADD = $(NET_TEST_LIBS)
src_net_test_test_tls_SOURCES = src/net/test/test_tls.c
src_net_test_test_tls_LDADD = $(NET_TEST_LIBS)
src_net_test_test_tls_pump_SOURCES = src/net/test/test_tls_pump.c
src_net_test_test_tls_pump_LDADD = $(NET_TEST_LIBS)
src_net_test_test_token_SOURCES = src/net/test/test_token.c
src_net_test_test_token_LDADD = $(NET_TEST_LIBS)
src_net_test_test_http_munge_SOURCES = src/net/test/test_http_munge.c
src_net_test_test_http_munge_LDADD = $(NET_TEST_LIBS)
src_net_test_test_http_parser_SOURCES = src/net/test/test_http_parser.c
src_net_test_test_http_parser_LDADD = src/net/libnet_client.a $(PROTOCOL_LIBS) $(CMOCKA_LIBS)
endif
