// The data of the desk on the first line, then lines of {chip, dtype, model, fields}: what each deployment comes to.
"use strict";
const path = require("node:path");
const { command, deployed, mostThatFits } = require(path.join(__dirname, "../../backsolve/site/assets/desk.js"));
const { pointOf } = require(path.join(__dirname, "../../backsolve/site/assets/roofline.js"));
let desk = null;
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const asked = JSON.parse(line);
  if (!desk) { desk = asked; return; }
  const found = deployed(desk, asked), { values, binds, fits, unmet } = found;
  const roof = pointOf(desk.roof, values);
  process.stdout.write(JSON.stringify({ values, roof, binds, fits, unmet: unmet.map((one) => one.said), most: mostThatFits(desk, asked, "batch"), typed: command(desk, asked, found, desk.quantities) }) + "\n");
});
