#!/usr/bin/env python3
"""Draws throughput and latency against the number of clients from the JSON of `./dev bench`, and prints them as a table.

usage: plot_clients.py FIGURES.json OUT.svg
"""

import json
import math
import sys

COUNTS = (1, 8, 64, 512)
SERIES = {
    "launches_per_s": "launches/s, pipelined",
    "launch_p50_us": "round trip, median",
    "launch_p99_us": "round trip, 99 %",
}
WIDTH, HEIGHT = 760, 320
PLOT_WIDTH, PLOT_HEIGHT = 280, 210
TOP, LEFTS = 60, (70, 450)
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #333; }
  .title { font-size: 14px; font-weight: 600; }
  .grid { stroke: #bbb; stroke-width: 0.5; }
  .line { fill: none; stroke-width: 2; }
  .band { stroke-width: 1.5; }
  .a { stroke: #0b6bcb; } .a-fill { fill: #0b6bcb; }
  .b { stroke: #c2410c; } .b-fill { fill: #c2410c; }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd; }
    .grid { stroke: #555; }
    .a { stroke: #6cb2ff; } .a-fill { fill: #6cb2ff; }
    .b { stroke: #ff9d5c; } .b-fill { fill: #ff9d5c; }
  }
"""


def short(value: float) -> str:
    """12,000 as 12k: labels of an axis."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


class Panel:
    """One diagram: clients on a logarithmic x axis."""

    def __init__(self, left: int, title: str, ticks: list, logarithmic: bool) -> None:
        self.left = left
        self.ticks = ticks
        self.logarithmic = logarithmic
        self.parts = [f'<text class="title" x="{left}" y="{TOP - 34}">{title}</text>']
        for tick in ticks:
            y = self.y(tick)
            self.parts.append(f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{left + PLOT_WIDTH}" y2="{y:.1f}"/>')
            self.parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{short(tick)}</text>')
        for count in COUNTS:
            self.parts.append(f'<text x="{self.x(count):.1f}" y="{TOP + PLOT_HEIGHT + 20}" text-anchor="middle">{count}</text>')
        self.parts.append(f'<text x="{left + PLOT_WIDTH / 2}" y="{TOP + PLOT_HEIGHT + 40}" text-anchor="middle">clients</text>')

    def x(self, count: int) -> float:
        return self.left + 15 + (PLOT_WIDTH - 30) * math.log(count) / math.log(COUNTS[-1])

    def y(self, value: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        if self.logarithmic:
            part = math.log(max(value, low) / low) / math.log(high / low)
        else:
            part = (value - low) / (high - low)
        return TOP + PLOT_HEIGHT * (1 - part)

    def draw(self, kind: str, points: dict, label: str, row: int) -> None:
        """A line through the medians, and for each the range of its samples."""
        path = " ".join(f"{self.x(count):.1f},{self.y(point['median']):.1f}" for count, point in points.items())
        self.parts.append(f'<polyline class="line {kind}" points="{path}"/>')
        for count, point in points.items():
            x = self.x(count)
            self.parts.append(f'<line class="band {kind}" x1="{x:.1f}" y1="{self.y(point["min"]):.1f}" x2="{x:.1f}" '
                              f'y2="{self.y(point["max"]):.1f}"/>')
            self.parts.append(f'<circle class="{kind}-fill" cx="{x:.1f}" cy="{self.y(point["median"]):.1f}" r="3.5"/>')
        y = TOP - 12
        x = self.left + row * 140
        self.parts.append(f'<line class="line {kind}" x1="{x}" y1="{y - 4}" x2="{x + 18}" y2="{y - 4}"/>')
        self.parts.append(f'<text x="{x + 24}" y="{y}">{label}</text>')


def linear_ticks(most: float) -> list:
    step = 10 ** math.floor(math.log10(most))
    step = next(step * part for part in (0.2, 0.5, 1, 2) if most / (step * part) <= 6)
    return [step * i for i in range(math.ceil(most / step) + 1)]


def logarithmic_ticks(least: float, most: float) -> list:
    return [10.0 ** e for e in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)]


def main(arguments: list) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], encoding="utf-8") as file:
        figures = json.load(file)
    data = {}
    for name in SERIES:
        data[name] = {count: figures[f"rpc.{name}_{count}"] for count in COUNTS if f"rpc.{name}_{count}" in figures}
        if not data[name]:
            print(f"{arguments[0]} has no rpc.{name}_N: run ./dev bench rpc. --json {arguments[0]}", file=sys.stderr)
            return 1

    print("| clients | " + " | ".join(SERIES.values()) + " |")
    print("|---|---|---|---|")
    for count in COUNTS:
        cells = [f"{data[name][count]['median']:,.0f}" if count in data[name] else "-" for name in SERIES]
        print(f"| {count} | {cells[0]} | {cells[1]} us | {cells[2]} us |")

    throughput = data["launches_per_s"]
    left = Panel(LEFTS[0], "Launches per second, all clients together", linear_ticks(max(p["max"] for p in throughput.values())),
                 False)
    left.draw("a", throughput, SERIES["launches_per_s"], 0)
    round_trips = [point for name in ("launch_p50_us", "launch_p99_us") for point in data[name].values()]
    right = Panel(LEFTS[1], "Blocking launches: microseconds",
                  logarithmic_ticks(min(p["min"] for p in round_trips), max(p["max"] for p in round_trips)), True)
    right.draw("a", data["launch_p50_us"], SERIES["launch_p50_us"], 0)
    right.draw("b", data["launch_p99_us"], SERIES["launch_p99_us"], 1)
    with open(arguments[1], "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
                   'role="img" aria-label="Throughput and latency of launches against the number of clients">\n'
                   f"<style>{STYLE}</style>\n" + "\n".join(left.parts + right.parts) + "\n</svg>\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
