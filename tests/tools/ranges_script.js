// Lines of {data, unknown, given, ranges} in; what the answer spans over the ranges, as the page of an equation has it.
"use strict";
const path = require("node:path");
const of = (name) => require(path.join(__dirname, "../../backsolve/site/assets", name));
const engine = of("solver.js"), ranges = of("ranges.js");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { data, unknown, given, ranges: spans } = JSON.parse(line), middle = { ...given, ...ranges.middleOf(spans) };
  const look = ranges.over((point) => engine.solve(data.equation, unknown, { ...middle, ...point }, data.quantities).answers, spans);
  const first = look.told();
  look.more(() => true);
  const { high, ...rest } = look.told();
  process.stdout.write(JSON.stringify({ ...rest, high: Number.isFinite(high) ? high : null, first: [first.low, first.high] }) + "\n");
});
