/* rowsum.h - a 64-bit checksum of a row's values, in C and as the SQL function rowsum()
 *
 *     uint64_t sum = rowsum_int (ROWSUM_START, 7);
 *     sum = rowsum_text (sum, "submit", 6);   // = rowsum (7, 'submit') in SQL
 *
 * Detects flipped bits, not deliberate changes: each step is a bijection of the sum so
 * far, so one changed word always changes the result.
 */
#pragma once

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#define ROWSUM_START UINT64_C (0x9e3779b97f4a7c15)

uint64_t rowsum_int (uint64_t sum, int64_t value);
uint64_t rowsum_real (uint64_t sum, double value);
uint64_t rowsum_text (uint64_t sum, const char *text, size_t len); /* text may be NULL */
/* Defines rowsum (...) for the connection; returns an sqlite result code. */
int rowsum_register (sqlite3 *db);
