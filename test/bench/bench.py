#!/usr/bin/env python3
"""usage: bench.py WORK_FOLDER N…   (by test/bench/run, which prepares what these need)"""
import sys

import p10
import p11
import p12
import p8
import p9
from harness import Rows, say

work, *wanted = sys.argv[1:]
rows = Rows()
for number in wanted:
    say(f"P{number}")
    {"8": p8, "9": p9, "10": p10, "11": p11, "12": p12}[number].main(work, rows)
rows.table()
