/* unit.h - the header of every unit test: cmocka and its prerequisites */
#ifndef FLUXQ_COMMON_TEST_UNIT_H
#define FLUXQ_COMMON_TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
