// Lines of {row, show}, {row, read, unit} or {row, span, unit} in; what the forms of the pages print and read out.
"use strict";
const path = require("node:path");
globalThis.backsolve = { units: JSON.parse(process.argv[2]) };
const form = require(path.join(__dirname, "../../backsolve/site/assets/form.js"));
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { row, show, read, span, unit } = JSON.parse(line), place = unit ?? row.units.length - 1;
  process.stdout.write(JSON.stringify(show !== undefined ? form.show(row, show) : span === undefined ? form.read(row, read, place) : form.readSpan(row, span, place)) + "\n");
});
