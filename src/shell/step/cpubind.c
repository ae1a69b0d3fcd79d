/* cpubind.c - parses --cpu-bind and computes the cores of a task, see cpubind.h */
#include "shell/step/cpubind.h"

#include <ctype.h>
#include <strings.h>

#include "common/parse.h"

#define NAMES "none, cores, sockets, rank, map_cpu:LIST and mask_cpu:LIST"

/* -- lists -- */

static int out_of_range (const char *element, struct error *err)
{
    return error_set (err, ERANGE, "--cpu-bind: '%.80s': cores are 0 to %d", element,
                      CPUBIND_CORES_MAX - 1);
}

static int hex_digit (char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower ((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool has_0x (const char *text)
{
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

static int read_core (const char *text, struct idset *set, struct error *err)
{
    uint32_t n = 0, base = has_0x (text) ? 16 : 10;
    const char *p = text + (base == 16 ? 2 : 0);

    if (!*p)
        return error_set (err, EINVAL, "--cpu-bind: map_cpu: '%.80s' is not a core",
                          text);
    for (; *p; p++) {
        int digit = hex_digit (*p);
        if (digit < 0 || digit >= (int)base)
            return error_set (err, EINVAL, "--cpu-bind: map_cpu: '%.80s' is not a core",
                              text);
        n = MIN (n * base + (uint32_t)digit, CPUBIND_CORES_MAX);
    }
    if (n >= CPUBIND_CORES_MAX)
        return out_of_range (text, err);
    return idset_add (set, n) < 0 ? error_no_memory (err, "--cpu-bind") : 0;
}

static int read_mask (const char *text, struct idset *set, struct error *err)
{
    const char *digits = text + (has_0x (text) ? 2 : 0);
    size_t n = strlen (digits);

    for (size_t i = 0; i < n; i++) {
        int digit = hex_digit (digits[i]);
        if (digit < 0)
            return error_set (err, EINVAL, "--cpu-bind: mask_cpu: '%.80s' is not a mask",
                              text);
        for (uint32_t bit = 0; bit < 4; bit++) {
            size_t core = (n - 1 - i) * 4 + bit;
            if (!(digit & 1 << bit))
                continue;
            if (core >= CPUBIND_CORES_MAX)
                return out_of_range (text, err);
            if (idset_add (set, (uint32_t)core) < 0)
                return error_no_memory (err, "--cpu-bind");
        }
    }
    if (idset_count (set) == 0)
        return error_set (err, EINVAL, "--cpu-bind: mask_cpu: '%.80s' has no core", text);
    return 0;
}

typedef int read_fn (const char *text, struct idset *set, struct error *err);

/* Parses ELEMENT[*COUNT] and splits the text in two. */
static int add_element (struct cpubind *b, char *text, read_fn *read, struct error *err)
{
    struct cpubind_element *e = &b->list[b->n];
    char *star = strchr (text, '*');
    int64_t repeat = 1;
    int rc;

    if (star) {
        *star = '\0';
        rc =
            parse_int (star + 1, 1, TASKMAP_TASKS_MAX, &repeat, "--cpu-bind: count", err);
        if (rc < 0)
            return rc;
    }
    if (repeat > TASKMAP_TASKS_MAX - b->total)
        return error_set (err, ERANGE, "--cpu-bind: a list for more than %u tasks",
                          TASKMAP_TASKS_MAX);
    if (!(e->cores = idset_create ()))
        return error_no_memory (err, "--cpu-bind");
    b->n++; /* from here on cpubind_release() frees it */
    e->repeat = (uint32_t)repeat;
    b->total += e->repeat;
    return read (text, e->cores, err);
}

static size_t count_elements (const char *text)
{
    size_t n = 1;

    for (; *text; text++)
        n += *text == ',';
    return n;
}

static int read_list (struct cpubind *b, const char *text, read_fn *read,
                      struct error *err)
{
    size_t n = count_elements (text);
    int rc = 0;

    if (n > CPUBIND_LIST_MAX)
        return error_set (err, ERANGE, "--cpu-bind: a list of more than %d elements",
                          CPUBIND_LIST_MAX);
    autofree char *copy = strndup (text, strlen (text));
    char *rest = copy, *element;
    b->list = calloc (n, sizeof (*b->list));
    if (!copy || !b->list)
        return error_no_memory (err, "--cpu-bind");
    while (rc == 0 && (element = strsep (&rest, ",")))
        rc = add_element (b, element, read, err);
    return rc;
}

/* -- the option -- */

static const struct {
    const char *name;
    enum cpubind_kind kind;
} kinds[] = {
    { "none", CPUBIND_NONE },       { "no", CPUBIND_NONE },
    { "cores", CPUBIND_CORES },     { "core", CPUBIND_CORES },
    { "sockets", CPUBIND_SOCKETS }, { "socket", CPUBIND_SOCKETS },
    { "rank", CPUBIND_RANK },
};

static const struct {
    const char *prefix;
    read_fn *read;
} lists[] = {
    { "map_cpu:", read_core },
    { "mask_cpu:", read_mask },
};

/* Types of srun(1) that cannot be supported faithfully. */
static const struct {
    const char *prefix, *why;
} refused[] = {
    { "thread", "tasks get whole cores" },
    { "ldom", "NUMA domains are not known here" },
    { "rank_ldom", "NUMA domains are not known here" },
    { "map_ldom", "NUMA domains are not known here" },
    { "mask_ldom", "NUMA domains are not known here" },
    { "board", "boards are not known here" },
};

static bool begins (const char *text, const char *prefix)
{
    return !strncasecmp (text, prefix, strlen (prefix));
}

static int read_type (struct cpubind *b, const char *text, struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE (kinds); i++)
        if (!strcasecmp (text, kinds[i].name)) {
            b->kind = kinds[i].kind;
            return 0;
        }
    for (size_t i = 0; i < ARRAY_SIZE (lists); i++)
        if (begins (text, lists[i].prefix)) {
            b->kind = CPUBIND_LIST;
            return read_list (b, text + strlen (lists[i].prefix), lists[i].read, err);
        }
    for (size_t i = 0; i < ARRAY_SIZE (refused); i++)
        if (begins (text, refused[i].prefix))
            return error_set (err, EINVAL, "--cpu-bind: '%.40s': %s; there are " NAMES,
                              text, refused[i].why);
    return error_set (err, EINVAL, "--cpu-bind: '%.40s' is not one of " NAMES, text);
}

/* Returns the length of "quiet" or "verbose" with its comma; 0: neither. */
static size_t read_voice (const char *text, bool *verbose)
{
    static const struct {
        const char *name;
        bool verbose;
    } voices[] = {
        { "quiet", false },
        { "q", false },
        { "verbose", true },
        { "v", true },
    };
    size_t len = strcspn (text, ",");

    for (size_t i = 0; i < ARRAY_SIZE (voices); i++)
        if (strlen (voices[i].name) == len && begins (text, voices[i].name)) {
            *verbose = voices[i].verbose;
            return len + (text[len] == ',');
        }
    return 0;
}

int cpubind_parse (const char *text, struct cpubind *ret, struct error *err)
{
    struct cpubind b = { .kind = CPUBIND_AUTO };
    size_t len = read_voice (text, &b.verbose);
    int rc = 0;

    if (len == 0 || text[len] || text[len - 1] == ',')
        rc = read_type (&b, text + len, err);
    if (rc < 0) {
        cpubind_release (&b);
        return rc;
    }
    *ret = b;
    return 0;
}

void cpubind_release (struct cpubind *bind)
{
    for (size_t i = 0; i < bind->n; i++)
        idset_destroy (bind->list[i].cores);
    free (bind->list);
    *bind = (struct cpubind){ 0 };
}

/* -- cores dealt to tasks -- */

/* The job's cores by socket. The free cores of socket s are index.tasks[next[s]] up to,
 * but without, index.tasks[index.first[s + 1]]: positions in ids. */
struct dealer {
    struct taskmap_index index;
    uint32_t *ids;  /* core numbers */
    uint32_t *next; /* [sockets] first free position of each */
    uint32_t turn;  /* the socket to start with */
};

static uint32_t socket_of (const struct cpubind_node *node, uint32_t core)
{
    uint32_t s = 0;

    while (s < node->nsockets && !idset_has (node->sockets[s], core))
        s++;
    return s; /* nsockets: the core is on no socket */
}

static void dealer_release (struct dealer *d)
{
    taskmap_index_release (&d->index);
    free (d->ids);
    free (d->next);
}

static int dealer_init (struct dealer *d, const struct cpubind_node *node)
{
    uint32_t n = idset_count (node->cores), i = 0, sockets = (uint32_t)node->nsockets + 1;
    autofree uint32_t *on = malloc (n * sizeof (*on));
    int rc = -ENOMEM;

    *d = (struct dealer){ .ids = malloc (n * sizeof (*d->ids)),
                          .next = malloc (sockets * sizeof (*d->next)) };
    if (on && d->ids && d->next) {
        IDSET_FOREACH (node->cores, core)
        {
            on[i] = socket_of (node, core);
            d->ids[i++] = core;
        }
        rc = taskmap_index (&d->index, on, n, sockets);
    }
    if (rc < 0)
        dealer_release (d);
    else
        memcpy (d->next, d->index.first, sockets * sizeof (*d->next));
    return rc;
}

/* Returns the first socket from `from` on, cyclically, with that many free cores; the
 * number of sockets: none. */
static uint32_t find_socket (const struct dealer *d, uint32_t from, uint32_t free_cores)
{
    uint32_t n = d->index.nranks;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t s = (from + i) % n;
        if (d->index.first[s + 1] - d->next[s] >= free_cores)
            return s;
    }
    return n;
}

/* Takes a free core of socket s. */
static uint32_t take_core (struct dealer *d, uint32_t s)
{
    return d->ids[d->index.tasks[d->next[s]++]];
}

/* Deals the next task's cores, into set unless it is NULL. There are enough cores. */
static int deal (struct dealer *d, uint32_t n, enum layout_order order, struct idset *set)
{
    uint32_t s = order == LAYOUT_ORDER_BLOCK ? 0 : d->turn;

    if (order == LAYOUT_ORDER_DEFAULT || order == LAYOUT_ORDER_CYCLIC) {
        uint32_t whole = find_socket (d, s, n);
        s = whole < d->index.nranks ? whole : find_socket (d, s, 1);
        d->turn = (s + 1) % d->index.nranks;
    }
    for (uint32_t i = 0; i < n; i++) {
        s = find_socket (d, s, 1);
        uint32_t core = take_core (d, s);
        if (set && idset_add (set, core) < 0)
            return -ENOMEM;
        if (order == LAYOUT_ORDER_FCYCLIC)
            s = d->turn = (s + 1) % d->index.nranks;
    }
    return 0;
}

static uint64_t cores_wanted (const struct cpubind_node *node)
{
    return (uint64_t)node->ntasks * MAX (node->cores_per_task, 1);
}

/* The cores of a task with CPUBIND_CORES. */
static int bind_cores (const struct cpubind_node *node, uint32_t local, struct idset *set)
{
    struct dealer d;
    int rc;

    if (cores_wanted (node) > idset_count (node->cores))
        return idset_add_all (set, node->cores);
    if ((rc = dealer_init (&d, node)) < 0)
        return rc;
    for (uint32_t task = 0; rc == 0 && task <= local; task++)
        rc = deal (&d, MAX (node->cores_per_task, 1), node->order,
                   task == local ? set : NULL);
    dealer_release (&d);
    return rc;
}

/* -- the other kinds -- */

static int bind_sockets (const struct cpubind_node *node, uint32_t local,
                         struct idset *set)
{
    autoidset struct idset *dealt = idset_create ();
    int rc = dealt ? bind_cores (node, local, dealt) : -ENOMEM;

    for (uint32_t core = idset_first (node->cores); rc == 0 && core != IDSET_END;
         core = idset_next (node->cores, core)) {
        uint32_t s = socket_of (node, core);
        bool shared = idset_has (dealt, core);
        for (uint32_t mine = idset_first (dealt); !shared && mine != IDSET_END;
             mine = idset_next (dealt, mine))
            shared = socket_of (node, mine) == s;
        rc = shared ? idset_add (set, core) : 0;
    }
    return rc;
}

static const struct idset *element_of (const struct cpubind *bind, uint32_t local)
{
    const struct cpubind_element *e = bind->list;

    for (local %= bind->total; local >= e->repeat; e++)
        local -= e->repeat;
    return e->cores;
}

static int bind_listed (const struct cpubind *bind, const struct cpubind_node *node,
                        uint32_t local, struct idset *set, struct error *err)
{
    const struct idset *want = element_of (bind, local);

    IDSET_FOREACH (want, core)
    {
        if (idset_has (node->cores, core))
            continue;
        autofree char *mine = idset_encode (node->cores);
        return error_set (err, EINVAL,
                          "--cpu-bind: core %u is not one of the job's on this node, %s",
                          core, mine ? mine : "");
    }
    return idset_add_all (set, want);
}

static int bind_task (const struct cpubind *bind, enum cpubind_kind kind,
                      const struct cpubind_node *node, uint32_t local, struct idset *set,
                      struct error *err)
{
    switch (kind) {
    case CPUBIND_SOCKETS:
        if (node->nsockets == 0)
            return error_set (err, EINVAL,
                              "--cpu-bind: the sockets of this node are not known; use "
                              "cores");
        return bind_sockets (node, local, set);
    case CPUBIND_RANK:
        return idset_add (set,
                          idset_nth (node->cores, local % idset_count (node->cores)));
    case CPUBIND_LIST:
        return bind_listed (bind, node, local, set, err);
    case CPUBIND_AUTO:
    case CPUBIND_NONE:
    case CPUBIND_CORES:
        break;
    }
    return bind_cores (node, local, set);
}

int cpubind_cores (const struct cpubind *bind, const struct cpubind_node *node,
                   uint32_t local, struct idset **ret, struct error *err)
{
    enum cpubind_kind kind = bind->kind;

    if (kind == CPUBIND_AUTO && cores_wanted (node) == idset_count (node->cores))
        kind = CPUBIND_CORES;
    *ret = NULL;
    if (kind == CPUBIND_AUTO || kind == CPUBIND_NONE || idset_count (node->cores) == 0)
        return 0;
    autoidset struct idset *set = idset_create ();
    int rc = set ? bind_task (bind, kind, node, local, set, err) : -ENOMEM;
    if (rc < 0)
        return rc == -ENOMEM ? error_no_memory (err, "--cpu-bind") : rc;
    *ret = set;
    set = NULL;
    return 0;
}
