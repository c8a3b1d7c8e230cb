// Chips and models on the first line, then lines of {equation, unknown, values, chosen, beside}: what they say of the equation.
"use strict";
const path = require("node:path");
const leads = require(path.join(__dirname, "../../backsolve/site/assets/leads.js"));
let presets = null;
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const asked = JSON.parse(line);
  if (!presets) { presets = asked; return; }
  const { found, values, rests, legs, unmet } = leads.lead(presets, asked.chosen, asked.equation, asked.unknown, asked.values, asked.beside);
  const sought = [...leads.sought(presets, asked.equation)];
  process.stdout.write(JSON.stringify({ found, values, rests, legs: legs.map(({ id }) => id), unmet: unmet.map(({ said }) => said), sought }) + "\n");
});
