// Lines of {data, unknown, given} in, lines of answers out: the engine of the pages run by node.
"use strict";
const { engine } = require("./assets.js")("engine");
let data = null;
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const asked = JSON.parse(line);
  if (asked.data) { data = asked.data; return; }
  const { answers } = engine.solve(data.equation, asked.unknown, asked.given, data.quantities);
  const told = answers.map(({ kind, value, low, high, form, regime, elasticities, bound }) => (
    { kind, value, bound: bound || null, low, high: Number.isFinite(high) ? high : null, searched: form === null, regime: regime ? regime.label : null, elasticities }));
  process.stdout.write(JSON.stringify(told) + "\n");
});
