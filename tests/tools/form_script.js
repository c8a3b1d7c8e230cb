// Lines of {row, show} or {row, read, unit} in; what the forms of the pages print and read out.
"use strict";
const path = require("node:path");
const form = require(path.join(__dirname, "../../backsolve/site/assets/form.js"));
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { row, show, read, unit } = JSON.parse(line);
  process.stdout.write(JSON.stringify(show === undefined ? form.read(row, read, unit ?? row.units.length - 1) : form.show(row, show)) + "\n");
});
