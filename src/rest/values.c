/* values.c - see values.h */
#include "rest/values.h"

#include <string.h>
#include <time.h>

static enum rest_number number_of_text (const char *text, double *ret)
{
    char *end;

    *ret = strtod (text, &end);
    return *text && !*end ? REST_NUMBER : REST_NO_NUMBER;
}

enum rest_number rest_number (const json_t *value, double *ret)
{
    const json_t *set = json_object_get (value, "set");

    if (json_is_number (value)) {
        *ret = json_number_value (value);
        return REST_NUMBER;
    }
    if (json_is_string (value))
        return number_of_text (json_string_value (value), ret);
    if (!json_is_object (value))
        return REST_NO_NUMBER;
    if (json_is_true (json_object_get (value, "infinite")))
        return REST_INFINITE;
    if (set && !json_is_true (set))
        return REST_UNSET;
    value = json_object_get (value, "number");
    *ret = json_number_value (value);
    return json_is_number (value) ? REST_NUMBER : REST_NO_NUMBER;
}

bool rest_add_list (struct strbuf *sb, const json_t *value)
{
    if (json_is_string (value))
        return strbuf_adds (sb, json_string_value (value)) == 0;
    if (!json_is_array (value))
        return false;
    for (size_t i = 0; i < json_array_size (value); i++) {
        const char *text = json_string_value (json_array_get (value, i));
        if (!text)
            return false;
        strbuf_addf (sb, "%s%s", i ? "," : "", text);
    }
    return sb->err == 0;
}

void rest_add_time (struct strbuf *sb, double t)
{
    time_t seconds = (time_t)t;
    struct tm tm = { 0 };
    char text[32] = "";

    if (localtime_r (&seconds, &tm))
        strftime (text, sizeof (text), "%Y-%m-%dT%H:%M:%S", &tm);
    strbuf_adds (sb, text);
}
