#!/usr/bin/env python3
"""crowd.py SOCKET N READY: opens N silent connections and keeps them while the file READY exists; makes
READY when all connections are open."""
import os
import socket
import sys
import time

path, count, ready = sys.argv[1], int(sys.argv[2]), sys.argv[3]
crowd = []
for _ in range(count):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    crowd.append(s)
open(ready, "w").close()
while os.path.exists(ready):
    time.sleep(0.05)
