"""What is on the shelves, from data/stock.csv."""

import argparse
import csv
import sys


def rows(path="data/stock.csv"):
    with open(path, encoding="utf-8", newline="") as stock:
        yield from csv.DictReader(stock)


def line(row):
    euros = int(row["cents"]) / 100
    return f"{row['department']:8} {row['name']:22} {euros:8.2f} shelf {row['shelf']:>2} left {row['left']:>3} {row['image']}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--department")
    parser.add_argument("--low", type=int, help="only what has fewer left")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    bad = 0
    for row in rows():
        if asked.department and row["department"] != asked.department:
            continue
        if asked.low is not None and int(row["left"]) >= asked.low:
            continue
        if asked.check and not row["image"].startswith("C:\\Shop\\images\\"):
            bad += 1
        print(line(row))
    if bad:
        print(f"{bad} images are not under C:\\Shop\\images", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
