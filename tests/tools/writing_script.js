// Quantities on the first line, then lines of {tree} or {name, value}: how the pages write them to be pasted.
"use strict";
const path = require("node:path");
const writing = require(path.join(__dirname, "../../backsolve/site/assets/writing.js"));
let quantities = null;
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const asked = JSON.parse(line);
  if (!quantities) { quantities = asked; return; }
  const { tree, name, value } = asked, symbol = (one) => quantities[one].latex;
  process.stdout.write(JSON.stringify(name ? writing.valueInLatex(quantities[name], value) : { text: writing.written(tree, writing.PLAIN, (one) => one), latex: writing.written(tree, writing.LATEX, symbol) }) + "\n");
});
