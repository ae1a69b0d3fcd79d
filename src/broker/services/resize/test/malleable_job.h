/* malleable_job.h - the jobspec of a malleable job: 1 to 4 nodes of four cores */
#pragma once

#define MALLEABLE_JOB                                                                    \
    "{\"version\":1,\"resources\":[{\"type\":\"node\",\"count\":{\"min\":1,\"max\":4,"   \
    "\"operator\":\"+\",\"operand\":1},\"with\":[{\"type\":\"slot\",\"count\":1,"        \
    "\"label\":\"task\",\"with\":[{\"type\":\"core\",\"count\":4}]}]}],"                 \
    "\"tasks\":[{\"command\":[\"{{tmpdir}}/script\"],\"slot\":\"task\",\"count\":"       \
    "{\"per_slot\":1}}],\"attributes\":{\"system\":{\"duration\":6000,\"files\":"        \
    "{\"script\":{\"encoding\":\"utf-8\",\"mode\":33216,\"data\":\"#!/bin/sh\\n\"}},"    \
    "\"fluxq\":{\"malleable\":true}}}}"
