// Lines of {row, show}, {row, read, unit} or {row, asked} in; what the forms of the pages print and read out.
"use strict";
const { form, engine: { rowOf } } = require("./assets.js")("engine", "units", "form");
backsolve.units = JSON.parse(process.argv[2]);
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { row, show, typed, read, asked, unit } = JSON.parse(line), place = unit ?? row.units.length - 1;
  const told = show !== undefined ? form.show(row, show) : typed !== undefined ? form.typedFor(rowOf(row), typed) : asked !== undefined ? form.readAsked(rowOf(row), asked) : form.read(row, read, place);
  process.stdout.write(JSON.stringify(told) + "\n");
});
