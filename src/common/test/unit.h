/* unit.h - the header of every unit test: cmocka and its prerequisites */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
