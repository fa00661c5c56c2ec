"""usage: load_yaml.py FOLDER|FILE   Loads every YAML document with PyYAML's C loader and prints their number."""
import glob
import os
import sys

import yaml

path = sys.argv[1]
count = 0
for name in sorted(glob.glob(os.path.join(path, "*.yaml"))) if os.path.isdir(path) else [path]:
    with open(name, "rb") as f:
        for _ in yaml.load_all(f, Loader=yaml.CSafeLoader):
            count += 1
print(count)
