/* service.c - where the services' states and slots lie, and their timers */
#include "broker/core/inside.h"
#include "broker/core/service.h"

#define SERVICES_MAX 100
#define ALIGNMENT _Alignof(max_align_t)

#define MEMBERS (sizeof (struct broker_service) / sizeof (void *))

const struct broker_service *services[SERVICES_MAX + 1];
static size_t states = 0, slots = 0;
static const struct config_part *parts[SERVICES_MAX];
static size_t offsets[SERVICES_MAX];
static struct config_layout layout = { .parts = parts, .offsets = offsets };

/* For each member that is a pointer, the services that have it: most hooks are those of a
 * few services, and some are called several times for each event. */
static const struct broker_service *having[MEMBERS][SERVICES_MAX + 1];

static size_t aligned (size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int by_order (const void *a, const void *b)
{
    const struct broker_service *x = *(const struct broker_service *const *)a;
    const struct broker_service *y = *(const struct broker_service *const *)b;

    return x->order != y->order ? x->order - y->order : strcmp (x->name, y->name);
}

const struct broker_service **services_with (size_t hook)
{
    return having[hook / sizeof (void *)];
}

static void list_members (size_t n)
{
    for (size_t m = 0; m < MEMBERS; m++) {
        size_t found = 0;
        for (size_t i = 0; i < n; i++)
            if (((void *const *)services[i])[m])
                having[m][found++] = services[i];
    }
}

void services_arrange (void)
{
    size_t n = 0;

    if (slots > 0)
        return;
    slots = aligned (sizeof (struct entry));
    for (; broker_services[n] && n < SERVICES_MAX; n++) {
        const struct broker_service *s = broker_services[n];

        services[n] = s;
        if (!s->place)
            continue;
        *s->place = (struct service_place){ states, slots, layout.size };
        if (s->settings) {
            parts[layout.n] = s->settings;
            offsets[layout.n++] = layout.size;
            layout.size += aligned (s->settings->size);
        }
        states += aligned (s->state_size);
        slots += aligned (s->slot_size);
    }
    qsort (services, n, sizeof (services[0]), by_order);
    list_members (n);
}

const struct config_layout *services_settings (void)
{
    services_arrange ();
    return &layout;
}

size_t services_state_size (void)
{
    return states;
}

size_t services_slot_size (void)
{
    return slots;
}

void *service_state (const struct broker *b, const struct service_place *place)
{
    return b->states + place->state;
}

/* -- timers -- */

void broker_timer_init (struct broker *b, struct broker_timer *t,
                        void (*fn) (struct broker *b))
{
    *t = (struct broker_timer){ .b = b, .fn = fn, .next = b->timers };
    uv_timer_init (b->loop, &t->uv);
    t->uv.data = t;
    b->timers = t;
}

static void due (uv_timer_t *uv)
{
    struct broker_timer *t = uv->data;

    t->is_set = false;
    if (!t->b->stopping)
        t->fn (t->b);
}

void broker_timer_set (struct broker_timer *t, double seconds)
{
    t->is_set = true;
    uv_timer_start (&t->uv, due, (uint64_t)(seconds * 1000.0 + 0.999), 0);
}

double broker_timer_left (const struct broker_timer *t)
{
    return t->is_set ? (double)uv_timer_get_due_in (&t->uv) / 1000.0 : 0;
}

void broker_timer_stop (struct broker_timer *t)
{
    t->is_set = false;
    uv_timer_stop (&t->uv);
}
