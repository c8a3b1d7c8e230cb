// The data of the desk on the first line, then lines of {chip, dtype, model, fields}: what each deployment comes to, and all that follows.
"use strict";
const { desk: { command, deployed, mostThatFits, pointOf, solvedFor }, engine: { chain }, form: { presetOf } } = require("./assets.js")("engine", "units", "form", "desk");
let desk = null;
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const asked = JSON.parse(line);
  if (!desk) { desk = asked; return; }
  const { defaults, givens, legs } = presetOf(desk, asked.chip, asked.dtype, asked.model), all = chain(legs, { ...defaults, ...asked.fields, ...givens });
  if (!asked.chip || !asked.model) { process.stdout.write(JSON.stringify({ all }) + "\n"); return; }
  const found = deployed(desk, asked), { values, binds, fits, unmet } = found, row = { low: 1, high: 1e6, whole: true };
  process.stdout.write(JSON.stringify({
    all, values, binds, fits, roof: pointOf(desk.roof, values), unmet: unmet.map((one) => one.said), most: mostThatFits(desk, asked, "batch"), typed: command(desk, asked, found, desk.quantities),
    batch: asked.wanted ? solvedFor(desk, asked, "batch", "step_time", asked.wanted, row) : null }) + "\n");
});
