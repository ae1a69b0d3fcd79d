/* Made by contrib/gen-table from the files that exist: see contrib/tables. */
#include "broker/core/service.h"

#include <stddef.h>

extern const struct broker_service service_admin;
extern const struct broker_service service_adopt;
extern const struct broker_service service_array;
extern const struct broker_service service_avoid;
extern const struct broker_service service_callers;
extern const struct broker_service service_cancel;
extern const struct broker_service service_correspond;
extern const struct broker_service service_deadline;
extern const struct broker_service service_depend;
extern const struct broker_service service_follow;
extern const struct broker_service service_history;
extern const struct broker_service service_history_list;
extern const struct broker_service service_job;
extern const struct broker_service service_job_dirs;
extern const struct broker_service service_jobuse;
extern const struct broker_service service_limit;
extern const struct broker_service service_list;
extern const struct broker_service service_malleable;
extern const struct broker_service service_node_list;
extern const struct broker_service service_nodegroups;
extern const struct broker_service service_nodes;
extern const struct broker_service service_pause;
extern const struct broker_service service_placing;
extern const struct broker_service service_plan;
extern const struct broker_service service_priority;
extern const struct broker_service service_queuenodes;
extern const struct broker_service service_queues;
extern const struct broker_service service_reasons;
extern const struct broker_service service_relay;
extern const struct broker_service service_reports;
extern const struct broker_service service_requeue;
extern const struct broker_service service_reservations;
extern const struct broker_service service_reserve;
extern const struct broker_service service_resize;
extern const struct broker_service service_retention;
extern const struct broker_service service_serialize;
extern const struct broker_service service_start;
extern const struct broker_service service_submit;
extern const struct broker_service service_submit_fresh;
extern const struct broker_service service_suspects;
extern const struct broker_service service_urgency;
extern const struct broker_service service_userlimits;
extern const struct broker_service service_userusage;
extern const struct broker_service service_watch;

const struct broker_service *const broker_services[] = {
    &service_admin,      &service_adopt,        &service_array,
    &service_avoid,      &service_callers,      &service_cancel,
    &service_correspond, &service_deadline,     &service_depend,
    &service_follow,     &service_history,      &service_history_list,
    &service_job,        &service_job_dirs,     &service_jobuse,
    &service_limit,      &service_list,         &service_malleable,
    &service_node_list,  &service_nodegroups,   &service_nodes,
    &service_pause,      &service_placing,      &service_plan,
    &service_priority,   &service_queuenodes,   &service_queues,
    &service_reasons,    &service_relay,        &service_reports,
    &service_requeue,    &service_reservations, &service_reserve,
    &service_resize,     &service_retention,    &service_serialize,
    &service_start,      &service_submit,       &service_submit_fresh,
    &service_suspects,   &service_urgency,      &service_userlimits,
    &service_userusage,  &service_watch,        NULL,
};
