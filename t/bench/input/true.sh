#!/bin/sh
# The script that t/bench submits: nothing to do.
true
