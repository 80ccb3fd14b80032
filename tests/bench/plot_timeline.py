#!/usr/bin/env python3
"""Draws the timeline of a task graph, as `ttfdctl graph trace` writes it: a row for each worker, a bar for each task, the counters.

usage: plot_timeline.py TRACE.json OUT.svg
"""

from __future__ import annotations

import collections
import html
import json
import sys

WIDTH, LEFT, RIGHT = 760, 130, 40
ROW, COUNTER = 11, 36
STYLE = """
  text { font: 11px system-ui, sans-serif; fill: #333; }
  .title { font-size: 13px; font-weight: 600; }
  .grid { stroke: #bbb; stroke-width: 0.5; }
  .edge { stroke: #555; stroke-width: 0.6; opacity: 0.5; }
  .line { fill: none; stroke: #555; stroke-width: 1; }
  .f0 { fill: #0b6bcb; } .f1 { fill: #c2410c; } .f2 { fill: #2e7d32; } .f3 { fill: #7b3fb5; } .f4 { fill: #9a7b00; } .f5 { fill: #00838f; }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd; }
    .grid { stroke: #555; } .edge, .line { stroke: #bbb; }
    .f0 { fill: #6cb2ff; } .f1 { fill: #ff9d5c; } .f2 { fill: #7fd486; } .f3 { fill: #c79bff; } .f4 { fill: #e0c04d; } .f5 { fill: #5fd3df; }
  }
"""


class Picture:
    """The picture, from top to bottom."""

    def __init__(self, events: list[dict]) -> None:
        self.slices = [event for event in events if event["ph"] == "X"]
        self.end = max(one["ts"] + one["dur"] for one in self.slices)
        functions = list(dict.fromkeys(one["name"] for one in self.slices))
        self.color = {name: f"f{i % 6}" for i, name in enumerate(functions)}
        self.names = {(event["pid"], event.get("tid", 0)): event["args"]["name"] for event in events if event["ph"] == "M" and "name" in event["args"]}
        self.counters: dict[tuple[int, str], list[tuple[float, int]]] = collections.defaultdict(list)
        self.arrows: dict[int, list[dict]] = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "C":
                self.counters[event["pid"], event["name"]].append((event["ts"], *event["args"].values()))
            elif event["ph"] in "sf":
                self.arrows[event["id"]].append(event)
        self.parts: list[str] = []
        self.rows: dict[tuple[int, int], float] = {}
        self.y = 10.0

    def x(self, time: float) -> float:
        return LEFT + time / self.end * (WIDTH - LEFT - RIGHT)

    def text(self, x: float, y: float, text: str, more: str = "") -> None:
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {more}>{html.escape(text)}</text>')

    def draw_class(self, process: int) -> None:
        self.y += 14
        self.text(10, self.y, self.names[process, 0], 'class="title"')
        self.y += 6
        for key in sorted(key for key in self.names if key[0] == process and key[1] != 0):
            self.rows[key] = self.y
            self.text(LEFT - 6, self.y + ROW - 2, self.names[key], 'text-anchor="end"')
            self.y += ROW
        for one in self.slices:
            if one["pid"] == process:
                left, right = self.x(one["ts"]), self.x(one["ts"] + one["dur"])
                self.parts.append(f'<rect class="{self.color[one["name"]]}" x="{left:.2f}" y="{self.rows[process, one["tid"]] + 1:.1f}" '
                                  f'width="{max(0.5, right - left):.2f}" height="{ROW - 2}"/>')
        for name in ("ready", "idle"):
            self.draw_counter(name, self.counters[process, name])

    def draw_counter(self, name: str, values: list[tuple[float, int]]) -> None:
        self.y += 6
        most = max((value for _, value in values), default=1) or 1
        bottom = self.y + COUNTER - 8
        self.text(LEFT - 6, bottom - 8, f"{name}, up to {most}", 'text-anchor="end"')
        points, last = [], bottom
        for time, value in [*values, (self.end, values[-1][1])]:
            height = bottom - value / most * (COUNTER - 10)
            points += [f"{self.x(time):.1f},{last:.1f}", f"{self.x(time):.1f},{height:.1f}"]
            last = height
        self.parts.append(f'<polyline class="line" points="{" ".join(points)}"/>')
        self.y += COUNTER - 6

    def draw_edges(self) -> None:
        for begin, end in self.arrows.values():
            ends = [(self.x(one["ts"]), self.rows[one["pid"], one["tid"]] + ROW / 2) for one in (begin, end)]
            self.parts.append('<line class="edge" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>'.format(*ends[0], *ends[1]))

    def draw_axis(self) -> None:
        self.y += 6
        self.parts.append(f'<line class="grid" x1="{LEFT}" y1="{self.y:.1f}" x2="{WIDTH - RIGHT}" y2="{self.y:.1f}"/>')
        for quarter in range(5):
            self.text(self.x(self.end * quarter / 4), self.y + 14, f"{self.end * quarter / 4:.1f} us", 'text-anchor="middle"')
        self.y += 32
        for i, (name, color) in enumerate(self.color.items()):
            x = 20 + 120 * (i % 6)
            self.y += 16 if i != 0 and i % 6 == 0 else 0
            self.parts.append(f'<rect class="{color}" x="{x}" y="{self.y - 9:.1f}" width="10" height="10"/>')
            self.text(x + 15, self.y, name)
        self.y += 10

    def svg(self) -> str:
        for process in sorted({key[0] for key in self.names}):
            self.draw_class(process)
        self.draw_edges()
        self.draw_axis()
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.y:.0f}" viewBox="0 0 {WIDTH} {self.y:.0f}" role="img" '
                f'aria-label="Timeline of a task graph">\n<style>{STYLE}</style>\n' + "\n".join(self.parts) + "\n</svg>\n")


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__.splitlines()[-1])
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    with open(target, "w", encoding="utf-8") as file:
        file.write(Picture(events).svg())


if __name__ == "__main__":
    main()
