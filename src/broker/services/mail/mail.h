/* mail.h - mail about what is no event of a job; see mail.c
 */
#pragma once

struct broker;
struct entry;

/* The job's dependency can never be met, but the job stays. A broker that starts finds
 * this out again, and sends the mail again. */
void mail_invalid_depend (struct broker *b, struct entry *e);
