// Quantities on the first line, then lines of {latex} or {name, value}: what the pages write to be pasted.
"use strict";
const { inSymbols, valueInLatex } = require("./assets.js")("engine", "units", "form", "derivation").derivation;
let quantities = null;
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const asked = JSON.parse(line);
  if (!quantities) { quantities = asked; process.stdout.write("null\n"); return; }
  process.stdout.write(JSON.stringify(asked.name ? valueInLatex(quantities[asked.name], asked.value) : inSymbols(asked.latex, quantities)) + "\n");
});
